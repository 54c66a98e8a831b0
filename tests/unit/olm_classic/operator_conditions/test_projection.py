"""What the status of an OperatorCondition repeats."""

from datetime import UTC, datetime
from typing import Any

from olm_classic.operator_conditions.projection import projected

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EARLIER, THEN = "2020-08-24T23:15:55Z", "2026-01-01T00:00:00Z"
SAID = {
    "type": "Upgradeable",
    "status": "False",
    "reason": "migration",
    "message": "it migrates",
    "lastTransitionTime": EARLIER,
}


def _condition(*said: Any, generation: int = 1, before: Any = ()) -> dict[str, Any]:
    condition = {"metadata": {"generation": generation}, "spec": {"conditions": list(said)}}
    return {**condition, "status": {"conditions": list(before)}} if before else condition


def test_what_is_said_is_repeated_with_the_generation_that_said_it() -> None:
    assert projected(_condition(SAID), NOW) == {"conditions": [{**SAID, "observedGeneration": 1}]}
    without_time = {key: each for key, each in SAID.items() if key != "lastTransitionTime"}
    [found] = projected(_condition(without_time), NOW)["conditions"]
    assert found["lastTransitionTime"] == THEN


def test_who_says_nothing_has_no_status() -> None:
    assert projected(_condition(), NOW) == {}
    assert projected({"metadata": {"generation": 1}}, NOW) == {}


def test_a_message_alone_is_repeated_with_a_new_generation() -> None:
    before = {**SAID, "observedGeneration": 1}
    other = {**SAID, "message": "still", "lastTransitionTime": THEN}
    assert projected(_condition(other, before=[before]), NOW) == {"conditions": [before]}
    [now] = projected(_condition(other, generation=2, before=[before]), NOW)["conditions"]
    assert now == {**other, "lastTransitionTime": EARLIER, "observedGeneration": 2}


def test_a_new_status_has_its_own_time() -> None:
    before = {**SAID, "observedGeneration": 1}
    better = {**SAID, "status": "True", "lastTransitionTime": THEN}
    [now] = projected(_condition(better, generation=2, before=[before]), NOW)["conditions"]
    assert now == {**better, "observedGeneration": 2}


def test_what_operators_write_into_the_status_themselves_stays() -> None:
    own = {"type": "Degraded", "status": "False", "reason": "x", "message": ""}
    unchanged, added = projected(_condition(SAID, before=[own]), NOW)["conditions"]
    assert unchanged == own
    assert added["type"] == "Upgradeable"
