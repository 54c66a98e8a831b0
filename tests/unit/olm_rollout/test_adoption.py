"""The single-owner promise: every situation with every policy."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.adoption import (
    Action,
    Policy,
    Situation,
    action_for,
    is_inherited,
    outruns,
    refusal,
    situation_of,
)
from olm_rollout.ownership import demoted_controller
from tests.unit.olm_rollout.values import APPLIER, ELSEWHERE, GROUP, KIND, owner

OWNER = owner(revision=2, newer=frozenset({3}), namespace="home", former=frozenset({"uid-set"}))

TABLE: dict[Situation, tuple[Action, Action, Action]] = {
    # Prevent, IfNoController, None
    Situation.ABSENT: (Action.CREATE, Action.CREATE, Action.CREATE),
    Situation.OURS: (Action.APPLY, Action.APPLY, Action.APPLY),
    Situation.OURS_OLDER: (Action.APPLY, Action.APPLY, Action.APPLY),
    Situation.OURS_NEWER: (Action.SKIP, Action.SKIP, Action.SKIP),
    Situation.ORPHANED: (Action.APPLY, Action.APPLY, Action.APPLY),
    Situation.LEFTOVER: (Action.WAIT, Action.WAIT, Action.WAIT),
    Situation.OTHER_OWNER: (Action.REFUSE, Action.REFUSE, Action.REFUSE),
    Situation.ELSEWHERE: (Action.REFUSE, Action.REFUSE, Action.REFUSE),
    Situation.OTHER_CONTROLLER: (Action.REFUSE, Action.REFUSE, Action.APPLY),
    Situation.HELM: (Action.REFUSE, Action.REFUSE, Action.APPLY),
    Situation.FOREIGN: (Action.REFUSE, Action.APPLY, Action.APPLY),
}


def test_the_table_here_has_every_situation() -> None:
    assert set(TABLE) == set(Situation)


@pytest.mark.parametrize("situation", Situation)
@pytest.mark.parametrize(("column", "policy"), list(enumerate(Policy)))
def test_what_is_done(situation: Situation, column: int, policy: Policy) -> None:
    assert action_for(situation, policy) is TABLE[situation][column]


def reference(name: str, *, uid: str = "uid-other", **extra: Any) -> dict[str, Any]:
    kind, api_version = extra.pop("kind", KIND), extra.pop("api", f"{GROUP}/v1")
    ref = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}
    return {**ref, **extra}


def live(
    *references: dict[str, Any],
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    namespace: str = "ns",
    written_by: str = "kubectl",
    operation: str = "Apply",
    subresource: str = "",
) -> KubeObject:
    meta: dict[str, Any] = {"name": "x", "labels": labels, "annotations": annotations}
    meta["managedFields"] = [
        {"manager": written_by, "operation": operation, "subresource": subresource}
    ]
    if namespace:
        meta["namespace"] = namespace
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {**meta, "ownerReferences": list(references)},
    }


def ours(revision: str | None) -> KubeObject:
    notes = None if revision is None else {f"{GROUP}/revision": revision}
    return live(reference("mine", uid="uid-mine"), annotations=notes)


LABELS = {f"{GROUP}/owner-kind": KIND, f"{GROUP}/owner-name": "mine"}
HELM = {"meta.helm.sh/release-name": "chart"}
OTHERS = {ELSEWHERE: "somebody"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(ours("9"), True, id="newer than all that are known"),
        pytest.param(ours("3"), False, id="a newer one that is known"),
        pytest.param(ours("2"), False, id="its own"),
        pytest.param(ours(None), False, id="it lost its annotation"),
        pytest.param(
            live(reference("theirs"), annotations={f"{GROUP}/revision": "9"}),
            False,
            id="another extension's revision",
        ),
    ],
)
def test_an_object_that_asks_for_another_look_at_the_revisions(
    found: KubeObject, expected: bool
) -> None:
    assert outruns(found, OWNER) is expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(None, Situation.ABSENT, id="nothing is there"),
        pytest.param(ours("2"), Situation.OURS, id="this very revision applied it"),
        pytest.param(ours("1"), Situation.OURS_OLDER, id="an older revision applied it"),
        pytest.param(ours(None), Situation.OURS_OLDER, id="it lost its annotation"),
        pytest.param(ours("x"), Situation.OURS_OLDER, id="its annotation is no number"),
        pytest.param(ours("3"), Situation.OURS_NEWER, id="a revision in service that is newer"),
        pytest.param(ours("9"), Situation.OURS_OLDER, id="a newer revision that is no more"),
        pytest.param(
            live(labels=LABELS, written_by=GROUP),
            Situation.ORPHANED,
            id="our labels, applied by us, nobody's object",
        ),
        pytest.param(
            live(labels=LABELS, written_by=GROUP, operation="Update"),
            Situation.ORPHANED,
            id="our labels, created by us, nobody's object",
        ),
        pytest.param(live(labels=LABELS), Situation.FOREIGN, id="our labels, copied by somebody"),
        pytest.param(
            live(labels=LABELS, written_by=GROUP, subresource="status"),
            Situation.FOREIGN,
            id="our labels, of which we wrote a subresource only",
        ),
        pytest.param(
            live(labels={**LABELS, f"{GROUP}/owner-name": "theirs"}, written_by=GROUP),
            Situation.FOREIGN,
            id="another's labels, nobody's object",
        ),
        pytest.param(
            live(labels={**LABELS, f"{GROUP}/owner-kind": "ClusterObjectSet"}, written_by=GROUP),
            Situation.FOREIGN,
            id="labels of our name but another kind",
        ),
        pytest.param(
            live(reference("mine", uid="uid-before")),
            Situation.LEFTOVER,
            id="an owner of our name that was deleted",
        ),
        pytest.param(live(reference("theirs")), Situation.OTHER_OWNER, id="another extension's"),
        pytest.param(
            live(reference("mine", kind="ClusterObjectSet")),
            Situation.OTHER_OWNER,
            id="a ClusterObjectSet of our name",
        ),
        pytest.param(
            live(reference("mine-1", uid="uid-set", kind="ClusterObjectSet")),
            Situation.OURS_OLDER,
            id="a revision of ours, as upstream leaves it",
        ),
        pytest.param(
            live(
                reference("mine-3", uid="uid-set", kind="ClusterObjectSet"),
                annotations={f"{GROUP}/revision": "3"},
            ),
            Situation.OURS_NEWER,
            id="a newer revision of ours, as upstream leaves it",
        ),
        pytest.param(
            live(reference("rs", kind="ReplicaSet", api="apps/v1")),
            Situation.OTHER_CONTROLLER,
            id="a controller of Kubernetes",
        ),
        pytest.param(
            live(reference("rs", kind="ReplicaSet", api="apps/v1", controller=False)),
            Situation.FOREIGN,
            id="an owner that does not control it",
        ),
        pytest.param(live(labels=OTHERS), Situation.ELSEWHERE, id="another program's"),
        pytest.param(
            live(labels=LABELS | OTHERS, written_by=GROUP),
            Situation.ELSEWHERE,
            id="orphaned, then another program's",
        ),
        pytest.param(
            live(reference("rs", kind="ReplicaSet", api="apps/v1"), labels=OTHERS),
            Situation.ELSEWHERE,
            id="another program's with a controller",
        ),
        pytest.param(
            live(reference("theirs"), labels=OTHERS),
            Situation.OTHER_OWNER,
            id="another program's that another extension controls",
        ),
        pytest.param(live(annotations=HELM), Situation.HELM, id="a Helm release's"),
        pytest.param(
            live(annotations=HELM, labels=LABELS, written_by=GROUP),
            Situation.ORPHANED,
            id="Helm's before, then applied by us",
        ),
        pytest.param(
            live(annotations=HELM, labels=LABELS), Situation.HELM, id="Helm's, with our labels"
        ),
        pytest.param(live(), Situation.FOREIGN, id="somebody's"),
    ],
)
def test_the_name_of_the_situation(found: KubeObject | None, expected: Situation) -> None:
    assert situation_of(found, OWNER) is expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(ours(None), True, id="our extension's, of no revision: Helm's"),
        pytest.param(ours("2"), False, id="our extension's, of a revision"),
        pytest.param(live(reference("mine-1", uid="uid-set")), True, id="our revision's"),
        pytest.param(live(reference("theirs")), False, id="another extension's"),
        pytest.param(live(), False, id="nobody's"),
    ],
)
def test_what_upstream_applied_last(found: KubeObject, expected: bool) -> None:
    assert is_inherited(found, OWNER) is expected


@pytest.mark.parametrize(
    ("found", "message", "hint"),
    [
        pytest.param(
            live(reference("theirs")),
            "ConfigMap 'x' already exists in namespace 'ns' and cannot be managed by applier",
            "it belongs to App 'theirs'; an object has one owner",
            id="another extension's",
        ),
        pytest.param(
            live(namespace=""),
            "ConfigMap 'x' already exists in namespace 'home' and cannot be managed by applier",
            "it was made by somebody else; delete it if it is no longer needed",
            id="of a cluster-scoped object the extension's namespace is named",
        ),
        pytest.param(
            live(labels=OTHERS),
            "ConfigMap 'x' already exists in namespace 'ns' and cannot be managed by applier",
            "it is somebody's",
            id="another program's",
        ),
        pytest.param(
            live(annotations=HELM),
            "ConfigMap 'x' already exists in namespace 'ns' and cannot be managed by applier",
            "it belongs to the Helm release 'chart'",
            id="Helm's",
        ),
        pytest.param(
            live(reference("rs", kind="ReplicaSet", api="apps/v1")),
            "ConfigMap 'x' already exists in namespace 'ns' and cannot be managed by applier",
            "it is controlled by ReplicaSet 'rs'",
            id="a controller's",
        ),
    ],
)
def test_a_refusal_says_whose_it_is(found: KubeObject, message: str, hint: str) -> None:
    assert refusal(found, situation_of(found, OWNER), OWNER) == (message, hint)


def test_demoting_leaves_every_owner_and_no_controller() -> None:
    other = reference("b", uid="uid-b", controller=False)
    demoted = demoted_controller(live(reference("a"), other))
    assert [(r["name"], r["controller"]) for r in demoted] == [("a", False), ("b", False)]


@pytest.mark.parametrize(
    ("text", "expected"), [("7", 7), ("", 0), ("-1", 0), ("²", 0), ("1.5", 0), ("a", 0)]
)
def test_the_number_of_a_revision(text: str, expected: int) -> None:
    assert APPLIER.revision_of(live(annotations={f"{GROUP}/revision": text})) == expected
