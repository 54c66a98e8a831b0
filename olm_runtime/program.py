"""What every long-running program needs: signals, threads, a last word."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvloop

from olm_runtime.errors import OLMError, bounded, of_system

THREADS = 64
"""For blocking work."""
LIBUV_THREADS = 32
"""For lookups of names, which may take half of them. A name server that does not answer holds each
for many seconds: by default there are four, and everybody would wait."""

log = logging.getLogger(__name__)


def run(main: Callable[[], Awaitable[None]]) -> None:
    """Runs a program until SIGTERM or SIGINT; exit code 1 with one message for what ends it."""
    os.environ.setdefault("UV_THREADPOOL_SIZE", str(LIBUV_THREADS))
    try:
        uvloop.run(_until_signal(main))
    except OLMError as error:
        sys.exit(f"error: {error.describe()}")
    except OSError as error:
        sys.exit(f"error: {of_system(error).describe()}")
    except Exception as error:
        log.debug("where it happened", exc_info=True)
        sys.exit(
            bounded(f"error: unexpected {type(error).__name__}: {error}")
            + "\nhint: this is a fault of the program; please report it, with the log of -v=4"
        )


async def _until_signal(main: Callable[[], Awaitable[None]]) -> None:
    task = asyncio.ensure_future(main())
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_fault)
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="blocking"))
    asked = asyncio.Event()

    def stop() -> None:
        if not asked.is_set():  # a second signal must not cut the cleaning up short
            asked.set()
            _look_for_no_cycles()
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not asked.is_set():
            raise  # nobody asked for it: an error, not an end
        log.info("stopped")
    except BaseExceptionGroup as group:
        raise _first(group) from group


def _look_for_no_cycles() -> None:
    """In a process that ends: with thousands of watches to cancel it takes longer than all else."""
    gc.disable()
    gc.freeze()


def _log_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """In one line where uvloop reports a connection that was cut: its user gets the error."""
    if "protocol" in context or "transport" in context:
        log.warning("a connection ended: %s: %s", context["message"], context.get("exception"))
    else:
        loop.default_exception_handler(context)


def _first(group: BaseExceptionGroup) -> BaseException:
    """The first error of a group of tasks: the others were cancelled because of it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
