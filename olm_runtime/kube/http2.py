"""Many long answers over few connections, by HTTP/2.

Over HTTP/1.1 each watch needs a connection of its own: 60 KiB here for its TLS session, a handshake
and more memory at the server. The protocol itself is h2's; here are its connections to the API
server and the answers that come over them.
"""

import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import hpack
from yarl import URL

ALPN = "h2"
WINDOW_BYTES = 4 << 20
"""What may come over a connection before it is taken note of. Answers have windows of their own,
so one that nobody reads holds up no other."""
NOTE_BYTES = 16 << 10
"""Read of an answer before the server is let send more of it; it may send 64 KiB ahead."""
GIVEN_UP = "the connection was closed"
ENDED = 256
"""More than end while an answer is on its way: a server sends a hundred at once, or a few more."""
SUCCESS = (hpack.HeaderTuple(b":status", b"200"),)
SUCCESS_BYTES = (b"\x88", b"\x20\x88")
"""How headers with that status begin: perhaps after the size of the table, which is nothing."""


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
        "silent_at",
        "status",
    )

    def __init__(self, connection: "Connection", number: int) -> None:
        self.status = 0
        self.silent_at = math.inf
        """Until when something has to come, by the loop's clock."""
        self._connection, self._number = connection, number
        self._parts: list[bytes] = []  # an empty deque has 600 bytes
        self._wake: asyncio.Future[None] | None = None
        self._ended = False
        self._error = ""
        self._unnoted = 0

    async def answered(self, seconds: float) -> None:
        """Waits for the status. Raises ConnectionError, also after so long a silence."""
        while not self.status:
            if self._ended:
                raise ConnectionError(self._error or "no answer")
            await self._woken(seconds)

    async def chunks(self, seconds: float) -> AsyncIterator[bytes]:
        """The content as it comes. Raises ConnectionError, also after so long a silence."""
        while True:
            while self._parts:
                yield self._read()  # a name for it would hold it until there is more
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
        loop = asyncio.get_running_loop()
        self._wake = loop.create_future()
        self.silent_at = loop.time() + seconds
        self._connection.look_at(self.silent_at, seconds)
        try:
            await self._wake
        finally:
            self._wake, self.silent_at = None, math.inf

    def _read(self) -> bytes:
        part = self._parts.pop(0)
        self._unnoted += len(part)
        if self._unnoted >= NOTE_BYTES and not self._ended:
            self._connection.note_read(self._unnoted, self._number)
            self._unnoted = 0
        return part


class _Literal(hpack.Encoder):
    """Writes headers as they are: Huffman's code, in Python, takes a millisecond for a token."""

    def encode(self, headers: Any, huffman: bool = False) -> bytes:
        """Those of one request."""
        return super().encode(headers, huffman=huffman)


class _StatusOnly(hpack.Decoder):
    """Of the headers of a success reads no more than that: their Huffman code takes as long.

    Servers are asked to keep no table of headers, so that none stands for what was not read.
    """

    def __init__(self) -> None:
        super().__init__()
        self.max_allowed_table_size = self.header_table_size = 0

    def decode(self, data: bytes, raw: bool = False) -> Iterable[hpack.HeaderTuple]:
        """Those of one answer."""
        return SUCCESS if data.startswith(SUCCESS_BYTES) else super().decode(data, raw)


class _H2Connection(h2.connection.H2Connection):
    """h2's own, that remembers how the last answers ended: something of them may still come.

    By itself h2 remembers 65 536 of each connection, with 200 bytes for each: with thousands of
    watches, which begin anew in five to ten minutes, it would grow for days.
    """

    MAX_CLOSED_STREAMS = ENDED


