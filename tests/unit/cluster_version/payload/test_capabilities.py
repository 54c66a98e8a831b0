"""The optional parts of a cluster."""

from itertools import pairwise

import pytest

from cluster_version.names import CAPABILITY
from cluster_version.payload.capabilities import (
    SETS,
    ClusterCapabilities,
    cluster_capabilities,
    implicit_after,
)
from cluster_version.payload.manifests import Manifest


def test_baselines_grow() -> None:
    named = [SETS[name] for name in SETS if name.startswith("v")]
    assert all({*before} <= {*after} for before, after in pairwise(named))


def test_what_was_enabled_stays_enabled_implicitly() -> None:
    spec = {"baselineCapabilitySet": "None", "additionalEnabledCapabilities": ["Console"]}
    found = cluster_capabilities(spec, ["Console", "Storage"], ())
    assert found.enabled == {"Console", "Storage"}
    assert found.implicit == {"Storage"}


@pytest.mark.parametrize(
    ("gates", "known"),
    [
        ((), set()),
        (("CRDCompatibilityRequirementOperator",), {"CompatibilityRequirements"}),
        (("ClusterAPIMachineManagement",), {"ClusterAPI", "CompatibilityRequirements"}),
    ],
)
def test_some_are_there_with_a_feature_gate_only(gates: tuple[str, ...], known: set[str]) -> None:
    found = cluster_capabilities(None, ["ClusterAPI"], gates)
    assert found.known & {"ClusterAPI", "CompatibilityRequirements"} == known
    assert found.enabled == found.known
    assert not found.implicit


def _in(capability: str, name: str = "x") -> Manifest:
    annotations = {"some": "thing"} | ({CAPABILITY: capability} if capability else {})
    meta = {"name": name, "namespace": "ns", "annotations": annotations}
    return Manifest("", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})


@pytest.mark.parametrize(
    ("before", "after", "implicit"),
    [
        ("", "Storage", {"Storage"}),
        ("", "Unheard", {"Unheard"}),
        ("Console", "Console+Storage", {"Storage"}),
        ("", "Console", set()),
        ("Storage", "Storage", set()),
    ],
)
def test_an_object_that_moves_into_a_disabled_capability_enables_it(
    before: str, after: str, implicit: set[str]
) -> None:
    has = ClusterCapabilities(
        frozenset({"Console", "Storage"}), frozenset({"Console"}), frozenset()
    )
    assert implicit_after(has, [_in(before)], [_in(after)]) == implicit
    assert implicit_after(has, [_in(before, "other")], [_in(after)]) == set()
