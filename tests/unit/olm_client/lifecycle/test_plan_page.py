"""The page that `olm plan` prints: short whatever there is, with numbers for what is left out."""

from api.objects import GVK, ObjectKey
from olm_client.crds.report import Comparison
from olm_client.lifecycle.changes import Action, Change, FieldChange
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.plan import Plan, Rights
from olm_client.lifecycle.plan_page import page_lines
from olm_client.lifecycle.plan_text import plan_lines
from olm_content.crds import Finding, Validator
from olm_content.rights import NeededRule, Purpose
from olm_content.rights.least import Reason
from olm_content.rights.merge import MergedRule
from tests.unit.olm_client.lifecycle.test_plan import QUIET

SCREEN = 24


def shown(plan: Plan) -> list[str]:
    return [*page_lines(plan)]


def rows(lines: list[str]) -> int:
    return sum(max(1, -(-len(line) // 80)) for line in lines)


def text(lines: list[str]) -> str:
    return "\n".join(lines)


def rule(resource: str, purpose: Purpose, group: str = "") -> NeededRule:
    words = (frozenset(each) for each in ([resource], [], ["get"], []))
    resources, names, verbs, urls = words
    merged = MergedRule("", group, resources, names, verbs, urls)
    return NeededRule(merged, frozenset({Reason(purpose, "ClusterRole", "op")}))


def change(kind: str, name: str, action: Action, fields: int = 0) -> Change:
    changed = [FieldChange(f"spec.f{n}", 1, 2) for n in range(fields)]
    return Change(ObjectKey(GVK("", "v1", kind), "ns", name), action, changed)


def test_few_objects_are_named_many_are_counted() -> None:
    changes = [
        *(change("Role", f"r{n}", Action.CREATE) for n in range(7)),
        change("Deployment", "op", Action.CHANGE, 2),
        change("ClusterRole", "op.v1-" + "a1" * 20, Action.DELETE),
    ]
    assert shown(QUIET._replace(changes=changes, images_added=(), images_removed=()))[1:] == [
        "objects: 7 created, 1 changed, 1 deleted",
        "  + 7 Roles",
        "  ~ Deployment op (2 fields)",
        "  - ClusterRole op.v1-a1a1a1a…",
        "nothing stands in the way",
    ]


def test_rights_are_grouped_by_what_they_are_for() -> None:
    rights = Rights(
        added=[
            rule("pods", Purpose.HAND_OUT),
            rule("deployments", Purpose.MANAGE, "apps"),
            rule("secrets", Purpose.HAND_OUT),
        ],
        removed=[rule("jobs", Purpose.MANAGE, "batch")],
    )
    plan = QUIET._replace(rights=rights)
    assert [line for line in shown(plan) if "rule" in line or "rights" in line] == [
        "rights needed in addition:",
        "  + to manage its objects, 1 rule: deployments.apps",
        "  + to hand out to the operator, 2 rules: pods, secrets",
        "rights no longer needed:",
        "  - to manage its objects, 1 rule: jobs.batch",
    ]
    titles = [line for line in plan_lines(plan) if line.startswith("rights")]
    assert titles == [
        "rights needed in addition to manage its objects:",
        "rights needed in addition to hand out to the operator:",
        "rights no longer needed to manage its objects:",
    ]


def test_however_much_there_is_it_is_a_page() -> None:
    findings = tuple(
        Finding(f"crd{n}", Validator.FIELD_REMOVED, "may not be removed", "v1", "^.x")
        for n in range(40)
    )
    kinds = [f"Kind{n}" for n in range(30)]
    plan = QUIET._replace(
        spec=[FieldChange(f"spec.f{n}", 1, 2) for n in range(9)],
        changes=[
            change(kind, f"n{n}", action, 3)
            for kind in kinds
            for n in range(4)
            for action in (Action.CREATE, Action.CHANGE, Action.DELETE)
        ],
        definitions=Comparison(findings, [], [], []),
        rights=Rights(
            missing="pre-authorization failed:\n" + "\n".join(f"  rule {n}" for n in range(50)),
            added=[rule(f"r{n}", purpose) for n in range(50) for purpose in Purpose],
        ),
        images_added=[f"registry/i:{n}" for n in range(30)],
        faults=[Obstacle(f"fault {n}", hint="do this") for n in range(2)],
    )
    lines = shown(plan)
    assert len([*plan_lines(plan)]) > 400
    assert rows(lines) < SCREEN
    assert "in the way: fault 0" in lines
    assert "3 things more are in the way" in lines
    assert "rights needed in addition: 250 rules, 50 to own what is installed, " in text(lines)
    usual = QUIET._replace(rights=Rights(added=[rule(f"r{n}", Purpose.MANAGE) for n in range(50)]))
    assert len(shown(usual)) < SCREEN


def test_where_rights_are_missing_it_is_a_page_with_the_first_of_them_and_what_grants_them() -> (
    None
):
    missing = [f'  Namespace:"shop" APIGroups:[] Resources:[r{n}] Verbs:[get]' for n in range(12)]
    plan = QUIET._replace(
        spec=[FieldChange("spec.source.catalog.version", "0.1.x", "0.2.0")],
        changes=[
            change("ConfigMap", f"c{n}", action)
            for n in range(3)
            for action in (Action.CREATE, Action.CHANGE, Action.DELETE)
        ],
        rights=Rights(
            missing="\n".join(["pre-authorization failed: the following permissions", *missing]),
            added=[rule(f"a{n}", purpose) for n in range(3) for purpose in Purpose],
            removed=[rule(f"b{n}", purpose) for n in range(3) for purpose in Purpose],
        ),
    )
    lines = shown(plan)
    assert rows(lines) < SCREEN
    assert missing[0] in lines
    assert "  and 11 more" in lines
    assert any(line.startswith("  hint: grant them: olm upgrade") for line in lines)
