"""The packages that the catalogs of a cluster offer, in memory by the digest of their catalog.

A catalog is read once, in the name of who looks first, into the cache of the command line; what a
list of packages needs of it stays in memory while a catalog has that digest. Others see it if they
may read it themselves.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from console.kinds import CATALOG, SERVICE
from console.users import User
from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.catalogs.content import Content
from olm_client.catalogs.summary import Summary
from olm_client.reach import ClusterOptions
from olm_runtime.errors import OLMError, TerminalError
from operator_controller.io.catalogd_proxy import proxy_path

T = TypeVar("T")

Offered = tuple[str, Summary]
"""Name of a catalog, package."""


@dataclass(frozen=True, slots=True)
class Offers:
    """All packages, and of the catalogs that could not be read, why."""

    packages: Sequence[Offered]
    faults: Sequence[tuple[str, OLMError]]


_read: dict[str, list[Summary]] = {}
"""The packages by the digest of their catalog."""


async def offers_of(user: User) -> Offers:
    """What all catalogs offer that are switched on and that the user may read."""
    raws = await user.objects(CATALOG)
    served = [each for each in map(Served.of, raws) if each.available]
    found = await asyncio.gather(*(_summaries(user, each) for each in served))
    packages: list[Offered] = []
    faults = []
    for catalog, answer in zip(served, found, strict=True):
        if isinstance(answer, OLMError):
            faults.append((catalog.name, answer))
        else:
            packages += [(catalog.name, summary) for summary in answer]
    _forget_other_than({each.digest for each in served})
    return Offers(packages, faults)


async def _summaries(user: User, catalog: Served) -> list[Summary] | OLMError:
    try:
        await check_readable(user, catalog)
        known = _read.get(catalog.digest)
        if known is None:
            known = await _of_content(user.options, catalog, Content.summaries)
            _read[catalog.digest] = known
    except OLMError as error:
        return error
    return known


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


def _forget_other_than(digests: set[str]) -> None:
    for digest in _read.keys() - digests:
        del _read[digest]


async def of_catalog(user: User, name: str, ask: Callable[[Content], T]) -> T:
    """What the content of a catalog answers. Raises OLMError where it is not served."""
    catalog = Served.of(await user.object(CATALOG, name))
    await check_readable(user, catalog)
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
    offers = await offers_of(user)
    names = [name for name, summary in offers.packages if summary.name == package]
    chosen = next((name for name in names if catalog in ("", name)), None)
    if chosen is None:
        where = f"catalog {catalog}" if catalog else "the catalogs of this cluster"
        raise TerminalError(f'no package "{package}" in {where}')
    return chosen, await of_catalog(user, chosen, lambda content: content.blobs(package))
