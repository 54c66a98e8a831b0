"""HTTP/1.1 as bytes: a request, and the reader of its answer. Pure; others connect and send."""

import zlib
from typing import NamedTuple
from urllib.parse import urlsplit

from httptools import HttpParserError, HttpResponseParser

from olm_runtime.kube.exchange import Headers, Reply, UnreachableError

USER_AGENT = "olm"
CLOSED = "the server closed the connection"
_GZIP = 16 + zlib.MAX_WBITS


class Server(NamedTuple):
    """Where a server is, as its URL has it."""

    host: str
    port: int
    authority: str
    """As the header Host has it."""
    is_secure: bool

    @classmethod
    def of(cls, url: str) -> "Server":
        """Raises ValueError."""
        parts = urlsplit(url)
        is_secure = parts.scheme == "https"
        port = parts.port or (443 if is_secure else 80)
        return cls(parts.hostname or "", port, parts.netloc.rpartition("@")[2], is_secure)

    def request(
        self, method: str, url: str, headers: Headers = (), body: bytes | None = None
    ) -> bytes:
        """A request; `url` is quoted. Raises UnreachableError for what no header may hold."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        length = () if body is None else (("Content-Length", str(len(body))),)
        own = (("Host", self.authority), ("User-Agent", USER_AGENT), ("Accept-Encoding", "gzip"))
        lines = [f"{name}: {value}" for name, value in (*own, *headers, *length)]
        head = [f"{method} {target} HTTP/1.1", *lines]
        if any("\r" in line or "\n" in line for line in head):
            raise UnreachableError("a header of the request has a line break in it")
        return "\r\n".join([*head, "", ""]).encode("utf-8") + (body or b"")


class AnswerReader:
    """Reads the answer to one request."""

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self._reason, self._headers, self._parts = b"", list[tuple[str, str]](), list[bytes]()
        self._ends_with_connection = self._is_whole = False
        self.reply: Reply | None = None
        """The answer, once it is there as a whole."""
        self.is_begun = False
        """Whether something came of it."""
        self.is_reusable = False
        """Whether the connection carries another request after it."""

    def feed(self, data: bytes) -> None:
        """Reads on. Raises UnreachableError for what is no HTTP."""
        self.is_begun = True
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            raise UnreachableError(f"the server breaks HTTP: {error}") from error
        self._read_whole()

    def end(self) -> None:
        """The connection has ended, and with it perhaps the answer. Raises UnreachableError."""
        self._is_whole = self._is_whole or self._ends_with_connection
        self._read_whole()

    def _read_whole(self) -> None:
        if self._is_whole and self.reply is None:
            content = b"".join(self._parts)
            reason, headers = self._reason.decode("latin-1"), tuple(self._headers)
            reply = Reply(self._parser.get_status_code(), reason, headers, content)
            self.reply = _unpacked(reply)

    # What the parser calls

    def on_status(self, text: bytes) -> None:
        """The reason of a status, perhaps in pieces."""
        self._reason += text

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Content follows; without a length it is as long as the connection (RFC 9112, 6.3)."""
        names = {name.lower() for name, _ in self._headers}
        self._ends_with_connection = not names & {"content-length", "transfer-encoding"}

    def on_body(self, part: bytes) -> None:
        """A piece of the content."""
        self._parts.append(part)

    def on_message_complete(self) -> None:
        """The answer is there."""
        self._is_whole, self.is_reusable = True, self._parser.should_keep_alive()


def _unpacked(reply: Reply) -> Reply:
    """Raises UnreachableError."""
    if reply.header("content-encoding", "") != "gzip":
        return reply
    try:
        return reply._replace(content=zlib.decompress(reply.content, _GZIP))
    except zlib.error as error:
        raise UnreachableError(f"the answer cannot be unpacked: {error}") from error
