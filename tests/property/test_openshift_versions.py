"""Cluster updates: what the documents promise of olm.maxOpenShiftVersion, for any versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject
from olm_content.bundle.properties import MinorVersion, max_openshift_version, next_version
from operator_controller.status.cluster_updates import (
    Declaration,
    compatibility,
    current_version,
)

pytestmark = pytest.mark.property

minors = st.builds(MinorVersion, st.integers(4, 6), st.integers(0, 30))
suffixes = st.sampled_from(["", "-rc.1", "-ec.0", "-0.nightly-2025-01-02-030405", "+build"])
declared = st.lists(st.builds(Declaration, st.sampled_from("abc"), st.just("b"), minors))


def cluster(version: str) -> KubeObject:
    return {"status": {"desired": {"version": version}}}


@given(minors, st.integers(0, 99), suffixes)
def test_patch_and_prerelease_are_ignored(minor: MinorVersion, patch: int, suffix: str) -> None:
    """It ignores any z-stream versions (4.y.z), or pre-release versions."""
    assert current_version(cluster(f"{minor}.{patch}{suffix}")) == minor


@given(minors)
def test_a_version_is_read_as_it_is_written(minor: MinorVersion) -> None:
    for value in (f'"{minor}"', str(minor)):
        text = f'[{{"type":"olm.maxOpenShiftVersion","value":{value}}}]'
        assert max_openshift_version(text) == minor


@given(declared, minors)
def test_an_update_is_forbidden_if_and_only_if_one_forbids_it(
    found: list[Declaration], current: MinorVersion
) -> None:
    """Setting value to 4.18 prevents cluster updates to minor versions later than 4.18."""
    against = [d for d in found if d.latest is not None and d.latest < next_version(current)]
    verdict = compatibility(found, current)
    assert bool(verdict.reason) == bool(against)
    assert all(str(each) in verdict.message for each in against)
