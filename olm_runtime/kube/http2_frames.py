"""HTTP/2 as bytes (RFC 9113), for a client that asks without content and reads answers. Pure.

h2 has all of the protocol, and takes half of the processor time of a watch. Here is what a client
of answers needs of it. Servers are told to keep no table of headers (RFC 7541), so that those of an
answer, of which only the status is wanted, need not be read. What is sent is compressed by hpack.
"""

import struct
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
MAX_FRAME_BYTES = 1 << 14
MAX_HEADER_BYTES = 1 << 16
INITIAL_WINDOW_BYTES = (1 << 16) - 1
"""What a server may send of an answer, and over a connection, before it is let send more."""
UNLIMITED = 1 << 31

_HEAD = struct.Struct(">LBL")
"""The length and the kind of a frame, its flags, and the number of its answer."""
_NUMBER = struct.Struct(">L")
_SETTING = struct.Struct(">HL")
_ACK = _END_STREAM = 0x1
_END_HEADERS, _PADDED, _PRIORITY = 0x4, 0x8, 0x20
_PRIORITY_BYTES = 5
_HEADER_TABLE_SIZE, _ENABLE_PUSH, _MOST_STREAMS = 1, 2, 3
_SUCCESS = (b"\x88", b"\x20\x88")
"""How headers with status 200 begin: perhaps after the size of the table, which is nothing."""
_NOT_INDEXED = frozenset({":path", "impersonate-user"})
"""Other in each request: in the table they would take the place of what is the same in all."""


class Kind(IntEnum):
    """Of a frame."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class ErrorCode(IntEnum):
    """Why an answer or a connection ends (RFC 9113, 7)."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    SETTINGS_TIMEOUT = 4
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    CONNECT_ERROR = 10
    ENHANCE_YOUR_CALM = 11
    INADEQUATE_SECURITY = 12
    HTTP_1_1_REQUIRED = 13


class BrokenProtocolError(Exception):
    """What came is no HTTP/2, or more than was allowed; the connection cannot be used any more."""


class Ready(NamedTuple):
    """The server says how many answers it sends at once."""

    most: int


class Begun(NamedTuple):
    """An answer has begun."""

    number: int
    status: int


class Part(NamedTuple):
    """Content of an answer; of one that was given up, too, for which `content` is empty.

    `size`: what counts of it against what the server may send over the connection.
    """

    number: int
    content: bytes
    size: int


class Ended(NamedTuple):
    """An answer has ended; `error` says why, if that is not how it should be."""

    number: int
    error: str = ""


class Leaving(NamedTuple):
    """The server is closing the connection."""


Event = Ready | Begun | Part | Ended | Leaving


