"""What a plan says stands in the way, and how it is printed."""

import click

from api.objects import GVK, ObjectKey
from olm_client.crds.report import Comparison
from olm_client.lifecycle.changes import Action, Change, FieldChange
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.plan import Plan, Rights
from olm_client.lifecycle.plan_text import plan_facts, plan_lines
from olm_content.crds import Finding, Validator
from operator_controller.apply.revisions import BundleIdentity


def key(name: str) -> ObjectKey:
    return ObjectKey(GVK("", "v1", "ConfigMap"), "ns", name)


def bundle(version: str) -> BundleIdentity:
    return BundleIdentity(f"p.v{version}", version, "p", f"registry/p:{version}")


CHANGES = (
    Change(key("new"), Action.CREATE),
    Change(key("other"), Action.CHANGE, [FieldChange("data.k", "1", "2")]),
    Change(key("same"), Action.UNCHANGED),
    Change(key("old"), Action.DELETE),
)
QUIET = Plan(
    extension="ext",
    package="p",
    new=False,
    namespace="ns",
    account="sa",
    installed=bundle("1.0.0"),
    bundle=bundle("2.0.0"),
    catalog="cat",
    changes=CHANGES,
    images_added=["new:1"],
    images_removed=["old:1"],
)
UNSAFE = Finding("things", Validator.FIELD_REMOVED, "may not be removed", "v1", "^.x")
COMPARED = Comparison((UNSAFE,), ["things"], [], [])


def test_what_goes_through() -> None:
    assert [*plan_lines(QUIET, click.style)][1:] == [
        "\x1b[32m+ ConfigMap ns/new\x1b[0m",
        "\x1b[33m~ ConfigMap ns/other\x1b[0m",
        '    data.k: "1" -> "2"',
        "\x1b[31m- ConfigMap ns/old\x1b[0m",
        "objects: 1 created, 1 changed, 1 deleted, 1 unchanged",
        "images:",
        "  \x1b[32m+\x1b[0m new:1",
        "  \x1b[31m-\x1b[0m old:1",
        "\x1b[32mnothing stands in the way\x1b[0m",
    ]
    reported = plan_facts(QUIET)
    assert reported["goesThrough"] is True
    assert [each["action"] for each in reported["objects"]] == [
        "create",
        "change",
        "unchanged",
        "delete",
    ]
    assert [reported[which]["version"] for which in ("installed", "bundle")] == ["1.0.0", "2.0.0"]


def test_what_operator_controller_would_stop_at_in_its_order() -> None:
    refused = Change(key("x"), Action.REFUSED, message="ConfigMap 'x' already exists", hint="whose")
    plain = Change(key("y"), Action.REFUSED, message="is invalid")
    plan = QUIET._replace(
        faults=[Obstacle("Namespace ns is not there")],
        rights=Rights(missing="pre-authorization failed: ..."),
        definitions=COMPARED,
        changes=[refused, plain],
    )
    found = plan.obstacles
    assert [each.message[:24] for each in found] == [
        "Namespace ns is not ther",
        "pre-authorization failed",
        "validating upgrade for C",
        "ConfigMap 'x' already ex",
        "ConfigMap ns/y: is inval",
    ]
    assert found[1].hint == (
        "grant them: olm upgrade ext --grant\n"
        "or olm rbac p --version 2.0.0 --update-from 1.0.0 --extension ext "
        "--install-namespace ns --service-account sa "
        "| kubectl apply --server-side --field-manager=olm -f -"
    )
    unserved = plan._replace(rights=Rights(missing="no matches for kind", grants_help=False))
    assert unserved.obstacles[1].hint.startswith("no permission helps: ")
    assert plan_facts(plan)["goesThrough"] is False


def test_unsafe_definitions_do_not_stop_who_switched_the_check_off() -> None:
    plan = QUIET._replace(definitions=COMPARED, crds_enforced=False)
    assert plan.obstacles == []
    assert "  which is not refused: spec.install.preflight.crdUpgradeSafety" in [*plan_lines(plan)]


def test_verdicts() -> None:
    same = QUIET._replace(bundle=bundle("1.0.0"), changes=CHANGES[2:3])
    first, *_, last = plan_lines(same)
    assert "p.v1.0.0 is installed, and stays" in first
    assert "nothing would change" in last
    none = QUIET._replace(bundle=None, changes=(), faults=[Obstacle("no bundles found")])
    first, *_, last = plan_lines(none)
    assert "no bundle can be chosen; p.v1.0.0 is installed" in first
    assert "operator-controller would not do it" in last
    fresh = QUIET._replace(installed=None)
    assert "p.v2.0.0 from catalog cat would be installed" in next(plan_lines(fresh))
