"""Signatures of a release image from stores: over HTTP, or in folders.

Source of the rules: upstream's notes, section 6.2.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import httpx

from cluster_version.signatures.messages import MAX_MESSAGE
from cluster_version.signatures.search import Search
from cluster_version.signatures.stores import NUMBERS, address, is_folder, without
from olm_runtime.http.transport_faults import reason


async def search_stores(
    stores: Sequence[str], digest: str, search: Search, clients: Mapping[str, httpx.AsyncClient]
) -> None:
    """Asks stores at the same time, until a search is done or all have no more.

    `clients` are those for stores over HTTP.
    """
    tasks = [
        asyncio.create_task(_search_store(store, digest, search, clients.get(store)))
        for store in stores
    ]
    try:
        for finished in asyncio.as_completed(tasks):
            await finished
            if search.is_done:
                return
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _search_store(
    store: str, digest: str, search: Search, client: httpx.AsyncClient | None
) -> None:
    """Offers what a store has, one signature after another."""
    async for found in _signatures(store, digest, client):
        if isinstance(found, str):
            search.note(found)
        elif found:
            search.offer(found)
        if search.is_done:
            return


async def _signatures(
    store: str, digest: str, client: httpx.AsyncClient | None
) -> AsyncIterator[bytes | str]:
    """The signatures of a store by number up to the first that is missing, or why there is none."""
    for number in NUMBERS:
        place = address(store, digest, number)
        try:
            if client is None or is_folder(store):
                yield await asyncio.to_thread(_read, Path(place))
            else:
                yield await _get(client, place)
        except FileNotFoundError:
            if not is_folder(store):
                yield without(place)
            return
        except (OSError, httpx.HTTPError, ValueError) as error:
            yield f"unable to retrieve signature from {place}: {reason(error)}"


async def _get(client: httpx.AsyncClient, place: str) -> bytes:
    """What is at an address, or more of it than counts.

    Raises FileNotFoundError, ValueError or httpx.HTTPError.
    """
    async with client.stream("GET", place, follow_redirects=True) as answer:
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise FileNotFoundError(place)
        if not answer.is_success:
            raise ValueError(f"{answer.status_code} {answer.reason_phrase}")
        found = bytearray()
        async for part in answer.aiter_bytes():
            found += part
            if len(found) > MAX_MESSAGE:
                break
        return bytes(found)


def _read(file: Path) -> bytes:
    with file.open("rb") as reader:
        return reader.read(MAX_MESSAGE + 1)
