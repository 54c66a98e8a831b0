"""What conditions report of rounds over a release."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cluster_version.errors import Effect, Plural, UpdateError
from cluster_version.status.rounds import Rounds, condition_states
from olm_runtime.errors import OLMError, TransientError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BASE = Rounds(version="2.0.0", done=1, total=3)


def waiting(*names: str, effect: Effect = Effect.NONE) -> list[OLMError]:
    plural = Plural("ClusterOperatorsUpdating", "Cluster operators %s are updating versions")
    return [
        UpdateError(
            f"Cluster operator {name} is updating versions",
            reason="ClusterOperatorUpdating",
            effect=effect,
            names=[name],
            plural=plural,
        )
        for name in names
    ]


def since(**minutes: float) -> Mapping[str, datetime]:
    return {name.replace("_", "-"): NOW - timedelta(minutes=each) for name, each in minutes.items()}


def lines_of(rounds: Rounds) -> list[str]:
    """Failing and Progressing as `status reason: message`."""
    found = condition_states(rounds, NOW, "InvalidClusterVersion" if rounds.is_invalid else "")
    return [f"{each.status} {each.reason}: {each.message}" for each in found]


@pytest.mark.parametrize(
    ("rounds", "progressing"),
    [
        (BASE, "True : Working towards 2.0.0: 1 of 3 done (33% complete)"),
        (replace(BASE, done=0), "True : Working towards 2.0.0"),
        (replace(BASE, total=0, done=0), "True : Working towards 2.0.0"),
        (replace(BASE, reconciling=True), "False : Cluster version is 2.0.0"),
        (
            replace(BASE, is_invalid=True),
            "True InvalidClusterVersion: Reconciling 2.0.0: the cluster version is invalid",
        ),
        (
            replace(BASE, is_invalid=True, reconciling=True),
            "False InvalidClusterVersion: Stopped at 2.0.0: the cluster version is invalid",
        ),
        (
            replace(BASE, done=0, errors=waiting("b", "a")),
            "True ClusterOperatorsUpdating: Working towards 2.0.0: waiting on a, b",
        ),
    ],
)
def test_what_goes_on_is_no_failure(rounds: Rounds, progressing: str) -> None:
    assert lines_of(rounds) == ["False : ", progressing]


@pytest.mark.parametrize(
    ("names", "begun", "text"),
    [
        (["a"], since(a=31), "a over 30 minutes"),
        (["a", "b"], since(a=31, b=29), "a over 30 minutes"),
        (["machine-config"], since(machine_config=91), "machine-config over 90 minutes"),
        (
            ["a", "machine-config"],
            since(a=31, machine_config=91),
            "a over 30 minutes and machine-config over 90 minutes",
        ),
    ],
)
def test_what_takes_long_is_suspicious(
    names: list[str], begun: Mapping[str, datetime], text: str
) -> None:
    failing, progressing = lines_of(replace(BASE, errors=waiting(*names), begun=begun))
    slow = f"waiting on {text} which is longer than expected"
    assert failing == f"Unknown SlowClusterOperator: {slow}"
    assert progressing.endswith(f"(33% complete), {slow}")


def test_a_degraded_component_has_some_time() -> None:
    errors = waiting("a", "b", effect=Effect.FAIL_AFTER_INTERVAL)
    patient = replace(BASE, errors=errors, begun=since(a=39, b=1))
    failing, progressing = lines_of(patient)
    assert failing == "False : "
    assert progressing.endswith("waiting up to 40 minutes on a, b")
    failing, progressing = lines_of(replace(patient, begun=since(a=41, b=1)))
    assert failing.startswith("True ClusterOperatorsUpdating: ")
    over = "wait has exceeded 40 minutes for these operators: a"
    assert progressing == f"True ClusterOperatorsUpdating: Unable to apply 2.0.0: {over}"


def test_a_failure_is_reported_without_what_is_only_waited_for() -> None:
    other = TransientError("something else")
    failing, progressing = lines_of(replace(BASE, errors=[*waiting("a"), other]))
    assert failing == "True : something else"
    problem = "an unknown error has occurred: MultipleErrors"
    assert progressing == f"True MultipleErrors: Unable to apply 2.0.0: {problem}"


def test_what_is_reconciled_fails_without_progressing() -> None:
    failing, progressing = lines_of(
        replace(BASE, reconciling=True, errors=[TransientError("something else")])
    )
    assert failing == "True : something else"
    assert progressing == "False : Error while reconciling 2.0.0: an error occurred"


def test_before_there_is_a_history_everything_is_a_failure() -> None:
    failing, _ = lines_of(replace(BASE, errors=waiting("a"), is_installed=False))
    assert failing.startswith("True ClusterOperatorUpdating: ")
