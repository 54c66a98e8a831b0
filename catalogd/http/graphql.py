"""Serves `/catalogs/NAME/api/v1/graphql`.

Most queries are answered at once, faster than a thread could be asked to; what takes longer runs in
threads, a few at a time, so that the content endpoints go on. What was answered for a version stays
true of it: answers are cached, those that were not asked for longest give way. An ASGI callable, as
the content endpoints are: Starlette's layers cost a third of an answer.
"""

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import msgspec
from graphql import GraphQLError
from zlib_ng import zlib_ng

from catalogd.graphql.direct import encoded
from catalogd.graphql.schema import CatalogSchema, Reading
from catalogd.http import problems
from catalogd.http.content import Library
from catalogd.http.problems import Problem
from catalogd.index import Query
from catalogd.io.content import PLAIN, Content
from catalogd.query import name_fault
from olm_runtime.http.asgi import Receive, Scope, Send

MAX_BODY_BYTES, MAX_QUERY_BYTES = 1 << 20, 100_000
MAX_OBJECT_BYTES = 16 << 20
QUERY_SECONDS = 5.0
SHORT_SECONDS, SHORT_QUERY_BYTES = 0.01, 2_000
"""What may be answered at once: so long nothing else goes on. Reading a query takes time, too."""
AT_ONCE = 2
MAX_CACHED_BYTES = 1 << 20
MAX_CACHED_ANSWER_BYTES = 128 << 10
"""Compressed: answers repeat themselves, and shrink to a seventh."""
MAX_CACHED_SCHEMAS = 16
COMPRESSION = 1
"""The quickest: 0.03 ms for most answers."""

_PATH = re.compile(r"/catalogs/([^/]+)/api/v1/graphql")


class Asked(msgspec.Struct, rename={"operation": "operationName"}):
    """The body of a request, as GraphQL clients send it."""

    query: str = ""
    variables: dict[str, Any] | None = None
    operation: str | None = None


_read_asked = msgspec.json.Decoder(Asked).decode


@dataclass(frozen=True, slots=True)
class _Encoded:
    """An answer as JSON, and as it is cached: empty where it has errors."""

    encoded: bytes
    packed: bytes


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
            return zlib_ng.decompress(self._cached[key])
        found = self._at_once(content, asked) if self._seems_short(content, asked) else None
        if found is None:
            with content:
                async with self._room:
                    found = await asyncio.to_thread(self._encode, content, asked, QUERY_SECONDS)
        if found.packed and len(found.packed) + len(body) <= MAX_CACHED_ANSWER_BYTES:
            self._keep(key, found.packed)
        return found.encoded

    def _seems_short(self, content: Content, asked: Asked) -> bool:
        """Not where others take long already: a try that is too short would only delay them."""
        has_schema = content.manifest.version in self._schemas
        return has_schema and len(asked.query) <= SHORT_QUERY_BYTES and not self._room.locked()

    def _at_once(self, content: Content, asked: Asked) -> _Encoded | None:
        """None where it takes longer."""
        end = time.monotonic() + SHORT_SECONDS
        found = self._encode(content, asked, SHORT_SECONDS)
        return found if found.packed or time.monotonic() <= end else None

    def _encode(self, served: Content, asked: Asked, seconds: float) -> _Encoded:
        reading = Reading(partial(_read, served), partial(_check, time.monotonic() + seconds))
        answer = self._schema(served).answer(
            asked.query, reading, variables=asked.variables, operation=asked.operation or ""
        )
        content = encoded(answer) + b"\n"
        return _Encoded(
            content, b"" if "errors" in answer else zlib_ng.compress(content, COMPRESSION)
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
        section = content.index.section(blob)
        if section.length > MAX_OBJECT_BYTES:
            raise GraphQLError(f"an object of {schema} is larger than {MAX_OBJECT_BYTES} bytes")
        yield content.files[PLAIN].read(section.offset, section.length)


def _check(end: float) -> None:
    if time.monotonic() > end:
        raise GraphQLError(f"query took longer than {QUERY_SECONDS:.0f} s")


class QueryApp:
    """The endpoint of queries."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._answers = Answers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        answer = await self._answer(scope, receive)
        status, kind = 200, b"application/json"
        if isinstance(answer, Problem):
            status, kind, answer = answer.status, b"text/plain; charset=utf-8", answer.body
        length = str(len(answer)).encode()
        headers = [(b"content-length", length), (b"content-type", kind)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    async def _answer(self, scope: Scope, receive: Receive) -> bytes | Problem:
        match = _PATH.fullmatch(scope["path"])
        if match is None:
            return problems.NO_SUCH_PAGE
        if scope["method"] != "POST":
            return problems.METHOD_NOT_ALLOWED
        catalog = match[1]
        if fault := name_fault(catalog):
            return problems.invalid_name(fault)
        body = await _body(receive)
        asked = _asked(body) if body is not None else None
        if body is None or asked is None:
            return problems.INVALID_BODY
        if not asked.query:
            return problems.EMPTY_QUERY
        if len(asked.query.encode()) > MAX_QUERY_BYTES:
            return problems.LARGE_QUERY
        serving = self._library(catalog)
        if serving is None:
            return problems.NO_CONTENT
        return await self._answers.answer(serving.content, body, asked)


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, None if it is too large, or its client is gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _asked(body: bytes) -> Asked | None:
    try:
        return _read_asked(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