class Frames:
    """One connection: what is to be sent, and what the bytes that come mean."""

    def __init__(self, window: int) -> None:
        """`window`: how much may come over the connection, above the initial one."""
        self._encoder, self._decoder = hpack.Encoder(), hpack.Decoder(MAX_HEADER_BYTES)
        self._decoder.max_allowed_table_size = self._decoder.header_table_size = 0
        self._received = bytearray()
        self._sent = bytearray(PREFACE)
        self._next = 1
        self._most = UNLIMITED
        self._windows: dict[int, int] = {}
        """How much may still come of each open answer."""
        self._window = INITIAL_WINDOW_BYTES
        self._headers: tuple[int, int, bytearray] | None = None
        """Of an answer whose headers are not complete: its number, their flags and so far they."""
        settings = _SETTING.pack(_HEADER_TABLE_SIZE, 0) + _SETTING.pack(_ENABLE_PUSH, 0)
        self._send(Kind.SETTINGS, 0, 0, settings)
        self.allow(0, window)

    def request(self, headers: Iterable[tuple[str, str]]) -> int:
        """Asks; the number of the answer."""
        number, self._next = self._next, self._next + 2
        self._windows[number] = INITIAL_WINDOW_BYTES
        fields = ((name, value, name in _NOT_INDEXED) for name, value in headers)
        # Huffman's code, in Python, takes a millisecond for a token.
        block = self._encoder.encode(fields, huffman=False)
        pieces = [block[i : i + MAX_FRAME_BYTES] for i in range(0, len(block), MAX_FRAME_BYTES)]
        for i, piece in enumerate(pieces):
            kind, flags = (Kind.CONTINUATION, 0) if i else (Kind.HEADERS, _END_STREAM)
            self._send(kind, flags | (_END_HEADERS if i == len(pieces) - 1 else 0), number, piece)
        return number

    def cancel(self, number: int) -> None:
        """Has the server send no more of an answer."""
        if self._windows.pop(number, None) is not None:
            self._send(Kind.RST_STREAM, 0, number, _NUMBER.pack(ErrorCode.CANCEL))

    def allow(self, number: int, size: int) -> None:
        """Lets the server send so much more of an answer, or over the connection for number 0."""
        if not number:
            self._window += size
        elif number in self._windows:
            self._windows[number] += size
        else:
            return
        self._send(Kind.WINDOW_UPDATE, 0, number, _NUMBER.pack(size))

    def to_send(self) -> bytes:
        """What is to be sent, once."""
        sent, self._sent = bytes(self._sent), bytearray()
        return sent

    def receive(self, data: bytes) -> Sequence[Event]:
        """What came. Raises BrokenProtocolError."""
        buffer, at = self._received, 0
        buffer += data
        events: list[Event] = []
        while len(buffer) - at >= _HEAD.size:
            head, flags, number = _HEAD.unpack_from(buffer, at)
            begin = at + _HEAD.size
            end = begin + (head >> 8)
            if end - begin > MAX_FRAME_BYTES:
                raise BrokenProtocolError(f"a frame of {end - begin} bytes")
            if end > len(buffer):
                break
            at = end
            self._take(head & 0xFF, flags, number & 0x7FFFFFFF, bytes(buffer[begin:end]), events)
        del buffer[:at]
        return events

    def _send(self, kind: Kind, flags: int, number: int, content: bytes) -> None:
        self._sent += _HEAD.pack(len(content) << 8 | kind, flags, number) + content

    def _take(self, kind: int, flags: int, number: int, content: bytes, to: list[Event]) -> None:
        if (self._headers is not None) != (kind == Kind.CONTINUATION):
            raise BrokenProtocolError("headers that do not end, or begin")
        if kind in _OF_ANSWERS:
            if not number % 2 or number >= self._next:
                raise BrokenProtocolError(f"answer {number}, which nobody asked for")
            self._take_of_answer(kind, flags, number, content, to)
        else:
            if kind in _OF_CONNECTIONS and number:
                raise BrokenProtocolError(f"answer {number}, in what is of the connection")
            self._take_of_connection(kind, flags, content, to)

    def _take_of_answer(
        self, kind: int, flags: int, number: int, content: bytes, to: list[Event]
    ) -> None:
        match kind:
            case Kind.DATA:
                self._take_data(flags, number, content, to)
            case Kind.HEADERS:
                self._headers = number, flags, bytearray(_unpadded(flags, content))
                self._take_headers(flags, to)
            case Kind.CONTINUATION:
                self._take_continuation(flags, number, content, to)
            case Kind.RST_STREAM:
                self._end(number, f"the server reset it: {_name_of(_number(content))}", to)

    def _take_of_connection(self, kind: int, flags: int, content: bytes, to: list[Event]) -> None:
        match kind:
            case Kind.SETTINGS:
                self._take_settings(flags, content, to)
            case Kind.PING if not flags & _ACK:
                self._send(Kind.PING, _ACK, 0, content)
            case Kind.GOAWAY:
                to.append(Leaving())
            case Kind.WINDOW_UPDATE if not _number(content):
                raise BrokenProtocolError("leave to send nothing more")
            case Kind.PUSH_PROMISE:
                raise BrokenProtocolError("an answer that nobody asked for")

    def _take_data(self, flags: int, number: int, content: bytes, to: list[Event]) -> None:
        size = len(content)
        self._window -= size
        window = self._windows.get(number)
        if self._window < 0 or (window is not None and window < size):
            raise BrokenProtocolError("more content than was allowed")
        if window is None:
            to.append(Part(number, b"", size))
            return
        self._windows[number] = window - size
        to.append(Part(number, _unpadded(flags & _PADDED, content), size))
        if flags & _END_STREAM:
            self._end(number, "", to)

    def _take_continuation(self, flags: int, number: int, content: bytes, to: list[Event]) -> None:
        begun, _, block = self._headers or (0, 0, bytearray())
        block += content
        if begun != number or len(block) > MAX_HEADER_BYTES:
            raise BrokenProtocolError("headers of another answer, or too many")
        self._take_headers(flags, to)

    def _take_headers(self, flags: int, to: list[Event]) -> None:
        """Reads headers that are complete."""
        if self._headers is None or not flags & _END_HEADERS:
            return
        (number, first, block), self._headers = self._headers, None
        is_last = bool(first & _END_STREAM)
        status = 200 if block.startswith(_SUCCESS) else self._status(block)
        if not status and not is_last:  # which headers after the content are
            raise BrokenProtocolError("an answer without a status")
        if status >= 200 and number in self._windows:
            to.append(Begun(number, status))
        if is_last:
            self._end(number, "", to)

    def _status(self, block: bytearray) -> int:
        """That of headers; 0 if they have none."""
        try:
            return int(dict(self._decoder.decode(bytes(block), raw=True)).get(b":status", b"0"))
        except (hpack.HPACKError, ValueError) as error:
            raise BrokenProtocolError(f"headers that cannot be read: {error}") from error

    def _take_settings(self, flags: int, content: bytes, to: list[Event]) -> None:
        if flags & _ACK:
            return
        if len(content) % _SETTING.size:
            raise BrokenProtocolError("settings that are cut")
        given = dict(_SETTING.iter_unpack(content))
        if _HEADER_TABLE_SIZE in given:
            known = self._encoder.header_table_size
            self._encoder.header_table_size = min(given[_HEADER_TABLE_SIZE], known)
        self._send(Kind.SETTINGS, _ACK, 0, b"")
        self._most = given.get(_MOST_STREAMS, self._most)
        to.append(Ready(self._most))

    def _end(self, number: int, error: str, to: list[Event]) -> None:
        if self._windows.pop(number, None) is not None:
            to.append(Ended(number, error))


_OF_ANSWERS = frozenset({Kind.DATA, Kind.HEADERS, Kind.RST_STREAM, Kind.CONTINUATION})
_OF_CONNECTIONS = frozenset({Kind.SETTINGS, Kind.PING, Kind.GOAWAY})


def _unpadded(flags: int, content: bytes) -> bytes:
    """The content of a frame without what pads it, and without a priority."""
    if flags & _PADDED:
        if not content or content[0] >= len(content):
            raise BrokenProtocolError("more padding than there is of a frame")
        content = content[1 : len(content) - content[0]]
    return content[_PRIORITY_BYTES:] if flags & _PRIORITY else content


def _number(content: bytes) -> int:
    if len(content) != _NUMBER.size:
        raise BrokenProtocolError(f"{len(content)} bytes in place of a number")
    return int(_NUMBER.unpack(content)[0]) & 0x7FFFFFFF


def _name_of(code: int) -> str:
    return ErrorCode(code).name if code in list(ErrorCode) else f"error {code}"
