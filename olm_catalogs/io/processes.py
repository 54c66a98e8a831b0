"""Runs jobs, each in a process of its own, a bounded number at a time."""

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

import orjson

from olm_catalogs.job import MORE_MEMORY, TURN, Job, Result, out_of_memory
from olm_runtime.errors import TerminalError, TransientError, bounded
from olm_runtime.tracing import span

PARSING_AT_ONCE = 2
"""Parsing takes a core and a half each; the serving loop must get its share."""
PROCESSES_AT_ONCE = 16
"""Those that wait for a registry take 30 MiB each, and so many may hang before others wait."""
TIMEOUT_SECONDS = 1800.0
MAX_RESULT_BYTES = 1 << 20

log = logging.getLogger(__name__)


class Processes:
    """Starts a module that calls `ingest.run`, and tells it what to do."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._turns = asyncio.Semaphore(PARSING_AT_ONCE)
        self._processes = asyncio.Semaphore(PROCESSES_AT_ONCE)

    async def run(self, job: Callable[[], Awaitable[Job]]) -> Result:
        """What came of a job, which is asked for while the process loads its modules.

        Raises TerminalError, TransientError with the condition's text.
        """
        async with self._processes:
            result = await self._run(job)
        if result.error and result.blocked:
            raise TerminalError(result.error, hint=result.hint)
        if result.error:
            raise TransientError(result.error, hint=result.hint, after=result.after)
        return result

    async def _run(self, job: Callable[[], Awaitable[Job]]) -> Result:
        process = await _start(self._module)
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                given = await job()
                output = await self._converse(process, given)
                return _result(output, await process.wait(), given)
        except TimeoutError as error:
            raise TransientError(
                f"catalog was not unpacked within {TIMEOUT_SECONDS:.0f} s"
            ) from error
        finally:
            await _stop(process)

    async def _converse(self, process: asyncio.subprocess.Process, job: Job) -> bytes:
        """Hands over the job, grants a turn if one is asked for, takes the result."""
        if process.stdin is None or process.stdout is None:
            raise TransientError("ingest process has no pipes")
        with span("pull", {"olm.image": job.reference}):
            with suppress(ConnectionError):  # it has ended; how, its exit code says
                if not process.stdin.is_closing():  # uvloop has an error of its own for that
                    process.stdin.write(orjson.dumps(job) + b"\n")
                    await process.stdin.drain()
            first = await process.stdout.readline()
        if first != TURN:
            return first + await process.stdout.read()
        with span("unpack"):
            async with self._turns:
                process.stdin.write(TURN)
                return await process.stdout.read()


async def _start(module: str) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_RESULT_BYTES,
        )
    except OSError as error:
        raise TransientError(f"no process can be started to unpack: {error.strerror}") from error


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ends what was cancelled: the folder it wrote to is cleaned by the next attempt."""
    if process.returncode is None:
        process.kill()
        await process.wait()


def _result(output: bytes, code: int, job: Job) -> Result:
    try:
        return Result(**orjson.loads(output))
    except (orjson.JSONDecodeError, TypeError) as error:
        said = bounded(repr(output), 200)
        log.warning("catalog %s: %s; it said %s", job.catalog, _ending(code, job), said)
        raise TransientError(_ending(code, job), hint=MORE_MEMORY if code < 0 else "") from error


def _ending(code: int, job: Job) -> str:
    """Why a process ended that could not say it itself: libraries die when there is no memory."""
    if code >= 0:
        return f"unpacking ended unexpectedly (exit code {code})"
    name = signal.Signals(-code).name
    if -code == signal.SIGKILL:
        return (
            f"unpacking was ended by {name}, most likely because the container has no memory left"
        )
    return f"unpacking was ended by {name}, most likely because {out_of_memory(job)}"
