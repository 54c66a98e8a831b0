"""How fast a dead leader is replaced, and that two never lead: by the times, not by waiting."""

from olm_runtime.controller.leader import RELEASE_SECONDS, LeaseTimes

SOONEST_PROMISED = 20.0


def test_a_killed_leader_is_replaced_within_twenty_seconds() -> None:
    times = LeaseTimes()
    # Its last renewal may be as late as its death; the next one looks every `retry` seconds.
    assert times.duration + times.retry < SOONEST_PROMISED


def test_a_leader_that_cannot_renew_stops_before_anybody_else_may_begin() -> None:
    times = LeaseTimes()
    assert times.renew_deadline + times.retry < times.duration
    assert times.retry < times.renew_deadline / 3, "one failed try must not cost the lead"


def test_releasing_does_not_outlast_the_lease() -> None:
    assert LeaseTimes().renew_deadline + RELEASE_SECONDS <= LeaseTimes().duration
