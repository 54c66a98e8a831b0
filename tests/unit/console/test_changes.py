"""What open pages are told."""

import asyncio

import pytest

from console.changes import Changes

QUIET = 0.05


async def _told(changes: Changes, mark: str) -> frozenset[str]:
    """All that comes until nothing changes for a while."""
    found: set[str] = set()
    async for kinds in changes.since(mark):
        if not kinds:
            break
        found |= kinds
    return frozenset(found)


async def test_a_page_is_told_of_what_changed_since_it_was_made() -> None:
    changes = Changes(QUIET)
    changes.note("Pod")
    mark = changes.mark
    assert await _told(changes, mark) == frozenset()
    changes.note("Job")
    assert await _told(changes, mark) == {"Job"}
    changes.note("Pod")
    assert await _told(changes, mark) == {"Pod", "Job"}


@pytest.mark.parametrize("mark", ["", "again", "0-", "-1", "another-1", "x-y-2", "\u0663-\u0663"])
async def test_whoever_comes_from_another_run_is_told_of_all(mark: str) -> None:
    changes = Changes(QUIET)
    changes.note("Pod")
    changes.note("Job")
    assert await _told(changes, mark) == {"Pod", "Job"}


async def test_a_page_is_told_while_it_listens() -> None:
    changes = Changes(QUIET)
    told = []
    async for kinds in changes.since(changes.mark):
        told.append(kinds)
        if kinds:
            break
        changes.note("Pod")
    assert told == [frozenset(), {"Pod"}]
    changes.end()
    assert [each async for each in changes.since("")] == []


async def test_what_changes_all_the_time_is_told_to_all_at_once_and_now_and_then() -> None:
    changes = Changes()
    heard: dict[str, list[str]] = {"one": [], "two": []}
    over = asyncio.Event()

    async def listen(name: str) -> None:
        async for kinds in changes.since(changes.mark):
            assert kinds == {"Pod"}
            heard[name].append(changes.told_mark)
            if over.is_set() and changes.told_mark == changes.mark:
                return

    async with asyncio.TaskGroup() as group:
        for name in heard:
            group.create_task(listen(name))
        for _ in range(40):
            await asyncio.sleep(0.02)
            changes.note("Pod")
        over.set()
    assert heard["one"] == heard["two"]
    assert len(heard["one"]) < 20
