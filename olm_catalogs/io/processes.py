"""Runs jobs, each in a process of its own, a bounded number at a time."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence

import orjson

from olm_catalogs.io.fork_client import ForkServer, JobProcess
from olm_catalogs.job import MORE_MEMORY, TURN, Job, Result, out_of_memory, read_end, write_job
from olm_runtime.errors import TerminalError, TransientError, bounded
from olm_runtime.tracing import span

PARSING_AT_ONCE = 2
"""Parsing takes a core and a half each; the serving loop must get its share."""
PROCESSES_AT_ONCE = 16
"""Those that wait for a registry take 30 MiB each at most; so many may hang before others wait."""
TIMEOUT_SECONDS = 1800.0

log = logging.getLogger(__name__)


class Processes:
    """Has jobs done by a module that calls `fork_server.serve`."""

    def __init__(self, module: str, arguments: Sequence[str] = ()) -> None:
        """`arguments` are those of the module."""
        self._forks = ForkServer(module, arguments)
        self._turns = asyncio.Semaphore(PARSING_AT_ONCE)
        self._processes = asyncio.Semaphore(PROCESSES_AT_ONCE)

    def prepare(self) -> None:
        """Loads what jobs need, for they are expected. Raises TransientError."""
        self._forks.prepare()

    def close(self) -> None:
        """To be called when all jobs have ended."""
        self._forks.close()

    async def run(self, job: Callable[[], Awaitable[Job]]) -> Result:
        """What came of a job, which is asked for while the process begins.

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
        try:
            async with self._forks.job() as process, asyncio.timeout(TIMEOUT_SECONDS):
                given = await job()
                output, code = read_end(await self._converse(process, given))
                if code is None:
                    code = await process.server_exit_code()
                return _result(output, code, given)
        except TimeoutError as error:
            raise TransientError(
                f"catalog was not unpacked within {TIMEOUT_SECONDS:.0f} s"
            ) from error

    async def _converse(self, process: JobProcess, job: Job) -> bytes:
        """Hands over the job, grants a turn if one is asked for, takes the result."""
        with span("pull", {"olm.image": job.reference}):
            await process.write(write_job(job))
            first = await process.read_line()
        if first != TURN:
            return first + await process.read()
        with span("unpack"):
            async with self._turns:
                await process.write(TURN)
                return await process.read()


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
