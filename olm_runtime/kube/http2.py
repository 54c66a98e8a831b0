"""Many long answers over few connections, by HTTP/2.

Over HTTP/1.1 each watch needs a connection of its own: 60 KiB here for its TLS session, a handshake
and more memory at the server. The protocol itself is in `http2_frames.py`; here are its connections
to the API server and the answers that come over them.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence

from yarl import URL

from olm_runtime.kube.http2_frames import (
    Begun,
    BrokenProtocolError,
    Ended,
    Event,
    Frames,
    Leaving,
    Part,
    Ready,
)

ALPN = "h2"
WINDOW_BYTES = 4 << 20
"""What may come over a connection before it is taken note of. Answers have windows of their own,
so one that nobody reads holds up no other."""
NOTE_BYTES = 16 << 10
"""Read of an answer before the server is let send more of it; it may send 64 KiB ahead."""
GIVEN_UP = "the connection was closed"


class Stream:
    """One answer: its status once that is there, then its content."""

    __slots__ = (
        "_connection",
        "_ended",
        "_error",
        "_number",
        "_parts",
        "_unnoted",
        "_wake",
        "status",
    )

    def __init__(self, connection: "Connection", number: int) -> None:
        self.status = 0
        self._connection, self._number = connection, number
        self._parts: list[bytes] = []  # an empty deque has 600 bytes
        self._wake: asyncio.Future[None] | None = None
        self._ended = False
        self._error = ""
        self._unnoted = 0

    async def answered(self, seconds: float) -> None:
        """Waits for the status. Raises ConnectionError, TimeoutError."""
        while not self.status:
            if self._ended:
                raise ConnectionError(self._error or "no answer")
            await self._woken(seconds)

    async def chunks(self, seconds: float) -> AsyncIterator[bytes]:
        """The content as it comes. Raises ConnectionError; TimeoutError after so long a silence."""
        while True:
            while self._parts:
                part = self._parts.pop(0)
                self._note(len(part))
                yield part
            if self._error:
                raise ConnectionError(self._error)
            if self._ended:
                return
            await self._woken(seconds)

    def close(self) -> None:
        """Has the server send no more. Idempotent."""
        self._parts.clear()
        if not self._ended:
            self._ended = True
            self._connection.cancel(self._number)

    def feed(self, part: bytes) -> None:
        """Takes in content."""
        self._parts.append(part)
        self.wake()

    def begin(self, status: int) -> None:
        """Takes in the status."""
        self.status = status
        self.wake()

    def end(self, error: str = "") -> None:
        """There is no more; `error` says why, if that is not how it should be."""
        if not self._ended:
            self._ended, self._error = True, error
            self.wake()

    def wake(self) -> None:
        """Has the reader look again."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _woken(self, seconds: float) -> None:
        self._wake = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._wake
        except TimeoutError:
            silent = f"nothing came for {seconds:g} s"
            self._connection.close(silent)  # it is dead: what asked anew over it would wait again
            raise TimeoutError(silent) from None
        finally:
            self._wake = None

    def _note(self, read: int) -> None:
        self._unnoted += read
        if self._unnoted >= NOTE_BYTES and not self._ended:
            self._connection.note_read(self._unnoted, self._number)
            self._unnoted = 0


