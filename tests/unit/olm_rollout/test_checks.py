"""What must hold of a revision's content."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.checks import SERVER_OWNED, check_phases
from olm_rollout.phases import Phase
from olm_runtime.errors import TerminalError


def obj(name: str = "x", **metadata: Any) -> KubeObject:
    meta = {"name": name, "namespace": "ns", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def faults(*phases: Phase) -> list[str]:
    try:
        check_phases(phases)
    except TerminalError as error:
        first, *rest = error.message.split("\n")
        assert first == "revision validation error:"
        return rest
    return []


def test_good_content_passes() -> None:
    elsewhere = obj(namespace="other")
    other_kind = {**obj(), "kind": "Secret"}
    assert faults(Phase("a", (obj(), elsewhere)), Phase("b", (other_kind, obj("y")))) == []


@pytest.mark.parametrize("name", SERVER_OWNED)
def test_metadata_that_is_not_the_users_to_set(name: str) -> None:
    expected = f'phase "a": ConfigMap ns/x: metadata.{name} must not be set'
    assert faults(Phase("a", (obj(**{name: "1"}),))) == [expected]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        pytest.param(
            {"kind": "ConfigMap", "metadata": {"name": "x"}},
            'phase "a": ConfigMap x: apiVersion is missing',
            id="no version",
        ),
        pytest.param(
            {"apiVersion": "v1", "metadata": {"name": "x"}},
            'phase "a":  x: kind is missing',
            id="no kind",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "ConfigMap"},
            'phase "a": object 0: metadata.name is missing',
            id="no name",
        ),
    ],
)
def test_what_is_missing(wrong: KubeObject, expected: str) -> None:
    assert faults(Phase("a", (wrong,))) == [expected]


def test_an_object_may_be_there_once_in_any_version() -> None:
    newer = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "x"}}
    older = {**newer, "apiVersion": "policy/v1beta1"}
    assert faults(Phase("a", (newer,)), Phase("b", (older,))) == [
        'phase "b": PodDisruptionBudget x: is in phase "a" already'
    ]
    assert faults(Phase("a", (obj(), obj()))) == [
        'phase "a": ConfigMap ns/x: is in phase "a" already'
    ]


def test_all_faults_are_reported_in_the_order_of_the_phases() -> None:
    found = faults(
        Phase("a", (obj(uid="u", finalizers=["f"]),)), Phase("b", (obj(), obj("y", uid="u")))
    )
    assert found == [
        'phase "a": ConfigMap ns/x: metadata.uid must not be set',
        'phase "a": ConfigMap ns/x: metadata.finalizers must not be set',
        'phase "b": ConfigMap ns/x: is in phase "a" already',
        'phase "b": ConfigMap ns/y: metadata.uid must not be set',
    ]
