"""Why a request got no answer, in words for people."""

import socket

import httpx

from olm_runtime.errors import bounded

MAX_CAUSES = 10


def causes(error: BaseException | None) -> list[BaseException]:
    """The error and what it comes from, the outermost first."""
    found: list[BaseException] = []
    while error is not None and len(found) < MAX_CAUSES:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def reason(error: Exception) -> str:
    """Short, without an address but that of a proxy in the way."""
    if isinstance(error, httpx.ProxyError):
        return bounded(str(error), 200)
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    behind = causes(error)
    if any(isinstance(cause, socket.gaierror) for cause in behind):
        return "its name cannot be resolved"
    if any(isinstance(cause, ConnectionRefusedError) for cause in behind):
        return "connection refused"
    return bounded(str(error), 200) or type(error).__name__
