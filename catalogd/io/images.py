"""Brings catalog images in, each in a process of its own, a bounded number at a time."""

import asyncio
import logging
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import orjson

from catalogd.job import MAX_OBJECTS, MORE_MEMORY, TURN, Job, Result, out_of_memory
from catalogd.metrics import Metrics, PollResult
from catalogd.stored import Stored
from olm_content.fbc.documents import MAX_DOCUMENT_BYTES
from olm_runtime.errors import TerminalError, TransientError, bounded
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.limits import Limits
from olm_runtime.tracing import span

PARSING_AT_ONCE = 2
"""Parsing takes a core and a half each; the serving loop must get its share."""
PROCESSES_AT_ONCE = 16
"""Those that wait for a registry take 30 MiB each, and so many may hang before others wait."""
TIMEOUT_SECONDS = 1800.0
MAX_RESULT_BYTES = 1 << 20

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """Where content goes, and how registries are reached."""

    cache_dir: Path
    cas_dir: Path | None = None
    auth_file: Path | None = None
    plain_http: frozenset[str] = frozenset()
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    limits: Limits = field(default_factory=Limits)
    document_bytes: int = MAX_DOCUMENT_BYTES
    objects: int = MAX_OBJECTS
    shaped: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """Content that is on disk now: see `catalogd.stored.Stored`."""

    source: str
    version: str
    unpacked: int


class Images:
    """Resolves, pulls and writes catalogs."""

    def __init__(self, settings: Callable[[], Awaitable[ImageSettings]], metrics: Metrics) -> None:
        """`settings` is asked at each job, so that changes need no restart."""
        self._settings = settings
        self._metrics = metrics
        self._turns = asyncio.Semaphore(PARSING_AT_ONCE)
        self._processes = asyncio.Semaphore(PROCESSES_AT_ONCE)

    async def fetch(self, name: str, reference: str, known: Stored | None) -> Fetched:
        """The content of a reference, written to disk if it is not `known`.

        Raises TerminalError, TransientError with the condition's text.
        """
        if known is not None and known.source == reference:
            return Fetched(known.source, known.version, known.unpacked)
        outcome, started = PollResult.FAILED, time.monotonic()
        try:
            async with self._processes:
                result = await self._run(partial(self._job, name, reference, known))
            if result.error:
                raise _error(result)
            same = known is not None and result.version == known.version
            outcome = PollResult.UNCHANGED if same else PollResult.UPDATED
        finally:
            self._metrics.observe_poll(name, outcome, time.monotonic() - started)
        unpacked = result.unpacked or (known.unpacked if known else 0)
        return Fetched(result.source, result.version, unpacked)

    async def _job(self, name: str, reference: str, known: Stored | None) -> Job:
        settings = await self._settings()
        return Job(
            catalog=name,
            reference=reference,
            cache_dir=str(settings.cache_dir),
            known_source=known.source if known else "",
            known_version=known.version if known else "",
            cas_dir=str(settings.cas_dir or ""),
            auth_file=str(settings.auth_file or ""),
            plain_http=tuple(sorted(settings.plain_http)),
            cluster=settings.cluster,
            limits=settings.limits,
            document_bytes=settings.document_bytes,
            objects=settings.objects,
            shaped=settings.shaped,
        )

    async def _run(self, job: Callable[[], Awaitable[Job]]) -> Result:
        """Starts the process, and asks for the job while it loads its modules."""
        process = await _start()
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
                process.stdin.write(orjson.dumps(job) + b"\n")
                await process.stdin.drain()
            first = await process.stdout.readline()
        if first != TURN:
            return first + await process.stdout.read()
        with span("unpack"):
            async with self._turns:
                process.stdin.write(TURN)
                return await process.stdout.read()


async def _start() -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "catalogd.io.ingest",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=MAX_RESULT_BYTES,
        )
    except OSError as error:
        raise TransientError(f"no process can be started to unpack: {error.strerror}") from error


def _error(result: Result) -> TerminalError | TransientError:
    if result.blocked:
        return TerminalError(result.error, hint=result.hint)
    return TransientError(result.error, hint=result.hint, after=result.after)


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
