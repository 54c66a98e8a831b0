"""One request to a registry or its token server, and what is read of the answer."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit

import httpx
import orjson

from olm_runtime.images.oci import ImageContentError
from olm_runtime.images.reference import ImageRef
from olm_runtime.registry.errors import RegistryError, from_answer

MAX_ERROR_BYTES = 4096
MAX_HOST_LENGTH = 300
LONGEST_WAIT_SECONDS = 900.0
"""A registry that asks for a longer pause is asked again all the same."""
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request to a registry. `body` gives the content anew each time it is sent.

    `link` is a repository from which it links a blob, and which the caller must be allowed to read.
    """

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Callable[[], AsyncIterator[bytes]] | None = None
    link: str = ""


async def once(data: bytes) -> AsyncIterator[bytes]:
    """A body in one piece."""
    yield data


def address_of(ref: ImageRef, where: str, base: str = "") -> str:
    """An address a registry names, as seen from `base`. Raises RegistryError if it is none."""
    try:
        address = urljoin(base, where)
        parts = urlsplit(address)
        _ = parts.port  # refuses numbers that are no port
        valid = len(parts.netloc) <= MAX_HOST_LENGTH  # for errors name it
    except ValueError:
        valid = False
    if not valid:
        raise invalid_address(ref)
    return address


def invalid_address(ref: ImageRef) -> RegistryError:
    """The error for an address that cannot be."""
    return RegistryError(
        f'image "{ref}": registry {ref.registry} has an invalid address, or sends one'
    )


def is_at(url: str, origin: str) -> bool:
    """Whether an address is of that scheme, host and port."""
    return _origin(url) == _origin(origin)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme)


async def read_bounded(answer: httpx.Response, limit: int, what: str) -> bytes:
    """The body of an answer. Raises ImageContentError past `limit` bytes."""
    data = bytearray()
    async for chunk in answer.aiter_raw():
        data += chunk
        if len(data) > limit:
            raise ImageContentError(f"{what} is larger than {limit} bytes")
    return bytes(data)


async def refusal(answer: httpx.Response, ref: ImageRef) -> RegistryError:
    """The error for an answer that is no success; its body is read."""
    text, after = await _error_text(answer), wait_asked(answer.headers)
    return from_answer(answer.status_code, ref, ref.registry, text, after=after)


def wait_asked(headers: Mapping[str, str]) -> float:
    """Seconds after which a server asks to be tried again (Retry-After); 0 if it does not say.

    Where it names a time, its own clock counts: RFC 9110, sections 10.2.3 and 6.6.1.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT_SECONDS)
    try:
        until, now = (parsedate_to_datetime(date) for date in (text, headers.get("Date", "")))
        return min(max((until - now).total_seconds(), 0.0), LONGEST_WAIT_SECONDS)
    except (ValueError, TypeError, OverflowError):
        return 0.0


async def _error_text(answer: httpx.Response) -> str:
    """The first message of an OCI error body, if that is what it is."""
    data = bytearray()
    async for chunk in answer.aiter_raw():
        data += chunk
        if len(data) > MAX_ERROR_BYTES:
            return ""
    try:
        return str(orjson.loads(data)["errors"][0]["message"])
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError):
        return ""
