"""Digests of phases: as Go would write them, and what is said when they change."""

import hashlib

import pytest

from api.objects import KubeObject
from olm_rollout.phases import Phase
from olm_runtime.errors import TerminalError
from operator_controller.apply.observed import check_unchanged, observed_phases


def config_map(value: object) -> KubeObject:
    return {"kind": "ConfigMap", "apiVersion": "v1", "data": {"a": value}}


def digest(json: str) -> str:
    return "sha256:" + hashlib.sha256(json.encode()).hexdigest()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("b", '"b"', id="text"),
        pytest.param("<b> & \u2028", r'"\u003cb\u003e \u0026 \u2028"', id="what HTML minds"),
        pytest.param(1.0, "1", id="a whole number with a fraction"),
        pytest.param(2.5, "2.5", id="a fraction"),
        pytest.param("é", '"é"', id="other letters"),
    ],
)
def test_the_digest_is_that_of_gos_json(value: object, written: str) -> None:
    json = (
        '{"name":"p","objects":[{"apiVersion":"v1","data":{"a":'
        + written
        + '},"kind":"ConfigMap"}]}'
    )
    phases = [Phase("p", (config_map(value),))]
    assert observed_phases(phases) == [{"name": "p", "digest": digest(json)}]


def phases(*values: str) -> list[Phase]:
    return [Phase(f"p{i}", (config_map(value),)) for i, value in enumerate(values)]


def test_what_was_never_seen_or_is_the_same_passes() -> None:
    now = observed_phases(phases("a", "b"))
    check_unchanged({}, now)
    check_unchanged({"observedPhases": now}, now)


def test_each_phase_that_changed_is_named() -> None:
    before, now = observed_phases(phases("a", "b", "c")), observed_phases(phases("x", "b", "y"))
    with pytest.raises(TerminalError) as error:
        check_unchanged({"observedPhases": before}, now)
    assert error.value.message == (
        "resolved content of 2 phase(s) has changed: "
        f'phase "p0" (expected digest {before[0]["digest"]}, got {now[0]["digest"]}); '
        f'phase "p2" (expected digest {before[2]["digest"]}, got {now[2]["digest"]}); '
        "a referenced object source may have been deleted and recreated with different content"
    )


def test_a_phase_that_is_missing_is_reported() -> None:
    before, now = observed_phases(phases("a", "b")), observed_phases(phases("a"))
    with pytest.raises(TerminalError, match="number of phases has changed"):
        check_unchanged({"observedPhases": before}, now)
