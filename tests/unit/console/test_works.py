"""Work without a page, and what was read of catalogs."""

import asyncio

from console.summary_cache import SummaryCache
from console.works import PAUSE_SECONDS, Works
from olm_client.catalogs.cluster import Served
from olm_client.catalogs.summary import Summary

OLD, NEW = (Served("team", digest, "https://here", available=True) for digest in ("old", "new"))
A, B = [Summary(name="a")], [Summary(name="b")]


async def test_work_is_done_once_at_a_time_and_counts_for_a_while() -> None:
    now, done = 0.0, 0
    going = asyncio.Event()

    async def work() -> int:
        nonlocal done
        await going.wait()
        done += 1
        return done

    works = Works(lambda: now)
    first = works.begin("a", work)
    now = 10 * PAUSE_SECONDS
    assert works.begin("a", work) is first, "it is still done"
    assert works.begin("b", work) is not first
    going.set()
    assert await first == 1
    now += PAUSE_SECONDS
    assert works.begin("a", work) is first, "its outcome counts"
    now += 1
    assert await works.begin("a", work) == 3
    await works.close()


async def test_work_ends_with_its_user() -> None:
    works = Works(lambda: 0.0)
    task = works.begin("a", asyncio.Event().wait)
    await works.close()
    assert task.cancelled()


def test_older_content_counts_until_the_newer_one_is_read() -> None:
    cache = SummaryCache()
    assert not cache.packages(OLD)
    cache.put(OLD, A)
    cache.shrink([NEW])
    assert (cache.has(NEW), cache.packages(NEW)) == (False, A)
    cache.put(NEW, B)
    cache.shrink([NEW])
    assert (cache.has(NEW), cache.packages(NEW), cache.has(OLD)) == (True, B, False)
    cache.shrink([])
    assert not cache.packages(NEW)


def test_a_catalog_may_come_to_have_no_packages() -> None:
    cache = SummaryCache()
    cache.put(OLD, A)
    cache.put(NEW, [])
    assert cache.packages(NEW) == []
