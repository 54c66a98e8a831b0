"""A line for each request over HTTP, for `-v 6` and more as kubectl has it; headers from 8 on.

Below the level of debugging, so that no program writes them that is only asked to say why.
"""

import logging
import sys
from collections.abc import Iterable

LINES_FROM, HEADERS_FROM = 6, 8
"""The verbosities from which on there are lines, and headers below them."""
_LINES, _HEADERS = logging.DEBUG - 1, logging.DEBUG - 2
_SECRET = {"authorization", "proxy-authorization", "cookie", "set-cookie"}

Headers = Iterable[tuple[str, str]]

log = logging.getLogger(__name__)


def write_requests(verbosity: int) -> None:
    """From now on requests are written to standard error, as the verbosity says."""
    if verbosity < LINES_FROM:
        return
    log.handlers = [logging.StreamHandler(sys.stderr)]
    log.propagate = False
    log.setLevel(_HEADERS if verbosity >= HEADERS_FROM else _LINES)


def are_written() -> bool:
    """Whether requests are to be told of."""
    return log.isEnabledFor(_LINES)


def note_request(
    method: str, url: str, seconds: float, status: str, sent: Headers = (), got: Headers = ()
) -> None:
    """Tells of a request that was answered, or why it was not."""
    address, _, query = url.partition("?")
    if "signature" in query.lower():  # as stores of blobs have it, to which registries redirect
        url = f"{address}?<masked>"
    log.log(_LINES, "%s %s %s in %.0f ms", method, url, status, seconds * 1000)
    if log.isEnabledFor(_HEADERS):
        for mark, headers in ((">", sent), ("<", got)):
            for name, value in headers:
                shown = "<masked>" if name.lower() in _SECRET else value
                log.log(_HEADERS, "  %s %s: %s", mark, name, shown)
