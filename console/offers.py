"""The packages that the catalogs of a cluster offer.

A catalog is read once, in the name of who looks first, into the cache of the command line; what a
list of packages needs of it stays in memory while a catalog has that digest. Others see it if they
may read it themselves. Reading takes seconds: it begins with the first page, and no list waits.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TypeVar

from api.olm.v1.kinds import CATALOG
from console.kinds import SERVICE
from console.users import User
from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.catalogs.content import Content
from olm_client.catalogs.fetch_process import fetch_apart
from olm_client.catalogs.summary import Summary
from olm_client.reach import ClusterOptions
from olm_runtime.errors import OLMError, TerminalError
from operator_controller.io.catalog_addresses import proxy_path

T = TypeVar("T")

Offered = tuple[str, Summary]
"""Name of a catalog, package."""

PATIENCE_SECONDS = 0.2
"""For which a list waits for catalogs that are being read."""


@dataclass(frozen=True, slots=True)
class Offers:
    """What is known of the packages.

    faults   of the catalogs that cannot be read, why
    reading  catalogs that are being read; what they had before counts until then
    """

    packages: Sequence[Offered]
    faults: Sequence[tuple[str, OLMError]]
    reading: Sequence[str]


async def offers_of(user: User, patience: float | None = PATIENCE_SECONDS) -> Offers:
    """What all catalogs offer that are switched on and that the user may read.

    Open pages are notified as soon as more is known. Without `patience` it waits for all.
    """
    served = [each for each in map(Served.of, await user.objects(CATALOG)) if each.available]
    found = await asyncio.gather(*(_fault(user, each, patience) for each in served))
    faults = [
        (each.name, fault) for each, fault in zip(served, found, strict=True) if fault is not None
    ]
    broken = {name for name, _ in faults}
    whole = [each for each in served if each.name not in broken]
    known = user.summaries
    known.shrink(served)
    return Offers(
        [(each.name, summary) for each in whole for summary in known.packages(each)],
        faults,
        [each.name for each in whole if not known.has(each)],
    )


async def warm(user: User) -> None:
    """Begins to read the catalogs; what cannot be read is shown on the pages that need it."""
    with suppress(OLMError):
        if await user.serves(CATALOG):
            await offers_of(user, 0)


async def _fault(user: User, catalog: Served, patience: float | None) -> OLMError | None:
    """Why a catalog cannot be read; None, too, if it is not read as soon as that."""
    try:
        await check_readable(user, catalog)
    except OLMError as error:
        return error
    if user.summaries.has(catalog):
        return None
    task = user.works.begin(f"read {catalog.digest}", lambda: _read(user, catalog))
    await asyncio.wait([task], timeout=patience)
    return task.result() if task.done() else None


async def _read(user: User, catalog: Served) -> OLMError | None:
    known = user.summaries
    try:
        async with known.lock(catalog), known.slots:
            if known.has(catalog):  # somebody else has read it meanwhile
                return None
            if not await asyncio.to_thread(_is_cached, catalog):
                await fetch_apart(user.options, catalog)
            known.put(catalog, await _of_content(user.options, catalog, Content.summaries))
    except OLMError as error:
        return error
    finally:
        user.changes.note(CATALOG.kind)
    return None


def _is_cached(catalog: Served) -> bool:
    content = ContentCache.of_user().find(catalog.digest)
    if content is not None:
        content.close()
    return content is not None


async def check_readable(user: User, catalog: Served) -> None:
    """Raises TerminalError where the user may not read what somebody else has read already."""
    path = proxy_path(catalog.base)
    if path is None:  # catalogd itself answers everybody
        return
    _, _, _, _, namespace, _, service, *_ = path.split("/")
    if not await user.may("get", SERVICE, namespace, service, "proxy"):
        raise TerminalError(
            f'you may not read catalog "{catalog.name}"',
            hint=f"that needs the permission to get services/proxy in namespace {namespace}",
        )


async def of_catalog(user: User, name: str, ask: Callable[[Content], T]) -> T:
    """What the content of a catalog answers. Raises OLMError where it is not served."""
    catalog = Served.of(await user.object(CATALOG, name))
    fault = await _fault(user, catalog, None)
    if fault is not None:
        raise fault
    return await _of_content(user.options, catalog, ask)


async def _of_content(options: ClusterOptions, catalog: Served, ask: Callable[[Content], T]) -> T:
    def answer() -> T:
        content = Cluster(options).content(catalog, ContentCache.of_user())
        with closing(content):
            return ask(content)

    return await asyncio.to_thread(answer)


async def blobs_of(user: User, package: str, catalog: str) -> tuple[str, list[bytes]]:
    """The catalog that has a package, and its blobs there; without `catalog`, the first that has.

    Raises TerminalError if none has.
    """
    offers = await offers_of(user, None)
    names = [name for name, summary in offers.packages if summary.name == package]
    chosen = next((name for name in names if catalog in ("", name)), None)
    if chosen is None:
        where = f"catalog {catalog}" if catalog else "the catalogs of this cluster"
        raise TerminalError(f'no package "{package}" in {where}')
    return chosen, await of_catalog(user, chosen, lambda content: content.blobs(package))
