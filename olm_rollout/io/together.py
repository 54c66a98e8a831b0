"""Work on many objects at once, whose failures are raised as one."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from typing import TypeVar

from olm_runtime.errors import OLMError, TerminalError, TransientError, WaitingError

T = TypeVar("T")


async def together(work: Iterable[Awaitable[T]]) -> list[T]:
    """Lets all of it end, then raises what failed: no task is left running."""
    results = await outcomes(work)
    raise_together([r for r in results if isinstance(r, OLMError)])
    return [r for r in results if not isinstance(r, OLMError)]


async def outcomes(work: Iterable[Awaitable[T]]) -> list[T | OLMError]:
    """Lets all of it end; results and errors in order. Raises what is no OLMError."""
    results = await asyncio.gather(*work, return_exceptions=True)
    found: list[T | OLMError] = []
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, OLMError):
            raise result
        found.append(result)
    return found


def raise_together(failures: Sequence[OLMError]) -> None:
    """Raises several errors as one, sorted, so that conditions do not flap.

    It is one that a person has to act on only when all of them are.
    """
    if not failures:
        return
    if len(failures) == 1:
        raise failures[0]
    waits = [f for f in failures if isinstance(f, WaitingError)]
    lines = "\n".join(sorted(f.describe() for f in failures))
    if len(waits) == len(failures):
        raise WaitingError(lines, seconds=min(w.seconds for w in waits))
    if all(isinstance(f, TerminalError) for f in failures):
        raise TerminalError(lines)
    raise TransientError(lines)
