"""Serves `/catalogs/NAME/api/v1/graphql`.

Queries run in threads, a few at a time, so that the content endpoints go on. What was answered for
a version stays true of it: answers are cached, those that were not asked for longest give way.
"""

import asyncio
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import orjson
from graphql import GraphQLError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from catalogd.graphql.schema import CatalogSchema, Reading
from catalogd.http import problems
from catalogd.http.content import Library
from catalogd.http.problems import Problem
from catalogd.index import Query
from catalogd.io.content import PLAIN, Content
from catalogd.query import name_fault

PATH = "/catalogs/{catalog}/api/v1/graphql"
MAX_BODY_BYTES, MAX_QUERY_BYTES = 1 << 20, 100_000
MAX_OBJECT_BYTES = 16 << 20
QUERY_SECONDS = 5.0
AT_ONCE = 2
MAX_CACHED_BYTES = 1 << 20
MAX_CACHED_ANSWER_BYTES = 128 << 10
"""Compressed: answers repeat themselves, and shrink to a seventh."""
MAX_CACHED_SCHEMAS = 16
COMPRESSION = 1
"""The quickest: 0.1 ms for most answers."""


class Asked(BaseModel):
    """The body of a request, as GraphQL clients send it."""

    model_config = ConfigDict(extra="ignore")

    query: str = ""
    variables: dict[str, Any] | None = None
    operation: str | None = Field(default=None, alias="operationName")


@dataclass(slots=True)
class Answers:
    """Answers queries from the versions that are served."""

    _schemas: OrderedDict[str, CatalogSchema] = field(default_factory=OrderedDict)
    _cached: OrderedDict[tuple[str, bytes], bytes] = field(default_factory=OrderedDict)
    _size: int = 0
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def answer(self, content: Content, body: bytes, asked: Asked) -> bytes:
        """The answer as JSON; `body` is the request as it came, which names it in the cache."""
        key = content.manifest.version, body
        if key in self._cached:
            self._cached.move_to_end(key)
            return zlib.decompress(self._cached[key])
        async with self._room:
            with content:
                encoded, kept = await asyncio.to_thread(self._encode, content, asked)
        if kept and len(kept) + len(body) <= MAX_CACHED_ANSWER_BYTES:
            self._keep(key, kept)
        return encoded

    def _encode(self, content: Content, asked: Asked) -> tuple[bytes, bytes]:
        """The answer, and as it is cached; empty where it is not."""
        answer = self._run(content, asked)
        encoded = orjson.dumps(answer) + b"\n"
        return encoded, b"" if "errors" in answer else zlib.compress(encoded, COMPRESSION)

    def _run(self, content: Content, asked: Asked) -> dict[str, Any]:
        reading = Reading(
            partial(_read, content), partial(_check, time.monotonic() + QUERY_SECONDS)
        )
        return self._schema(content).answer(
            asked.query, reading, variables=asked.variables, operation=asked.operation or ""
        )

    def _schema(self, content: Content) -> CatalogSchema:
        version = content.manifest.version
        schema = self._schemas.get(version)
        if schema is None:
            schema = self._schemas[version] = CatalogSchema(content.shape)
            if len(self._schemas) > MAX_CACHED_SCHEMAS:
                self._schemas.popitem(last=False)
        return schema

    def _keep(self, key: tuple[str, bytes], answer: bytes) -> None:
        if key not in self._cached:
            self._cached[key] = answer
            self._size += _size(key, answer)
        while self._size > MAX_CACHED_BYTES:
            self._size -= _size(*self._cached.popitem(last=False))


def _size(key: tuple[str, bytes], answer: bytes) -> int:
    return len(key[0]) + len(key[1]) + len(answer)


def _read(
    content: Content, schema: str, package: str, name: str, *, offset: int, limit: int
) -> Iterator[bytes]:
    found = content.index.find(Query(schema, package, name))
    for blob in islice(found, offset, offset + limit):
        (section,) = content.index.sections((blob,))
        if section.length > MAX_OBJECT_BYTES:
            raise GraphQLError(f"an object of {schema} is larger than {MAX_OBJECT_BYTES} bytes")
        yield content.files[PLAIN].read(section.offset, section.length)


def _check(end: float) -> None:
    if time.monotonic() > end:
        raise GraphQLError(f"query took longer than {QUERY_SECONDS:.0f} s")


def graphql_route(library: Library) -> Route:
    """The route of queries."""
    answers = Answers()

    async def query(request: Request) -> Response:
        catalog = request.path_params["catalog"]
        if fault := name_fault(catalog):
            return _refuse(problems.invalid_name(fault))
        body = await _body(request)
        try:
            asked = Asked.model_validate_json(body) if body is not None else None
        except ValidationError:
            asked = None
        if body is None or asked is None:
            return _refuse(problems.INVALID_BODY)
        if not asked.query:
            return _refuse(problems.EMPTY_QUERY)
        if len(asked.query.encode()) > MAX_QUERY_BYTES:
            return _refuse(problems.LARGE_QUERY)
        serving = library(catalog)
        if serving is None:
            return _refuse(problems.NO_CONTENT)
        answer = await answers.answer(serving.content, body, asked)
        return Response(answer, media_type="application/json")

    return Route(PATH, query, methods=["POST"])


async def _body(request: Request) -> bytes | None:
    """The body of a request, None if it is too large."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


def _refuse(problem: Problem) -> Response:
    return Response(problem.body, problem.status, media_type="text/plain; charset=utf-8")
