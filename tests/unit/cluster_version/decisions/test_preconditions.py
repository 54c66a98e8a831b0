"""What speaks against an update."""

from typing import Any

import pytest

from cluster_version.decisions.failure import Failure, verdict
from cluster_version.decisions.preconditions import failures

Json = dict[str, Any]


def entry(version: str, image: str = "", state: str = "Completed") -> Json:
    return {"version": version, "image": image or f"i@{version}", "state": state}


def cluster_version(
    current: str,
    *before: str,
    available: tuple[str, ...] = (),
    conditions: tuple[Json, ...] = (),
    state: str = "Completed",
    **more: Any,
) -> Json:
    history = [entry(current, state=state), *map(entry, before)]
    return {
        "spec": {"channel": "fast", **more.pop("spec", {})},
        "status": {
            "desired": {"version": current, "image": f"i@{current}"},
            "history": history,
            "availableUpdates": [{"version": each, "image": f"i@{each}"} for each in available],
            "conditions": list(conditions),
            **more,
        },
    }


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message}


NOT_UPGRADEABLE = condition("Upgradeable", "False", "AdminAckRequired", "needs ack")
PROGRESSING = condition("Progressing", "True")


def found(given: Json | None, version: str) -> list[tuple[str, str, bool]]:
    return [(each.name, each.reason, each.blocks) for each in failures(given, version)]


def blocking(given: Json, version: str) -> list[tuple[str, str]]:
    return [(each.name, each.reason) for each in failures(given, version) if each.blocks]


def test_before_there_is_a_cluster_version_nothing_speaks_against_an_update() -> None:
    assert found(None, "1.0.0") == []


@pytest.mark.parametrize(
    ("current", "before", "target", "problem"),
    [
        ("1.0.2", ("1.0.1",), "1.0.1", None),
        ("1.0.2", ("1.0.1",), "1.0.1+other", None),
        ("1.0.2", ("1.0.1", "1.0.0"), "1.0.0", "previous version 1.0.1 (i@1.0.1)"),
        ("1.1.0", ("1.0.1",), "1.0.1", "change major or minor versions are not recommended"),
        ("1.0.2", (), "1.0.1", "has no previous Semantic Version"),
        ("1.0.2", ("custom", "1.0.1"), "1.0.1", "has no previous Semantic Version"),
        ("1.0.2", ("1.0.1",), "1.0.2", None),
    ],
)
def test_the_only_way_back_is_to_the_previous_patch(
    current: str, before: tuple[str, ...], target: str, problem: str | None
) -> None:
    messages = [
        each.message
        for each in failures(cluster_version(current, *before), target)
        if each.name == "ClusterVersionRollback"
    ]
    assert len(messages) == bool(problem)
    assert all(str(problem) in message for message in messages)


@pytest.mark.parametrize(
    ("current", "target", "reason"),
    [
        ("4.5.3", "4.6.0", None),
        ("4.5.3", "4.7.0", "MultipleMinorVersionsUpdate"),
        ("4.22.0", "5.0.1", None),
        ("4.22.0", "5.1.0", "MajorVersionUpdate"),
        ("3.11.0", "4.1.0", "MajorVersionUpdate"),
        ("5.0.0", "6.0.0", "MajorVersionUpdate"),
    ],
)
def test_updates_go_to_the_next_minor_version_at_most(
    current: str, target: str, reason: str | None
) -> None:
    hops = [("ClusterVersionGiantHop", reason)] if reason else []
    assert blocking(cluster_version(current), target) == hops


def test_what_holds_back_minor_updates_lets_patches_pass() -> None:
    given = cluster_version("1.0.0", available=("1.0.1", "1.1.0"), conditions=(NOT_UPGRADEABLE,))
    assert found(given, "1.0.1") == []
    assert found(given, "1.1.0") == [("ClusterVersionUpgradeable", "AdminAckRequired", True)]
    fine = cluster_version(
        "1.0.0", available=("1.1.0",), conditions=(condition("Upgradeable", "Unknown"),)
    )
    assert found(fine, "1.1.0") == []


def test_overrides_warn_of_patches() -> None:
    spec = {"overrides": [{"name": "d", "unmanaged": True}]}
    given = cluster_version("1.0.0", available=("1.0.1",), conditions=(NOT_UPGRADEABLE,), spec=spec)
    assert found(given, "1.0.1") == [
        ("ClusterVersionUpgradeable", "ClusterVersionOverridesSet", False)
    ]


@pytest.mark.parametrize(
    ("before", "reason"), [("4.5.3", "Minor"), ("3.11.0", "Major"), ("4.6.0", None), ("x", None)]
)
def test_a_patch_within_a_minor_update_is_reported(before: str, reason: str | None) -> None:
    given = cluster_version(
        "4.6.1",
        before,
        available=("4.6.2",),
        conditions=(NOT_UPGRADEABLE, PROGRESSING),
        state="Partial",
    )
    assert [each.message for each in failures(given, "4.6.2")] == (
        [
            (
                f"Retarget to 4.6.2 while a {reason.lower()} version update from {before} to 4.6.1 "
                "is in progress"
            )
        ]
        if reason
        else []
    )


