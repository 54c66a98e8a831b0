"""When a revision that is rolled out is looked at again."""

from datetime import UTC, datetime, timedelta

import pytest

from api.objects import KubeObject
from olm_rollout.progress import Progress
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait
from operator_controller.apply.revisions import age_of, parse_revision, seconds_left
from operator_controller.controllers.object_set import by_deadline, next_look, unhealthy_for
from operator_controller.controllers.retirement import may_drop_finalizers

WELL = Progress(complete=True)
ILL = Progress(complete=True, unhealthy=("Deployment a/b: 0/1 available",))
BLIND = Progress(complete=True, degraded=("cannot watch Deployment",))
CONTENDED = Progress(complete=True, contended=("ConfigMap a/b",), contended_seconds=8.0)


@pytest.mark.parametrize(
    ("progress", "certificates_due", "unhealthy_for", "outcome"),
    [
        pytest.param(Progress(), None, 0.0, Wait(2.0), id="not yet rolled out"),
        pytest.param(WELL, None, 0.0, Done(), id="well, so its watches do"),
        pytest.param(WELL, 70.0, 0.0, Done(70.0), id="until a certificate is due"),
        pytest.param(BLIND, 70.0, 0.0, Done(30.0), id="without watches"),
        pytest.param(CONTENDED, 70.0, 0.0, Done(8.0), id="until an object may be restored again"),
        pytest.param(ILL, None, 0.0, Done(5.0), id="ill since now"),
        pytest.param(ILL, None, 120.0, Done(120.0), id="ill for long: seldomer"),
        pytest.param(ILL, None, 601.0, Done(), id="ill for ever"),
    ],
)
def test_next_look(
    progress: Progress, certificates_due: float | None, unhealthy_for: float, outcome: Outcome
) -> None:
    assert next_look(progress, certificates_due, unhealthy_for) == outcome


@pytest.mark.parametrize(
    ("outcome", "seconds", "sooner"),
    [
        (Wait(10.0, "m"), 4.0, Wait(4.0, "m")),
        (Wait(10.0, "m"), None, Wait(10.0, "m")),
        (Retry("m"), 4.0, Retry("m", 4.0)),
        (Retry("m", 2.0), 4.0, Retry("m", 2.0)),
        (Retry("m", after=60.0), 4.0, Retry("m", 4.0, after=60.0)),
        (Retry("m"), 0.0, Retry("m")),
        (Blocked("r", "m"), 4.0, Blocked("r", "m")),
    ],
)
def test_what_waits_ends_with_the_deadline_but_not_before_a_server_allows(
    outcome: Outcome, seconds: float | None, sooner: Outcome
) -> None:
    assert by_deadline(outcome, seconds) == sooner


@pytest.mark.parametrize(("status", "seconds"), [("False", 60.0), ("True", 0.0), ("", 0.0)])
def test_how_long_it_has_been_ill(status: str, seconds: float) -> None:
    condition = {
        "type": "Available",
        "status": status,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    raw: KubeObject = {"status": {"conditions": [condition] if status else []}}
    now = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    assert unhealthy_for(parse_revision(raw), now) == seconds


@pytest.mark.parametrize(
    ("wall", "monotonic", "age"),
    [
        pytest.param(60, 60.0, 60.0, id="the clocks agree"),
        pytest.param(-3600, 60.0, 60.0, id="the wall clock went back by an hour"),
        pytest.param(3600, 60.0, 60.0, id="the wall clock went forth by an hour"),
    ],
)
def test_the_age_of_a_revision_goes_on_whatever_the_wall_clock_does(
    wall: int, monotonic: float, age: float
) -> None:
    made = datetime(2026, 1, 1, tzinfo=UTC)
    raw: KubeObject = {
        "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"progressDeadlineMinutes": 10},
    }
    revision = parse_revision(raw)
    first = age_of(revision, made, 0.0)
    assert first.at(monotonic) == age
    assert seconds_left(revision, first.at(monotonic)) == 600 - age
    again = age_of(revision, made + timedelta(seconds=wall), 0.0)  # by another leader
    assert again.at(0.0) == max(0, wall)


@pytest.mark.parametrize(("seconds", "goes"), [(0.0, False), (600.0, False), (601.0, True)])
def test_finalizers_go_by_how_long_the_dependents_were_taken_down(
    seconds: float, *, goes: bool
) -> None:
    raw: KubeObject = {"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}
    assert may_drop_finalizers(raw, seconds) is goes
