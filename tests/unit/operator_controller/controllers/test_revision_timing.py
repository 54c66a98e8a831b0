"""How long a revision is left alone that a newer one is about to replace."""

from api.objects import KubeObject
from operator_controller.apply.revisions import Revision, parse_revision
from operator_controller.controllers.revision_timing import (
    FIRST_LOOK_SECONDS,
    SUPERSEDED_SECONDS,
    Timing,
)

SUCCEEDED: KubeObject = {"type": "Succeeded", "status": "True"}


def revision(*conditions: KubeObject) -> Revision:
    return parse_revision({"metadata": {"name": "ext-1"}, "status": {"conditions": [*conditions]}})


def test_the_newest_is_not_left_alone() -> None:
    assert Timing().pause(revision(SUCCEEDED), 0.0, superseded=False) == 0.0


def test_one_that_never_rolled_out_has_nothing_to_look_after() -> None:
    timing = Timing()
    pauses = [timing.pause(revision(), at, superseded=True) for at in (0.0, 100.0)]
    assert pauses == [SUPERSEDED_SECONDS] * 2


def test_one_in_service_is_left_alone_before_the_first_look_and_after_each() -> None:
    timing, moments = Timing(), (0.0, 2.0, 20.0, 21.0, 28.0, 29.0)
    pauses = [timing.pause(revision(SUCCEEDED), at, superseded=True) for at in moments]
    assert pauses == [20.0, 18.0, 0.0, 4.0, 0.0, 4.0]


def test_the_wait_begins_anew_when_the_newer_one_went() -> None:
    timing = Timing()
    timing.pause(revision(SUCCEEDED), 10.0, superseded=True)
    timing.pause(revision(SUCCEEDED), 11.0, superseded=False)
    assert timing.pause(revision(SUCCEEDED), 14.0, superseded=True) == FIRST_LOOK_SECONDS
