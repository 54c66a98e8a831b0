"""A registry that means harm: it answers as it is set up to, and records the requests."""

import asyncio
import hashlib
import json
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Self

Answer = bytes | Callable[[], AsyncIterator[bytes]]
"""Everything that goes over the wire, or how it is made piece by piece."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: method, target, headers by lower-case name, and body."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes = b""


@dataclass(slots=True)
class Evil:
    """Answers by the first key of `routes` that is in the target; 404 otherwise."""

    routes: dict[str, Answer]
    asked: list[Asked] = field(default_factory=list)
    address: str = ""
    tls: ssl.SSLContext | None = None
    _server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = (line.partition(":") for line in head[1:] if line)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            method, target, _ = head[0].split()
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            self.asked.append(Asked(method, target, headers, body))
            await self._answer(self.choose(self.asked[-1]), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client had enough
        finally:
            writer.close()

    def choose(self, asked: Asked) -> Answer:
        """The answer to a request."""
        found = (answer for key, answer in self.routes.items() if key in asked.target)
        return next(found, reply(b"", status="404 Not Found"))

    async def _answer(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        if isinstance(answer, bytes):
            writer.write(answer.replace(b"$HOST", self.address.encode()))
        else:
            async for piece in answer():
                writer.write(piece)
                await writer.drain()
        await writer.drain()


def reply(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An honest answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def endless(piece: bytes = b"x" * 65536) -> Answer:
    """An answer that never ends."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        while True:
            yield piece

    return pieces


def digest_of(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def descriptor(data: bytes, **changes: Any) -> dict[str, Any]:
    return {"mediaType": "m", "digest": digest_of(data), "size": len(data), **changes}


CONFIG = b"{}"


def manifest(**changes: Any) -> bytes:
    """An image manifest without layers, unless given."""
    document = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor(CONFIG),
        "layers": [],
        **changes,
    }
    return json.dumps(document).encode()
