"""What open pages are told."""

import pytest

from console.changes import Changes


async def _told(changes: Changes, mark: str) -> frozenset[str]:
    """What comes first: nothing after a while in which nothing changed."""
    async for kinds in changes.since(mark, 0.05):
        return kinds
    raise AssertionError("it has ended")


async def test_a_page_is_told_of_what_changed_since_it_was_made() -> None:
    changes = Changes()
    changes.note("Pod")
    mark = changes.mark
    assert await _told(changes, mark) == frozenset()
    changes.note("Job")
    assert await _told(changes, mark) == {"Job"}
    changes.note("Pod")
    assert await _told(changes, mark) == {"Pod", "Job"}


@pytest.mark.parametrize("mark", ["", "again", "0-", "-1", "another-1", "x-y-2", "\u0663-\u0663"])
async def test_whoever_comes_from_another_run_is_told_of_all(mark: str) -> None:
    changes = Changes()
    changes.note("Pod")
    changes.note("Job")
    assert await _told(changes, mark) == {"Pod", "Job"}


async def test_a_page_is_told_while_it_listens() -> None:
    changes = Changes()
    told = []
    async for kinds in changes.since(changes.mark, 0.05):
        told.append(kinds)
        if kinds:
            break
        changes.note("Pod")
    assert told == [frozenset(), {"Pod"}]
    changes.end()
    assert [each async for each in changes.since("", 0.05)] == []
