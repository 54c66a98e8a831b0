"""A forward proxy as companies have them, to test what goes through one and what does not."""

import asyncio
import base64
import ssl
from typing import Self


class ForwardProxy:
    """CONNECT, and requests with whole addresses; every name leads to this machine."""

    def __init__(
        self, *, user: str = "", tls: ssl.SSLContext | None = None, refusal: str | None = None
    ) -> None:
        """`refusal` is the status of every answer; if it is empty, there is none."""
        self.asked: list[str] = []
        self.address = ""
        self._user = user
        self._tls = tls
        self._refusal = refusal
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split("\r\n", 1)[0].split()
        self.asked.append(f"{method} {target}")
        pair = base64.b64encode(self._user.encode()).decode()
        if self._user and f"proxy-authorization: basic {pair}".lower() not in head.lower():
            _refuse(writer, "407 Who are you")
            return
        if self._refusal is not None:
            _refuse(writer, self._refusal)
            return
        place, _, path = target.removeprefix("http://").partition("/")
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", place.split(":")[1])
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            rest = head.split("\r\n", 1)[1].replace("keep-alive", "close")
            far_writer.write(f"{method} /{path} HTTP/1.1\r\n{rest}".encode())
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        except (ConnectionError, ssl.SSLError):
            pass  # either side had enough
        finally:
            far_writer.close()
            writer.close()


def _refuse(writer: asyncio.StreamWriter, status: str) -> None:
    if status:
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()