class Connection(asyncio.Protocol):
    """One connection and its answers; it is closed with the last of them."""

    def __init__(self, closed: Callable[["Connection"], None]) -> None:
        """`closed` is called with it, perhaps more than once."""
        self._closed = closed
        config = h2.config.H2Configuration(
            client_side=True,
            header_encoding="utf-8",
            # `Connections` writes them as they are to be.
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
            # Of an answer's only the status is looked at.
            validate_inbound_headers=False,
            normalize_inbound_headers=False,
        )
        self._h2 = _H2Connection(config)
        self._h2.encoder, self._h2.decoder = _Literal(), _StatusOnly()
        self._streams: dict[int, Stream] = {}
        self._transport: asyncio.Transport | None = None
        self._unnoted = 0
        self._most = 0
        self._is_to_send = False
        self._look: asyncio.TimerHandle | None = None
        """One for all answers: a timer for each would have as much memory as the answer."""
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
        number = self._h2.get_next_available_stream_id()
        self._h2.send_headers(number, list(headers), end_stream=True)
        stream = self._streams[number] = Stream(self, number)
        self._flush()
        return stream

    def cancel(self, number: int) -> None:
        """Has the server send no more of an answer."""
        if number in self._streams:
            self._h2.reset_stream(number, h2.errors.ErrorCodes.CANCEL)
            self._flush()
            self._finish(number)

    def note_read(self, size: int, number: int) -> None:
        """Lets the server send so much more of an answer."""
        if self.open and number in self._streams:
            self._h2.increment_flow_control_window(size, number)
            self._flush()

    def look_at(self, moment: float, seconds: float) -> None:
        """Has it closed if an answer says nothing until then, which is so many seconds."""
        if self._look is not None:
            if self._look.when() <= moment:
                return
            self._look.cancel()
        loop = asyncio.get_running_loop()
        self._look = loop.call_at(moment, self._look_for_silence, seconds)

    def _look_for_silence(self, seconds: float) -> None:
        """What asked anew over a connection that is dead would wait again."""
        self._look = None
        next_one = min((each.silent_at for each in self._streams.values()), default=math.inf)
        if next_one <= asyncio.get_running_loop().time():
            self.close(f"nothing came for {seconds:g} s")
        elif next_one < math.inf:
            self.look_at(next_one, seconds)

    def close(self, reason: str = GIVEN_UP) -> None:
        """Ends it and all of its answers. Idempotent."""
        self.open = False
        self._closed(self)
        if self._look is not None:
            self._look.cancel()
            self._look = None
        if self._transport is not None:
            self._transport.abort()
            self._transport = None
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
        self._h2.local_settings = h2.settings.Settings(
            client=True,
            initial_values={
                h2.settings.SettingCodes.ENABLE_PUSH: 0,
                h2.settings.SettingCodes.HEADER_TABLE_SIZE: 0,
            },
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(WINDOW_BYTES)
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Hands on what came."""
        try:
            events = self._h2.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            self.close(f"the server breaks HTTP/2: {error}")
            return
        for event in events:
            self._take(event)
        if self.open:
            self._flush()

    def connection_lost(self, error: Exception | None) -> None:
        """All answers end."""
        self.close(str(error or "the server closed the connection"))

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RemoteSettingsChanged():
                self._most = self._h2.remote_settings.max_concurrent_streams
                if not self.ready.done():
                    self.ready.set_result(True)
            case h2.events.ConnectionTerminated():
                # h2 reads nothing after it. Watches go on where they were, over another connection.
                self.close("the server is closing the connection")
            case h2.events.ResponseReceived(stream_id=number, headers=headers):
                if number in self._streams:
                    self._streams[number].begin(_status(headers))
            case h2.events.DataReceived(stream_id=number, data=data):
                self._note_received(event.flow_controlled_length or 0)
                if data and number in self._streams:
                    self._streams[number].feed(data)
            case h2.events.StreamEnded(stream_id=number):
                self._finish(number)
            case h2.events.StreamReset(stream_id=number, error_code=code):
                self._finish(number, f"the server reset it: {_name_of(code)}")

    def _finish(self, number: int | None, error: str = "") -> None:
        stream = self._streams.pop(number or 0, None)
        if stream is not None:
            stream.end(error)
            if not self._streams:
                self.close()

    def _note_received(self, size: int) -> None:
        self._unnoted += size
        if self._unnoted >= WINDOW_BYTES // 2:
            self._h2.increment_flow_control_window(self._unnoted)
            self._unnoted = 0

    def _flush(self) -> None:
        """Sends with what else this turn of the loop has to send: each write is a TLS record."""
        if not self._is_to_send:
            self._is_to_send = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_to_send = False
        data = self._h2.data_to_send()
        if data and self.open and self._transport is not None:
            self._transport.write(data)


def _status(headers: Iterable[tuple[Any, Any]] | None) -> int:
    """Headers are text, as the connection is configured; h2's types say bytes."""
    return int(dict(headers or ())[":status"])


def _name_of(code: int | None) -> str:
    return code.name if isinstance(code, h2.errors.ErrorCodes) else f"error {code}"


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
            lambda: Connection(self._forget), self._host, self._port, ssl=self._context
        )
        try:
            self._spoken = await made.ready
        except BaseException:
            made.close()
            raise
        if not self._spoken:
            made.close()
            return None
        if not made.open:
            raise ConnectionError(GIVEN_UP)
        self._open.append(made)
        return made

    def _forget(self, connection: Connection) -> None:
        """One that is closed, and with it what HTTP/2 and TLS know of its answers."""
        if connection in self._open:
            self._open.remove(connection)

    def close(self) -> None:
        """Ends all of them."""
        for each in tuple(self._open):
            each.close()
