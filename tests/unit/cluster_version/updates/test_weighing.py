"""What a cluster adds to the risks of updates, and what it says of them."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cluster_version.decisions import risk
from cluster_version.decisions.upgradeable import Found
from cluster_version.payload.release import Release
from cluster_version.updates.graph import ConditionalUpdate, Risk, Rule, Updates
from cluster_version.updates.listing import listed
from cluster_version.updates.risks import Evaluated, evaluate
from cluster_version.updates.weighing import Weighing, weighing_of
from olm_content.versions import parse_version
from olm_runtime.errors import TransientError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = "https://example.com"
OWN = Found(
    (
        risk.Risk("ClusterOperatorUpgradeable-a", "A is old.", PAGE),
        risk.Risk("AdminAck-b", "", PAGE),
        risk.Risk("lower", "It has no name of a risk.", PAGE),
    ),
    begins={
        name: parse_version("1.0.0")
        for name in ("ClusterOperatorUpgradeable-a", "AdminAck-b", "lower")
    },
)
UPDATES = Updates(
    Release("1.0.0", "image:0"),
    (Release("1.0.1", "image:1"), Release("1.1.0", "image:2")),
    (
        ConditionalUpdate(
            Release("1.1.1", "image:3"),
            (Risk("Slow", "It is slow.", PAGE, (Rule("slow"),)), Risk("Z", "z", PAGE, (Rule(),))),
        ),
    ),
)


def evaluated(weighing: Weighing, answers: dict[str, bool]) -> Evaluated:
    async def ask(query: str) -> bool:
        if query not in answers:
            raise TransientError("no answer")
        return answers[query]

    return asyncio.run(evaluate(weighing.added(UPDATES), ask, weighing.accepted))


def versions(found: dict[str, Any]) -> list[str]:
    return [each["version"] for each in found["availableUpdates"] or ()]


def verdicts(found: dict[str, Any]) -> Iterator[tuple[str, list[str], str, str]]:
    for update in found["conditionalUpdates"]:
        [recommended] = update["conditions"]
        version = update["release"]["version"]
        yield version, update["riskNames"], recommended["status"], recommended["reason"]


def test_own_risks_concern_later_minor_versions() -> None:
    own = ["ClusterOperatorUpgradeable-a", "AdminAck-b"]
    found = listed(evaluated(Weighing(own=OWN), {"slow": False}), {}, NOW, weighed=True)
    assert versions(found) == ["1.0.1"]
    assert list(verdicts(found)) == [
        ("1.1.1", ["Slow", "Z", *own], "False", "MultipleReasons"),
        ("1.1.0", own, "False", "ExposedToRisks"),
    ]
    risks = {each["name"]: each["conditions"][0] for each in found["conditionalUpdateRisks"]}
    assert list(risks) == ["AdminAck-b", "ClusterOperatorUpgradeable-a", "Slow", "Z"]
    assert risks["Z"] == {
        "type": "Applies",
        "status": "True",
        "reason": "Match",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    assert (risks["Slow"]["status"], risks["Slow"]["reason"]) == ("False", "NotMatch")
    message = found["conditionalUpdates"][1]["conditions"][0]["message"]
    assert message.startswith(f"A is old. {PAGE}\n\nIt speaks against updates")


def test_accepted_risks_do_not_count() -> None:
    accepted = frozenset({"Z", "ClusterOperatorUpgradeable-a", "AdminAck-b", "Unheard"})
    found = listed(evaluated(Weighing(accepted, OWN), {"slow": False}), {}, NOW, weighed=True)
    assert versions(found) == ["1.1.1", "1.1.0", "1.0.1"]
    assert {each[2:] for each in verdicts(found)} == {("True", "AllExposedRisksAccepted")}


def test_what_cannot_be_evaluated_is_reported_and_times_are_preserved() -> None:
    first = listed(evaluated(Weighing(), {}), {}, NOW, weighed=True)
    [slow, _] = first["conditionalUpdates"][0]["risks"]
    [recommended] = slow["conditions"]
    assert (recommended["status"], recommended["reason"]) == ("Unknown", "EvaluationFailed")
    assert recommended["message"].startswith(
        "Could not evaluate exposure to update risk Slow (no answer)"
    )
    later = NOW + timedelta(hours=1)
    assert listed(evaluated(Weighing(), {}), first, later, weighed=True) == first
    known = listed(evaluated(Weighing(), {"slow": True}), first, later, weighed=True)
    [slow, always] = known["conditionalUpdateRisks"]
    assert slow["conditions"][0]["lastTransitionTime"] == "2026-01-01T01:00:00Z"
    assert always["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"


def test_nothing_is_reported_of_risks_where_the_cluster_adds_nothing() -> None:
    found = listed(evaluated(Weighing(), {"slow": False}), {}, NOW)
    assert found["conditionalUpdateRisks"] == []
    assert set(found["conditionalUpdates"][0]) == {"release", "risks", "conditions"}
    assert all("conditions" not in each for each in found["conditionalUpdates"][0]["risks"])


@pytest.mark.parametrize(
    ("spec", "accepted"),
    [
        ({}, set()),
        ({"desiredUpdate": None}, set()),
        ({"desiredUpdate": {"acceptRisks": [{"name": "A"}, {"name": "B"}]}}, {"A", "B"}),
    ],
)
def test_the_administrator_accepts_by_name(spec: dict[str, Any], accepted: set[str]) -> None:
    assert weighing_of({"spec": spec}, OWN) == Weighing(frozenset(accepted), OWN)