class Connection(asyncio.Protocol):
    """One connection and its answers; it is closed with the last of them."""

    def __init__(self) -> None:
        self._frames = Frames(WINDOW_BYTES)
        self._streams: dict[int, Stream] = {}
        self._transport: asyncio.Transport | None = None
        self._unnoted = 0
        self._most = 0
        self._is_to_send = False
        self.ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """True once the server said how many answers it sends at once; False without HTTP/2."""
        self.open = True
        """Whether it takes requests."""

    @property
    def has_room(self) -> bool:
        """Whether one more answer may come over it."""
        return self.open and len(self._streams) < self._most

    def request(self, headers: Sequence[tuple[str, str]]) -> Stream:
        """Asks; only where there is room."""
        number = self._frames.request(headers)
        stream = self._streams[number] = Stream(self, number)
        self._flush()
        return stream

    def cancel(self, number: int) -> None:
        """Has the server send no more of an answer."""
        if number in self._streams:
            self._frames.cancel(number)
            self._flush()
            self._finish(number)

    def note_read(self, size: int, number: int) -> None:
        """Lets the server send so much more of an answer."""
        if self.open and number in self._streams:
            self._frames.allow(number, size)
            self._flush()

    def close(self, reason: str = GIVEN_UP) -> None:
        """Ends it and all of its answers. Idempotent."""
        self.open = False
        if self._transport is not None:
            self._transport.abort()
        if not self.ready.done():
            self.ready.set_exception(ConnectionError(reason))
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.end(reason)

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins to speak HTTP/2 where the server does."""
        self._transport = transport  # type: ignore[assignment]
        session: ssl.SSLObject = transport.get_extra_info("ssl_object")
        if session.selected_alpn_protocol() != ALPN:
            self.open = False
            self.ready.set_result(False)
            return
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Hands on what came."""
        try:
            events = self._frames.receive(data)
        except BrokenProtocolError as error:
            self.close(f"the server breaks HTTP/2: {error}")
            return
        for event in events:
            self._take(event)
        if self.open:
            self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        """All answers end."""
        self.close(str(error or "the server closed the connection"))

    def _take(self, event: Event) -> None:
        match event:
            case Part(number, content, size):
                self._note_received(size)
                if content and number in self._streams:
                    self._streams[number].feed(content)
            case Begun(number, status):
                if number in self._streams:
                    self._streams[number].begin(status)
            case Ended(number, error):
                self._finish(number, error)
            case Ready(most):
                self._most = most
                if not self.ready.done():
                    self.ready.set_result(True)
            case Leaving():
                # Watches go on where they were, over another connection.
                self.close("the server is closing the connection")

    def _finish(self, number: int, error: str = "") -> None:
        stream = self._streams.pop(number, None)
        if stream is not None:
            stream.end(error)
            if not self._streams:
                self.close()

    def _note_received(self, size: int) -> None:
        self._unnoted += size
        if self._unnoted >= WINDOW_BYTES // 2:
            self._frames.allow(0, self._unnoted)
            self._unnoted = 0

    def _flush(self) -> None:
        """Sends with what else this turn of the loop has to send: each write is a TLS record."""
        if not self._is_to_send:
            self._is_to_send = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_to_send = False
        data = self._frames.to_send()
        if data and self.open and self._transport is not None:
            self._transport.write(data)


class Connections:
    """As many connections to one server as its answers need; inside one running loop."""

    def __init__(self, server: URL, tls: Callable[[], ssl.SSLContext]) -> None:
        """Opens none yet."""
        self._host, self._port = str(server.host), server.port or 443
        self._tls = tls
        self._open: list[Connection] = []
        self._connecting = asyncio.Lock()
        self._context: ssl.SSLContext | None = None
        self._spoken = True

    async def get(
        self, url: URL, headers: Sequence[tuple[str, str]], *, connect_seconds: float
    ) -> Stream | None:
        """Asks for `url`; None where the server speaks no HTTP/2.

        Raises OSError: also ConnectionError, TimeoutError.
        """
        connection = await self._with_room(connect_seconds)
        if connection is None:
            return None
        asked = [
            (":method", "GET"),
            (":scheme", url.scheme),
            (":authority", url.authority),
            (":path", url.raw_path_qs),
            *((name.lower(), value) for name, value in headers),
        ]
        return connection.request(asked)

    async def _with_room(self, seconds: float) -> Connection | None:
        async with self._connecting:
            self._open = [each for each in self._open if each.open]
            for each in self._open:
                if each.has_room:
                    return each
            if not self._spoken:
                return None
            async with asyncio.timeout(seconds):
                made = await self._connect()
        return made

    async def _connect(self) -> Connection | None:
        if self._context is None:
            self._context = self._tls()
            self._context.set_alpn_protocols([ALPN, "http/1.1"])
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(
            Connection, self._host, self._port, ssl=self._context
        )
        try:
            self._spoken = await made.ready
        except BaseException:
            made.close()
            raise
        if not self._spoken:
            made.close()
            return None
        self._open.append(made)
        return made

    def close(self) -> None:
        """Ends all of them."""
        for each in self._open:
            each.close()
        self._open.clear()
