"""What a request to the API server is answered, whatever client of HTTP carries it."""

from collections.abc import Sequence
from errno import ECONNREFUSED
from typing import NamedTuple, Protocol

Headers = Sequence[tuple[str, str]]


class Reply(NamedTuple):
    """An answer as a whole."""

    status: int
    reason: str
    headers: Headers
    content: bytes

    def header(self, name: str, default: str) -> str:
        """The first header of a name, in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), default)


class UnreachableError(Exception):
    """There is no answer; `untrusted` says that the server's certificate is why."""

    def __init__(self, message: str, *, untrusted: bool = False) -> None:
        super().__init__(message)
        self.untrusted = untrusted


class Bounds(NamedTuple):
    """Seconds to connect, and in all; None for no bound."""

    connect: float
    total: float | None


class Requests(Protocol):
    """Connections to one server."""

    async def send(
        self, method: str, url: str, headers: Headers, body: bytes | None, bounds: Bounds
    ) -> Reply:
        """Asks; `url` is quoted. Raises UnreachableError, TimeoutError."""

    async def close(self) -> None:
        """Ends all of them."""


def place(host: object, port: object, error: OSError) -> str:
    """Where a connection failed, and why."""
    refused = f"[Errno {ECONNREFUSED}]" in str(error)  # of several addresses there is a text alone
    return f"{host}:{port}: {'connection refused' if refused else error}"
