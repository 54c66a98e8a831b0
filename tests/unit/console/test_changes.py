"""What is reported of what changed."""

import asyncio

import pytest

from console.changes import ANY, OTHER_RUN, Changes

POD, JOB, ALL = frozenset({"Pod"}), frozenset({"Job"}), frozenset({ANY})


async def reported(changes: Changes) -> None:
    """Waits until all that changed was reported."""
    notified = asyncio.Event()
    changes.subscribe(notified.set)
    while changes.reported < changes.count:
        await notified.wait()
        notified.clear()
    changes.unsubscribe(notified.set)


async def test_what_changed_since_a_mark_is_known_once_it_is_reported() -> None:
    changes = Changes()
    changes.note("Pod")
    mark = changes.number(changes.mark)
    await reported(changes)
    assert changes.since(0, POD)
    assert not changes.since(mark, POD)
    changes.note("Job")
    assert not changes.since(mark, JOB), "nobody was notified of it yet"
    await reported(changes)
    assert changes.since(mark, JOB)
    assert changes.since(mark, ALL)
    assert not changes.since(mark, POD)
    assert not changes.since(changes.number(changes.mark), ALL)


@pytest.mark.parametrize("mark", ["", "again", "0-", "-1", "another-1", "x-y-2", "\u0663-\u0663"])
async def test_of_marks_of_other_runs_everything_may_have_changed(mark: str) -> None:
    changes = Changes()
    assert changes.number(mark) == OTHER_RUN
    assert changes.since(OTHER_RUN, POD)


async def test_changes_that_come_together_are_reported_together_and_now_and_then() -> None:
    changes = Changes()
    reports: list[int] = []
    changes.subscribe(lambda: reports.append(changes.reported))
    for _ in range(40):
        await asyncio.sleep(0.02)
        changes.note("Pod")
    await reported(changes)
    assert reports[-1] == 40
    assert len(reports) < 20
    changes.note("Pod")
    changes.end()
    assert changes.ended
    assert reports[-1] == 40, "the end is reported, and no change after it"
