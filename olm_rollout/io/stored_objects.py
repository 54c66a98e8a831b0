"""Asks the API server how many objects are stored, and how many a new definition makes invalid.

For the latter reads page by page and sends each page back as a dry run (`crd_upgrade.stored`).
Writes nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import NamedTuple

import orjson

from api.objects import GVK, KubeObject
from olm_content.crds.findings import Finding
from olm_content.crds.going import Count, Going, finding
from olm_content.crds.schema import Schema
from olm_content.crds.stored import (
    SHOWN_OBJECTS,
    Examined,
    Faults,
    Question,
    duplicates_in,
    faults_of,
    full_name,
    prepared,
    trial,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, InvalidError
from olm_runtime.kube.media_types import METADATA_LIST
from olm_runtime.plurals import counted

FIELD_MANAGER = "dry-run"
"""Nothing is stored that has it."""

PAGE_OBJECTS = 100

BATCH_BYTES = 1 << 20
"""Of objects in one trial; a request with a definition of a megabyte stays below the 3 MB that
API servers take."""


class Bounds(NamedTuple):
    """How far to look: objects of a question, seconds for all questions."""

    objects: int
    seconds: float


async def examine(
    client: KubeClient, questions: Iterable[Question], bounds: Bounds
) -> list[Examined]:
    """What the server says to each question, read and judged as `client`.

    What cannot be found out is in the answer (`stopped`), never raised.
    """
    deadline = asyncio.get_running_loop().time() + bounds.seconds
    answers = []
    for question in questions:
        examined = Examined(question.crd, question.version)
        answers.append(examined)
        try:
            async with asyncio.timeout_at(deadline):
                await _examine(client, question, bounds.objects, examined)
        except TimeoutError:
            examined.stopped = f"stopped after {bounds.seconds:g} s"
        except ApiError as error:
            examined.stopped = error.message
    return answers


async def count(client: KubeClient, going: Iterable[Going], seconds: float) -> list[Finding]:
    """What stands against each: the objects there are of it, read as `client` in one short page.

    What cannot be counted stands against it too.
    """
    deadline = asyncio.get_running_loop().time() + seconds
    counted = [(each, await _count(client, each.kind, deadline)) for each in going]
    return [found for each, number in counted if (found := finding(each, number))]


async def _count(client: KubeClient, kind: GVK | None, deadline: float) -> Count:
    if kind is None:
        return Count(fault="no version of it is served")
    try:
        async with asyncio.timeout_at(deadline):
            path = (await client.resource(kind)).path()
            params = {"limit": str(SHOWN_OBJECTS)}
            page = await client.request("GET", path, params=params, accept=METADATA_LIST)
    except TimeoutError:
        return Count(fault="the API server does not answer")
    except ApiError as error:
        return Count(fault=error.message)
    names = tuple(map(full_name, page.get("items") or ()))
    meta = page.get("metadata") or {}
    remaining = meta.get("remainingItemCount") if meta.get("continue") else 0
    return Count(len(names) + (remaining or 0), remaining is not None, names)


async def _examine(client: KubeClient, question: Question, limit: int, examined: Examined) -> None:
    async for objects, remaining in _pages(client, question.kind, limit):
        seen = examined.checked + len(objects)
        examined.total = None if remaining is None else seen + remaining
        for batch in _batches(objects):
            shown, lost = await asyncio.to_thread(prepared, question, batch)
            faults = await _faults(client, question.schema, shown)
            examined.add(batch, lost, faults)
        if remaining != 0 and seen >= limit:
            examined.stopped = f"stopped after {counted(limit, 'object')}"
            return


async def _pages(
    client: KubeClient, kind: GVK, limit: int
) -> AsyncIterator[tuple[list[KubeObject], int | None]]:
    """Pages of objects of all namespaces, and how many there are after each, if the server says so.

    Raises ApiError; GoneError when the pages became too old to go on.
    """
    path = (await client.resource(kind)).path()
    params = {"limit": str(min(PAGE_OBJECTS, limit))}
    while True:
        page = await client.request("GET", path, params=params)
        meta = page.get("metadata") or {}
        token = str(meta.get("continue") or "")
        yield page.get("items") or [], meta.get("remainingItemCount") if token else 0
        if not token:
            return
        params["continue"] = token


def _batches(objects: Sequence[KubeObject]) -> Iterator[list[KubeObject]]:
    batch: list[KubeObject] = []
    size = 0
    for obj in objects:
        size += len(orjson.dumps(obj))
        if batch and size > BATCH_BYTES:
            yield batch
            batch, size = [], len(orjson.dumps(obj))
        batch.append(obj)
    if batch:
        yield batch


async def _faults(client: KubeClient, schema: Schema, objects: list[KubeObject]) -> Faults:
    """What is wrong with each object. Raises ApiError if the server refuses to judge.

    A server evaluates the rules in CEL only once everything else is right, so those objects that
    are not faulty are shown to it again.
    """
    found = duplicates_in(objects, schema)
    rest = [index for index in range(len(objects)) if index not in found]
    while rest:
        refused = await _refused(client, schema, [objects[index] for index in rest])
        found |= {rest[index]: fault for index, fault in refused.items()}
        if not refused:
            break
        rest = [index for index in rest if index not in found]
    return dict(sorted(found.items()))


async def _refused(client: KubeClient, schema: Schema, objects: list[KubeObject]) -> Faults:
    try:
        await client.create(
            trial(schema, objects), field_manager=FIELD_MANAGER, dry_run=True, metadata_only=True
        )
    except InvalidError as error:
        causes = ((cause.field, cause.reason, cause.message) for cause in error.causes)
        if faults := faults_of(causes):
            return faults
        if len(objects) == 1:
            raise
        # The cost of rules in CEL is estimated for a whole list: one by one it may be allowed.
        found: Faults = {}
        for index, obj in enumerate(objects):
            if alone := await _refused(client, schema, [obj]):
                found[index] = alone[0]
        return found
    return {}
