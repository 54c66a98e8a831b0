"""Serves `/catalogs/NAME/api/v1/{all,metas}`: an ASGI callable, because bytes are many.

Files are read a piece at a time as the client takes them, so a slow client costs a buffer; the
answer's time is bounded, so it cannot keep a replaced version's files open for ever. An answer
holds on to the version it began with.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext

from catalogd.http import problems
from catalogd.http.answers import Answer, Version, answer_all, answer_metas, problem
from catalogd.index import Section
from catalogd.io.content import FILES, Content, OpenFile
from catalogd.io.store import Serving
from catalogd.query import name_fault
from olm_runtime.http.asgi import Receive, Scope, Send
from olm_runtime.preconditions import Headers

Library = Callable[[str], Serving | None]
"""What is served for a catalog now, None for nothing."""

LARGEST_PIECE_BYTES, SMALLEST_PIECE_BYTES = 128 << 10, 16 << 10
ALL_PIECES_BYTES = 2 << 20
"""Each answer in flight buffers a few pieces, so many at once get smaller ones: few clients are
served fastest with large pieces, and many together cannot make the process large."""
ANSWER_SECONDS = 300.0
"""Longest time an answer may take, as upstream's write time-out."""

_PATH = re.compile(r"/catalogs/([^/]*)/api/v1/(all|metas)")

log = logging.getLogger(__name__)


class ContentApp:
    """The two content endpoints."""

    def __init__(
        self, library: Library, *, metas: bool = True, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._library = library
        self._metas = metas
        self._seconds = answer_seconds
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        content, answer = self._answer(scope)
        self._in_flight += 1
        try:
            with content or nullcontext():
                pieces = self._pieces(answer, content) if scope["method"] != "HEAD" else iter(())
                async with asyncio.timeout(self._seconds):
                    await _send(answer, pieces, receive, send)
        except TimeoutError:
            # The server closes a connection whose answer was not completed.
            log.warning("client took longer than %.0f s: cut off", self._seconds)
        finally:
            self._in_flight -= 1

    def _pieces(self, answer: Answer, content: Content | None) -> Iterator[bytes]:
        """The body in pieces; small parts are gathered."""
        gathered: list[bytes] = []
        size = 0
        for part in answer.parts:
            for piece in _read(part, answer.coding, content, self._piece_bytes):
                gathered.append(piece)
                size += len(piece)
                if size >= SMALLEST_PIECE_BYTES and size >= self._piece_bytes():
                    yield b"".join(gathered)
                    gathered, size = [], 0
        if gathered:
            yield b"".join(gathered)

    def _piece_bytes(self) -> int:
        share = ALL_PIECES_BYTES // max(self._in_flight, 1)
        return max(SMALLEST_PIECE_BYTES, min(share, LARGEST_PIECE_BYTES))

    def _answer(self, scope: Scope) -> tuple[Content | None, Answer]:
        match = _PATH.fullmatch(scope["path"])
        if match is None or (match[2] == "metas" and not self._metas):
            return None, problem(problems.NO_SUCH_PAGE)
        if scope["method"] not in ("GET", "HEAD"):
            return None, problem(problems.METHOD_NOT_ALLOWED)
        name, endpoint = match.groups()
        if fault := name_fault(name):
            return None, problem(problems.invalid_name(fault))
        serving = self._library(name)
        if serving is None:
            return None, problem(problems.NO_CONTENT)
        headers, version = _headers(scope), _version(serving)
        if endpoint == "all":
            return serving.content, answer_all(headers, version)
        query = scope["query_string"].decode("latin-1")
        return serving.content, answer_metas(headers, version, query)


def _version(serving: Serving) -> Version:
    stored, content = serving.stored, serving.content
    digests = content.manifest.digests
    return Version(
        source=stored.source,
        modified=stored.unpacked,
        digests={coding: digests[name] for coding, name in FILES.items()},
        sizes={coding: file.size for coding, file in content.files.items()},
        index=content.index,
    )


def _headers(scope: Scope) -> Headers:
    """By lower-case name; repeated ones joined, as a list field may be split."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


async def _send(answer: Answer, pieces: Iterator[bytes], receive: Receive, send: Send) -> None:
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    last = next(pieces, b"")
    second = next(pieces, None)
    if second is not None:
        await send({"type": "http.response.body", "body": last, "more_body": True})
        last = await _stream(second, pieces, receive, send)
    await send({"type": "http.response.body", "body": last})


async def _stream(piece: bytes, pieces: Iterator[bytes], receive: Receive, send: Send) -> bytes:
    """Sends all pieces but the last, which is returned; stops when the client is gone.

    Sending to a client that is gone neither fails nor waits, so it has to be noticed.
    """
    gone: asyncio.Future[None] | None = None
    try:
        for following in pieces:
            gone = gone or asyncio.ensure_future(_disconnected(receive))
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = following
            if gone.done():
                return b""
    finally:
        if gone is not None:
            gone.cancel()
    return piece


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _read(
    part: Section | bytes, coding: str, content: Content | None, piece_bytes: Callable[[], int]
) -> Iterable[bytes]:
    if isinstance(part, bytes):
        return (part,)
    if content is None:
        return ()
    file = content.files[coding]
    if part.length > SMALLEST_PIECE_BYTES:
        return _read_long(part, file, piece_bytes)
    # A generator takes longer than reading what is most often a few hundred bytes.
    return (_whole(file.read(part.offset, part.length), part.length),)


def _read_long(part: Section, file: OpenFile, piece_bytes: Callable[[], int]) -> Iterator[bytes]:
    begin = 0
    while begin < part.length:
        length = min(part.length - begin, piece_bytes())
        yield _whole(file.read(part.offset + begin, length), length)
        begin += length


def _whole(piece: bytes, length: int) -> bytes:
    if len(piece) != length:
        raise OSError("catalog file is shorter than its index says")
    return piece