def test_versions_that_are_none() -> None:
    conditions = (NOT_UPGRADEABLE,)
    unknown = cluster_version("custom", available=("1.0.0",), conditions=conditions)
    assert {(reason, blocks) for _, reason, blocks in found(unknown, "1.0.0")} == {
        ("InvalidCurrentVersion", False)
    }
    known = cluster_version("1.0.0", available=("custom",), conditions=conditions)
    assert {(reason, blocks) for _, reason, blocks in found(known, "custom")} == {
        ("InvalidDesiredVersion", True)
    }


def update(version: str, *conditions: Json) -> Json:
    return {"release": {"version": version, "image": "i"}, "conditions": list(conditions)}


@pytest.mark.parametrize(
    ("conditions", "warning"),
    [
        ((condition("Recommended", "True"),), None),
        (
            (condition("Recommended", "False", "Risk", "It may break."),),
            ("Risk", "Update from 1.0.0 to 1.0.1 is not recommended:\n\nIt may break."),
        ),
        (
            (condition("Recommended", "Unknown", "EvaluationFailed", "no data"),),
            (
                "EvaluationFailed",
                "Update from 1.0.0 to 1.0.1 is Recommended=Unknown: EvaluationFailed: no data",
            ),
        ),
        (
            (),
            (
                "UnknownConditionType",
                (
                    "Update from 1.0.0 to 1.0.1 has a status.conditionalUpdates entry, but no "
                    "Recommended condition."
                ),
            ),
        ),
    ],
)
def test_updates_that_are_not_recommended_are_reported(
    conditions: tuple[Json, ...], warning: tuple[str, str] | None
) -> None:
    given = cluster_version("1.0.0", conditionalUpdates=[update("1.0.1", *conditions)])
    found = [(each.reason, each.message) for each in failures(given, "1.0.1")]
    assert found == ([warning] if warning else [])


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ((), "No RetrievedUpdates, so the recommended status of updating from 1.0.0 to 1.0.1"),
        (
            (condition("RetrievedUpdates", "False", "NoChannel"),),
            "RetrievedUpdates=False (NoChannel), so the recommended status of updating from",
        ),
        (
            (condition("RetrievedUpdates", "True"),),
            "RetrievedUpdates=True (), so the update from 1.0.0 to 1.0.1 is probably neither",
        ),
    ],
)
def test_an_update_that_is_not_listed_is_reported(conditions: tuple[Json, ...], text: str) -> None:
    given = cluster_version("1.0.0", conditions=conditions)
    (found,) = failures(given, "1.0.1")
    assert (found.reason, found.blocks) == ("UnknownUpdate", False)
    assert found.message.startswith(text)
    (found,) = failures(cluster_version("1.0.0", spec={"channel": ""}), "1.0.1")
    assert found.reason == "NoChannel"


def test_alerts_warn_of_all_updates_until_they_are_accepted() -> None:
    firing = condition("Applies", "True", "Alert:firing")
    risks = [{"name": name, "conditions": [firing]} for name in ("B", "A", "Accepted")]
    risks.append({"name": "Other", "conditions": [condition("Applies", "True", "Matches")]})
    spec = {"desiredUpdate": {"version": "1.0.1", "acceptRisks": [{"name": "Accepted"}]}}
    given = cluster_version("1.0.0", available=("1.0.1",), conditionalUpdateRisks=risks, spec=spec)
    (found,) = failures(given, "1.0.1")
    assert found.message == (
        "Update from 1.0.0 to 1.0.1 is not recommended:\n\n"
        "Those alerts have to be accepted as risks before updates: A, B"
    )
    (found,) = failures(given, "1.0.2")
    assert found.reason == "alertMightImpactUpdate|UnknownUpdate"
    assert found.name == "ClusterVersionRecommendedUpdate|ClusterVersionRecommendedUpdate"


def test_failures_together() -> None:
    block, warning = Failure("A", "R", "first"), Failure("B", "S", "second", blocks=False)
    assert verdict(()).text == ""
    assert verdict([warning]).text == 'Precondition "B" failed because of "S": second'
    assert not verdict([warning]).blocks
    together = verdict([block, warning])
    assert together.blocks
    assert together.text == (
        "Multiple precondition checks failed:\n"
        '* Precondition "A" failed because of "R": first\n'
        '* Precondition "B" failed because of "S": second'
    )
    forced = verdict([block, warning], force=True)
    assert forced.text == f"Forced through blocking failures: {together.text}"
    assert not forced.blocks
    assert verdict([warning], force=True) == verdict([warning])
