"""Where every error of a reconcile is caught, in both programs, and becomes an outcome.

An outcome is written into a condition and acted on by the work queue. An error that is none of
ours is a fault of the program or of the machine: it is logged whole, and tried again with back-off.
"""

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

from olm_runtime.errors import OLMError, bounded
from olm_runtime.outcome import Failed, Retry, outcome_of

T = TypeVar("T")

log = logging.getLogger(__name__)


async def attempt(work: Awaitable[T], what: str) -> T | Failed:
    """What work gives, or how it failed; `what` names it in the log.

    Only the end of the program gets through, as asyncio.CancelledError.
    """
    try:
        return await work
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - what is not ours is logged
        return failure_of(error, what)


def failure_of(error: Exception | asyncio.CancelledError, what: str) -> Failed:
    """How the work failed that raised `error`, to be asked where that was caught."""
    if isinstance(error, OLMError):
        # Frames that it went through may hold it: it would stay until cycles are looked for.
        error.__traceback__ = None
        return outcome_of(error)
    if isinstance(error, asyncio.CancelledError):
        if _is_being_cancelled():
            raise error
        # Work that was shared with others was cancelled, not this: it goes on.
        log.error("handling of %s was cut short", what, exc_info=error)
        return Retry("cut short by work that was cancelled; see the log of the controller")
    log.error("unexpected failure while handling %s", what, exc_info=error)
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return Retry(bounded(f"{error.strerror}{where}"))
    return Retry(f"internal error ({type(error).__name__}); see the log of the controller")


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
