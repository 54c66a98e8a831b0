"""A line for each request over HTTP, for `-v 6` and more as kubectl has it; headers from 8 on.

Commands alone write them. Without `logging`, whose import takes longer than a request.
"""

import sys
from collections.abc import Iterable
from contextlib import suppress

LINES_FROM, HEADERS_FROM = 6, 8
"""The verbosities from which on there are lines, and headers below them."""
_SECRET = {"authorization", "proxy-authorization", "cookie", "set-cookie"}

Headers = Iterable[tuple[str, str]]


class _Verbosity:
    """What the command was asked for."""

    said = 0


def write_requests(verbosity: int) -> None:
    """From now on requests are written to standard error, as the verbosity says."""
    _Verbosity.said = verbosity


def are_written() -> bool:
    """Whether requests are to be logged."""
    return _Verbosity.said >= LINES_FROM


def note_request(
    method: str, url: str, seconds: float, status: str, sent: Headers = (), got: Headers = ()
) -> None:
    """Tells of a request that was answered, or why it was not."""
    address, _, query = url.partition("?")
    if "signature" in query.lower():  # as stores of blobs have it, to which registries redirect
        url = f"{address}?<masked>"
    lines = [f"{method} {url} {status} in {seconds * 1000:.0f} ms"]
    if _Verbosity.said >= HEADERS_FROM:
        for mark, headers in ((">", sent), ("<", got)):
            for name, value in headers:
                shown = "<masked>" if name.lower() in _SECRET else value
                lines.append(f"  {mark} {name}: {shown}")
    with suppress(OSError):  # standard error may be full
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
