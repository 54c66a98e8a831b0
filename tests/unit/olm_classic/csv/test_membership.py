"""Which checks a ClusterServiceVersion passes before its phase is looked at, and in which order."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.csv.membership import (
    Leave,
    Mark,
    Member,
    Provide,
    Refuse,
    examine,
    has_unselected_group,
    pruned,
)


def group(
    name: str = "og",
    namespace: str = "ns",
    *,
    targets: list[str] | None = None,
    apis: str | None = None,
    static: bool = False,
) -> KubeObject:
    annotations = {} if apis is None else {"olm.providedAPIs": apis}
    return {
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"staticProvidedAPIs": True} if static else {},
        "status": {} if targets is None else {"namespaces": targets},
    }


def csv(targets: str | None = "", *, owns: bool = False, **spec: Any) -> KubeObject:
    owned = [{"name": "things.example.com", "version": "v1", "kind": "Thing"}] if owns else []
    annotations = {"olm.operatorGroup": "og", "olm.operatorNamespace": "ns"}
    if targets is not None:
        annotations["olm.targetNamespaces"] = targets
    made: KubeObject = {
        "metadata": {"name": "op.v1", "namespace": "ns", "annotations": annotations},
        "spec": {
            "customresourcedefinitions": {"owned": owned},
            "installModes": [{"type": "AllNamespaces", "supported": True}],
            **spec,
        },
    }
    if owns:
        first = examine(made, [])
        assert isinstance(first, Mark)
        made["metadata"]["labels"] = dict(first.labels or {})
    return made


def refusal(verdict: object) -> tuple[str, str]:
    assert isinstance(verdict, Refuse)
    assert verdict.change.phase == "Failed"
    return verdict.change.reason, verdict.change.message


THING = "Thing.v1.example.com"
EVERYWHERE = group(targets=[""])


def test_a_definition_without_a_group_in_its_name_is_left() -> None:
    owned = {"owned": [{"name": "things", "version": "v1", "kind": "Thing"}]}
    assert examine(csv(customresourcedefinitions=owned), [EVERYWHERE]) == Leave()


def test_it_is_labelled_with_what_it_provides_before_anything_else() -> None:
    bare = csv(owns=True)
    bare["metadata"]["labels"] = {}
    verdict = examine(bare, [])
    assert isinstance(verdict, Mark)
    assert verdict.labels is not None
    [(key, value)] = verdict.labels.items()
    assert key.startswith("olm.api.")
    assert value == "provided"


@pytest.mark.parametrize(
    ("groups", "reason", "message"),
    [
        ([], "NoOperatorGroup", "csv in namespace with no operatorgroups"),
        (
            [EVERYWHERE, group("two")],
            "TooManyOperatorGroups",
            "csv created in namespace with multiple operatorgroups, can't pick one automatically",
        ),
    ],
)
def test_it_needs_one_group(groups: list[KubeObject], reason: str, message: str) -> None:
    assert refusal(examine(csv(), groups)) == (reason, message)


def test_it_is_annotated_with_its_group_and_with_targets_once_they_are_known() -> None:
    bare = csv()
    bare["metadata"]["annotations"] = {}
    own = {"olm.operatorGroup": "og", "olm.operatorNamespace": "ns"}
    assert examine(bare, [group()]) == Mark(annotations=own)
    targets = {**own, "olm.targetNamespaces": "a,b"}
    assert examine(bare, [group(targets=["b", "a"])]) == Mark(annotations=targets)
    assert (
        refusal(examine(csv(None), [group()]))[1] == "csv missing olm.targetNamespaces annotation"
    )


def test_where_its_group_selects_nothing_it_works_nowhere() -> None:
    nothing = group(targets=[])
    for targets in ("", "a,b"):
        mark = examine(csv(targets), [nothing])
        assert isinstance(mark, Mark)
        assert mark.annotations is not None
        assert mark.annotations["olm.targetNamespaces"] is None, "an empty text is everywhere"
    problem = "no targetNamespaces are matched operatorgroups namespace selection"
    assert refusal(examine(csv(None), [nothing])) == ("NoTargetNamespaces", problem)


def test_its_install_modes_are_a_set_that_fits_the_targets() -> None:
    twice = [{"type": "OwnNamespace", "supported": True}] * 2
    reason, message = refusal(examine(csv(installModes=twice), [EVERYWHERE]))
    assert reason == "InvalidInstallModes"
    assert message.endswith("cannot make set: [{OwnNamespace true} {OwnNamespace true}]")
    reason, message = refusal(examine(csv(installModes=[]), [EVERYWHERE]))
    assert reason == "UnsupportedOperatorGroup"
    assert message.startswith("AllNamespaces InstallModeType not supported")


def test_its_apis_are_added_to_those_of_its_group() -> None:
    assert examine(csv(owns=True), [EVERYWHERE]) == Provide("og", THING)
    provided = group(targets=[""], apis=THING)
    assert examine(csv(owns=True), [provided], [provided]) == Member(provided, ("",))
    assert examine(csv(), [EVERYWHERE]) == Member(EVERYWHERE, ("",))


def test_a_group_that_provides_what_it_does_elsewhere_ends_its_deployments() -> None:
    other = group("other", "elsewhere", targets=["x"], apis=THING)
    mine = csv(owns=True)
    verdict = examine(mine, [EVERYWHERE], [EVERYWHERE, other])
    assert refusal(verdict)[0] == "InterOperatorGroupOwnerConflict"
    assert isinstance(verdict, Refuse)
    assert verdict.ends_deployments
    fixed = group(targets=[""], static=True)
    assert refusal(examine(mine, [fixed]))[0] == "CannotModifyStaticOperatorGroupProvidedAPIs"
    mine["status"] = {"reason": "InterOperatorGroupOwnerConflict"}
    assert refusal(examine(mine, [fixed]))[0] == "InterOperatorGroupOwnerConflict"


def test_the_namespaces_of_a_new_group_are_waited_for_ten_seconds() -> None:
    made = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
    new, selected = group(), group(targets=[])
    for each in (new, selected):
        each["metadata"]["creationTimestamp"] = "2026-11-29T12:00:00Z"
    assert has_unselected_group([selected, new], made + timedelta(seconds=9))
    assert not has_unselected_group([selected, new], made + timedelta(seconds=11))
    assert not has_unselected_group([selected], made)


def test_apis_that_nobody_provides_any_more_go_from_the_annotation() -> None:
    annotation = f"Other.v1.example.com,{THING}"
    member = csv(owns=True)
    assert pruned(annotation, [{**member, "status": {"phase": "Succeeded"}}]) == THING
    assert pruned(annotation, []) == ""
    assert pruned("Other.v1.example.com", [member]) is None, "it has just come"
    assert pruned("Other.v1.example.com", [{**member, "status": {"phase": "Failed"}}]) == ""
    gave_way = {"phase": "Failed", "reason": "InterOperatorGroupOwnerConflict"}
    refused = {**member, "status": gave_way}
    assert pruned(THING, [refused]) == THING, "it comes back"
    owned = member["spec"]["customresourcedefinitions"]["owned"]
    more = [*owned, {"name": "others.example.com", "version": "v1", "kind": "Other"}]
    refused["spec"] = {**member["spec"], "customresourcedefinitions": {"owned": more}}
    assert pruned(THING, [refused]) == ""
