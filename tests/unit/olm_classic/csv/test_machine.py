"""Each phase of a ClusterServiceVersion, and what follows from what is known."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject
from olm_classic.csv.installation import HEALTHY, Installation, State
from olm_classic.csv.machine import ApiServices, Applied, Facts, next_change
from olm_classic.csv.phases import MAX_CONDITIONS, Change, Phase, Reason, changed
from olm_classic.csv.replacement import Chain

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WAITING = Installation(State.WAITING, "w")
DRIFTED = Installation(State.DRIFTED, "d")
MISSING = Installation(State.MISSING, "m")
EXPIRED = Installation(State.EXPIRED, "e")


def csv(
    name: str = "op.v1", phase: str = "", reason: str = "", *, replaces: str = "", **spec: Any
) -> KubeObject:
    return {
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"install": {"strategy": "deployment"}, "replaces": replaces, **spec},
        "status": {"phase": phase, "reason": reason, "lastTransitionTime": "2026-01-01T00:00:00Z"},
    }


def facts(*csvs: KubeObject, **known: Any) -> Facts:
    return Facts(NOW, Chain(csvs), **known)


def owning(*names: str) -> dict[str, Any]:
    return {"customresourcedefinitions": {"owned": [{"name": name} for name in names]}}


def webhook(name: str = "w", **rule: Any) -> dict[str, Any]:
    return {"generateName": name, "rules": [rule]}


OLD = csv("op.v1", "Succeeded")
NEW = csv("op.v2", "Pending", replaces="op.v1")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, ("InstallReady", "AllRequirementsMet", "all requirements found, attempting install")),
        (
            {"not_upgradeable": "the operator is not upgradeable: busy"},
            (
                "Pending",
                "OperatorConditionNotUpgradeable",
                "operator is not upgradeable: the operator is not upgradeable: busy",
            ),
        ),
        (
            {"requirements_met": False},
            ("Pending", "RequirementsNotMet", "one or more requirements couldn't be found"),
        ),
        ({"unadoptable": True}, ("Failed", "OwnerConflict", "unable to adopt APIService")),
    ],
)
def test_a_pending_one(known: dict[str, Any], expected: tuple[str, str, str]) -> None:
    pending = csv(phase="Pending")
    assert next_change(pending, facts(pending, **known)) == Change(*_typed(expected))


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        (
            {"install": {"strategy": "helm"}},
            "InvalidInstallStrategy",
            "install strategy invalid: unrecognized strategy helm",
        ),
        (
            {"webhookdefinitions": [webhook("a"), webhook("a")]},
            "InvalidWebhookDescription",
            "CSV contains repeated WebhookDescription name",
        ),
        (
            {"webhookdefinitions": [webhook(apiGroups=["apps", "*"])]},
            "InvalidWebhookDescription",
            "webhook rules cannot include all groups",
        ),
        (
            {"webhookdefinitions": [webhook(apiGroups=["operators.coreos.com"])]},
            "InvalidWebhookDescription",
            "webhook rules cannot include the OLM group",
        ),
        (
            {
                "webhookdefinitions": [
                    webhook(apiGroups=["admissionregistration.k8s.io"], resources=["*"])
                ]
            },
            "InvalidWebhookDescription",
            (
                "webhook rules cannot include MutatingWebhookConfiguration or "
                "ValidatingWebhookConfiguration resources"
            ),
        ),
    ],
)
def test_what_cannot_be_installed(spec: dict[str, Any], reason: str, message: str) -> None:
    pending = csv(phase="Pending", **spec)
    assert next_change(pending, facts(pending)) == Change(Phase.FAILED, Reason(reason), message)


def test_a_definition_has_one_owner_in_a_namespace_but_for_those_that_are_replaced() -> None:
    conflict = Change(Phase.FAILED, Reason.OWNER_CONFLICT, "conflicting CRD owner in namespace")
    new = csv("op.v2", "Pending", replaces="op.v1", **owning("a.b"))
    old = csv("op.v1", "Replacing", **owning("a.b"))
    stranger = csv("other", "Succeeded", **owning("a.b", "c.d"))
    copy = csv("other", "Succeeded", **owning("a.b"))
    copy["metadata"]["labels"] = {"olm.copiedFrom": "elsewhere"}
    assert next_change(new, facts(new, old, stranger)) == conflict
    assert phase(next_change(new, facts(new, old, copy))) == "InstallReady"


def test_the_new_one_waits_until_the_old_one_is_being_replaced() -> None:
    assert next_change(NEW, facts(NEW, OLD)) is None
    entered = next_change(OLD, facts(NEW, OLD))
    expected = "being replaced by csv: op.v2"
    assert entered == Change(Phase.REPLACING, Reason.BEING_REPLACED, expected)
    assert phase(next_change(NEW, facts(NEW, csv("op.v1", "Replacing")))) == "InstallReady"


def test_a_failed_one_is_replaced_only_where_its_group_allows_it() -> None:
    failed = csv("op.v1", "Failed", "InstallCheckFailed")
    entered = next_change(failed, facts(failed, NEW, fail_forward=True))
    assert phase(entered) == "Replacing"
    assert "Fail Forward is enabled" in (entered.message if entered else "")
    assert phase(next_change(failed, facts(failed, NEW))) == "Succeeded"


def test_only_the_oldest_of_a_chain_goes_once_what_follows_works() -> None:
    first = csv("op.v1", "Replacing")
    second = csv("op.v2", "Replacing", replaces="op.v1")
    third = csv("op.v3", "Succeeded", replaces="op.v2")
    assert next_change(second, facts(first, second, third)) is None
    assert phase(next_change(first, facts(first, second, third))) == "Deleting"
    assert phase(next_change(first, facts(first, second, third, fail_forward=True))) == "Deleting"
    works, failed = csv("op.v2", "Succeeded", replaces="op.v1"), csv("op.v3", "Failed")
    failed["spec"]["replaces"] = "op.v2"
    assert phase(next_change(first, facts(first, works, failed))) == "Deleting"
    assert next_change(first, facts(first, works, failed, fail_forward=True)) is None
    assert phase(next_change(second, facts(second, third))) == "Deleting"
    assert next_change(second, facts(second)) is None


@pytest.mark.parametrize(
    ("state", "services", "expected"),
    [
        (HEALTHY, {}, "Succeeded InstallSucceeded"),
        (WAITING, {}, "Installing InstallWaiting"),
        (DRIFTED, {}, "InstallReady InstallWaiting"),
        (MISSING, {}, "InstallReady InstallWaiting"),
        (EXPIRED, {}, "Failed InstallCheckFailed"),
        (HEALTHY, {"unavailable": True}, "Installing InstallWaiting"),
        (HEALTHY, {"webhooks": "no CA"}, "InstallReady InstallWaiting"),
    ],
)
def test_one_being_installed(state: Installation, services: dict[str, Any], expected: str) -> None:
    installing = csv(phase="Installing")
    known = facts(installing, installation=state, api_services=ApiServices(**services))
    assert summary(next_change(installing, known)) == expected


def test_an_install_that_takes_five_minutes_has_failed() -> None:
    installing = csv(phase="Installing")
    known = replace(facts(installing, installation=WAITING), now=NOW + timedelta(minutes=5))
    entered = next_change(installing, known)
    assert entered == Change(Phase.FAILED, Reason.INSTALL_CHECK_FAILED, "install timeout")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, None),
        ({"requirements_met": False}, "Failed RequirementsNotMet"),
        ({"installation": WAITING}, "Failed ComponentUnhealthy"),
        ({"installation": MISSING}, "Failed ComponentUnhealthy"),
        ({"installation": DRIFTED}, "InstallReady ComponentUnhealthy"),
        ({"api_services": ApiServices(issue="gone")}, "Failed APIServiceResourceIssue"),
        ({"api_services": ApiServices(due=True)}, "Pending NeedsCertRotation"),
        ({"api_services": ApiServices(unavailable=True)}, "Failed ComponentUnhealthy"),
        ({"api_services": ApiServices(unavailable=True), "is_disrupted": True}, None),
        ({"api_services": ApiServices(error="no")}, "Failed APIServiceInstallFailed"),
        ({"api_services": ApiServices(webhooks="no")}, "InstallReady ComponentUnhealthy"),
    ],
)
def test_one_that_succeeded(known: dict[str, Any], expected: str | None) -> None:
    succeeded = csv(phase="Succeeded")
    assert summary(next_change(succeeded, facts(succeeded, **known))) == expected


@pytest.mark.parametrize(
    ("reason", "known", "expected"),
    [
        ("NoOperatorGroup", {}, "Pending RequirementsUnknown"),
        ("InterOperatorGroupOwnerConflict", {}, "Pending RequirementsUnknown"),
        ("InstallComponentFailedNoRetry", {}, None),
        (
            "InstallComponentFailedNoRetry",
            {"rights_changed": True},
            "Pending DetectedClusterChange",
        ),
        ("RequirementsNotMet", {"requirements_met": False}, "Pending RequirementsNotMet"),
        ("InstallCheckFailed", {"installation": WAITING}, "Pending NeedsReinstall"),
        ("InstallCheckFailed", {"installation": DRIFTED}, "InstallReady NeedsReinstall"),
        ("ComponentUnhealthy", {}, "Succeeded InstallSucceeded"),
        ("ComponentUnhealthy", {"unadoptable": True}, "Failed OwnerConflict"),
    ],
)
def test_one_that_failed(reason: str, known: dict[str, Any], expected: str | None) -> None:
    failed = csv(phase="Failed", reason=reason)
    assert summary(next_change(failed, facts(failed, **known))) == expected


@pytest.mark.parametrize(
    ("applied", "expected"),
    [
        (Applied(), "Installing InstallSucceeded"),
        (Applied("no"), "Failed InstallComponentFailed"),
        (Applied("forbidden", is_final=True), "Failed InstallComponentFailedNoRetry"),
    ],
)
def test_one_that_is_ready_to_be_installed(applied: Applied, expected: str) -> None:
    ready = csv(phase="InstallReady")
    assert summary(next_change(ready, facts(ready, applied=applied))) == expected


def test_the_first_look_and_the_last() -> None:
    assert summary(next_change(csv(), facts())) == "Pending RequirementsUnknown"
    assert next_change(csv(phase="Deleting"), facts()) is None


CHANGES = st.builds(Change, st.sampled_from(Phase), st.sampled_from(Reason), st.text(max_size=3))


@given(st.lists(CHANGES, max_size=40))
def test_a_status_keeps_the_last_changes_of_phase_and_reason(changes: list[Change]) -> None:
    status: dict[str, Any] = {}
    entered: list[tuple[str, str]] = []
    for number, change in enumerate(changes):
        before = status
        status = changed(status, change, NOW + timedelta(seconds=number))
        if not entered or entered[-1] != (change.phase, change.reason):
            entered.append((change.phase, change.reason))
        assert changed(status, change, NOW + timedelta(days=1)) == status
        moved = before.get("phase") != status["phase"]
        assert moved == (before.get("lastTransitionTime") != status["lastTransitionTime"])
    found = [(each["phase"], each["reason"]) for each in status.get("conditions", ())]
    assert found == entered[-MAX_CONDITIONS:]


def _typed(expected: tuple[str, str, str]) -> tuple[Phase, Reason, str]:
    return Phase(expected[0]), Reason(expected[1]), expected[2]


def phase(change: Change | None) -> str:
    return change.phase if change else ""


def summary(change: Change | None) -> str | None:
    return f"{change.phase} {change.reason}" if change else None


def test_what_gave_way_to_its_replacement_is_replaced_though_its_requirements_are_lost() -> None:
    """A new definition without the old version comes before the new ClusterServiceVersion."""
    for phase in ("Pending", "Failed"):
        lacking = csv("op.v1", phase, "RequirementsNotMet")
        known = facts(lacking, NEW, requirements_met=False, gave_way=True)
        change = next_change(lacking, known)
        assert change is not None
        assert (change.phase, change.message) == ("Replacing", "being replaced by csv: op.v2")
        waiting = next_change(lacking, facts(lacking, NEW, requirements_met=False))
        assert waiting is not None
        assert waiting.phase == "Pending"


@pytest.mark.parametrize("phase", ["Pending", "Installing"])
def test_what_failed_makes_room_also_while_it_is_tried_again(phase: str) -> None:
    tried = csv("op.v1", phase, "NeedsReinstall")
    known = {"fail_forward": True, "installation": WAITING}
    before = next_change(tried, facts(tried, NEW, **known))
    assert before is None or before.phase != "Replacing"
    tried["status"]["conditions"] = [{"phase": "Failed", "reason": "InstallCheckFailed"}]
    change = next_change(tried, facts(tried, NEW, **known))
    assert change is not None
    assert change.phase == "Replacing"
    assert change.message.startswith("Fail Forward is enabled")


def test_an_installation_that_failed_is_not_tried_again_at_once() -> None:
    failed = csv(phase="Failed", reason="InstallCheckFailed")
    assert next_change(failed, facts(failed, installation=EXPIRED, is_paused=True)) is None
    change = next_change(failed, facts(failed, is_paused=True))
    assert change is not None, "it works by now"
    assert change.phase == "Succeeded"


def test_what_others_change_again_and_again_is_not_fought_for() -> None:
    works = csv(phase="Succeeded")
    assert next_change(works, facts(works, installation=DRIFTED, is_paused=True)) is None
    change = next_change(works, facts(works, installation=DRIFTED))
    assert change is not None
    assert change.phase == "InstallReady"
