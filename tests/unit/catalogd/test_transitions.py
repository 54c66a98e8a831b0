"""Which changes of a status are reported, and how."""

from datetime import UTC, datetime

from msgspec.structs import replace

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clustercatalog import (
    ClusterCatalogStatus,
    ResolvedImage,
    ResolvedSource,
    SourceType,
)
from catalogd.transitions import transitions
from olm_runtime.event import Happening

EMPTY = ClusterCatalogStatus()
GOOD = Condition(
    type="Progressing",
    status=ConditionStatus.TRUE,
    reason="Succeeded",
    message="done",
    observed_generation=1,
)


def status(*conditions: Condition, ref: str = "") -> ClusterCatalogStatus:
    source = ResolvedSource(type=SourceType.IMAGE, image=ResolvedImage(ref=ref)) if ref else None
    return ClusterCatalogStatus(conditions=conditions, resolved_source=source)


def test_a_first_success_reports_the_content_and_the_condition() -> None:
    assert transitions(EMPTY, status(GOOD, ref="q.io/c@sha256:1")) == (
        Happening("Progressing", "Unpacked", "Unpacked q.io/c@sha256:1"),
        Happening("Progressing", "Succeeded", "done"),
    )


def test_new_content_is_reported_though_no_condition_changed() -> None:
    [found] = transitions(status(GOOD, ref="q.io/c@sha256:1"), status(GOOD, ref="q.io/c@sha256:2"))
    assert found.note == "Unpacked q.io/c@sha256:2"


def test_what_only_got_newer_is_not_reported() -> None:
    newer = replace(
        GOOD, observed_generation=2, last_transition_time=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert not transitions(status(GOOD), status(newer))


def test_failures_warn_and_another_fault_is_another_event() -> None:
    failed = replace(GOOD, reason="Retrying", message="no network")
    [reported] = transitions(status(GOOD), status(failed))
    assert reported == Happening("Progressing", "Retrying", "no network", warning=True)
    [reported] = transitions(status(failed), status(replace(failed, message="no credentials")))
    assert reported.note == "no credentials"


def test_a_condition_without_a_message_says_what_it_is() -> None:
    gone = Condition(
        type="Serving",
        status=ConditionStatus.FALSE,
        reason="Unavailable",
        message="",
        observed_generation=1,
    )
    [reported] = transitions(EMPTY, status(gone))
    assert (reported.note, reported.warning) == ("Serving is False", True)


def test_what_the_user_asked_for_is_no_warning() -> None:
    asked = replace(GOOD, type="Serving", reason="UserSpecifiedUnavailable")
    assert not transitions(EMPTY, status(asked))[0].warning


def test_a_refresh_is_reported_when_it_is_met() -> None:
    met = replace(GOOD, type="Refreshed", reason="Unchanged", message='request "1": nothing new')
    assert transitions(status(GOOD), status(GOOD, met)) == (
        Happening("Refreshed", "Unchanged", 'request "1": nothing new'),
    )
    failed = replace(met, status=ConditionStatus.FALSE, reason="Retrying", message="no network")
    assert not transitions(status(GOOD), status(GOOD, failed)), "Progressing reports it"
