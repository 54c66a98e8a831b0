"""From a reference to a stored version: resolve, pull, read, write. A process of its own.

Flow: a job comes as JSON on standard input, a result leaves as JSON on standard output. The
process ends after one job, so its memory is returned, and hostile content can hurt nothing else.
It writes only below the catalog's own folders, and ends when its parent does. Its memory is
bounded, and where the system has too little all the same, it is the first to be killed.

A program gives `run` what it stores of a catalog, and `fork_server.serve` what runs it, in a module
that `io.processes` starts.
"""

import asyncio
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import orjson

from olm_catalogs.io.served import take
from olm_catalogs.io.versions import prepare_version, publish_version
from olm_catalogs.job import (
    CATALOGS_FOLDER,
    MORE_MEMORY,
    SOURCE_PREFIX,
    TURN,
    UNPACK_FOLDER,
    Job,
    Result,
    out_of_memory,
    prefixed,
    read_job,
)
from olm_content.names import LABEL_INDEX_CONFIGS
from olm_runtime.controller.attempt import failure_of
from olm_runtime.disk import DiskError, disk_errors
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.folders import remove_tree
from olm_runtime.images.layers import Rules
from olm_runtime.memory import share_one_arena
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings

STORE_PREFIX = "error storing fbc: "


def _pull_settings(job: Job) -> PullSettings:
    return PullSettings(
        cas_dir=Path(job.cas_dir) if job.cas_dir else None,
        auth_file=Path(job.auth_file) if job.auth_file else None,
        plain_http=frozenset(job.plain_http),
        cluster=job.cluster,
        limits=job.limits,
    )


SERVED_FOLDER = "served"
"""Next to the images of a catalog: content that a catalogd served."""

Turn = Callable[[], Awaitable[None]]
"""Waits until this process may use the processor: waiting for registries needs no turn."""

Write = Callable[[Job, Path, Path], str]
"""Reads the catalog in a folder and writes what is stored of it to another, which is empty.

Gives the version: the same for the same content. Blocking; raises OLMError and OSError.
"""


async def ingest(job: Job, turn: Turn, write: Write) -> Result:
    """Brings the catalog's version folder up to date. Raises OLMError."""
    images = ImageStore(
        Path(job.cache_dir, UNPACK_FOLDER), lambda: _pull_settings(job), jitter=random.random
    )
    try:
        content = await _content(job, images)
    except OLMError as error:
        raise prefixed(SOURCE_PREFIX, error) from error
    if content is None:
        return Result(source=job.known_source, version=job.known_version)
    await turn()
    version = await asyncio.to_thread(write_version, job, content.folder, write)
    images.forget(job.catalog)
    return Result(
        source=content.source,
        version=version,
        unpacked=int(time.time()),
        taken_from=content.taken_from,
    )


@dataclass(frozen=True, slots=True)
class _Content:
    """The files of a catalog. `source` is canonical, `taken_from` empty for its registry."""

    source: str
    folder: Path
    taken_from: str = ""


async def _content(job: Job, images: ImageStore) -> _Content | None:
    """What the reference means now; None while that is known. Raises OLMError."""
    reference = job.reference
    if job.served.urls and not job.root:
        source = await images.resolve(reference)
        reference = str(source)
        if reference == job.known_source:
            return None
        folder = Path(job.cache_dir, UNPACK_FOLDER, job.catalog, SERVED_FOLDER)
        most = job.limits.total_bytes
        if taken_from := await take(job.served, source.digest, folder, most=most):
            return _Content(reference, folder, taken_from)
    pulled = await images.pull_if_changed(
        reference,
        known=job.known_source,
        owner=job.catalog,
        rules_for=lambda _, labels: _rules(job, labels),
    )
    return _Content(str(pulled.ref), pulled.folder) if pulled is not None else None


def _rules(job: Job, labels: Mapping[str, str]) -> Rules:
    root = job.root or labels.get(LABEL_INDEX_CONFIGS)
    if root is not None:
        return Rules(roots=(root,), refuse_links=True)
    message = f'catalog image is missing the required label "{LABEL_INDEX_CONFIGS}"'
    hint = f'"{job.reference}" is no catalog image: build one with opm generate dockerfile'
    if "@" in job.reference:
        raise TerminalError(message, hint=hint)
    raise TransientError(message, hint=hint)


def write_version(job: Job, root: Path, write: Write) -> str:
    """Reads the catalog and writes the version's folder, unless that content is stored already."""
    folder = Path(job.cache_dir, CATALOGS_FOLDER, job.catalog)
    try:
        with disk_errors(f"write the content of catalog {job.catalog}", folder):
            return _write_version(job, root, folder, write)
    except DiskError as error:
        raise prefixed(STORE_PREFIX, error) from error


def _write_version(job: Job, root: Path, folder: Path, write: Write) -> str:
    work = prepare_version(folder)
    try:
        version = write(job, root, work)
        if version != job.known_version:
            publish_version(work, version)
    except OLMError as error:
        prefix = f"{STORE_PREFIX}error walking FBC root: "
        raise prefixed(prefix, error) from error
    finally:
        remove_tree(work)
    return version


class _Parent:
    """The process that asked for the result; it holds our standard input open while it lives."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._granted = asyncio.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    async def turn(self) -> None:
        """Asks for a turn and waits for it."""
        sys.stdout.buffer.write(TURN)
        sys.stdout.flush()
        await self._granted.wait()

    def _listen(self) -> None:
        while os.read(sys.stdin.fileno(), 4096):
            self._loop.call_soon_threadsafe(self._granted.set)
        os._exit(1)


async def _serve(job: Job, write: Write) -> Result:
    return await ingest(job, _Parent().turn, write)


def confine(memory: int) -> None:
    """Bounds the address space, in bytes; to be called before any thread is started.

    Where the kernel kills the whole container for one process, that bound is what keeps serving.
    """
    share_one_arena()  # each arena would reserve 64 MiB
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    be_killed_first()


def be_killed_first() -> None:
    """Has the kernel end this process before any other when there is no memory left."""
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("1000")


def refusal(error: Exception, job: Job) -> Result:
    """What to say of a job that failed, whatever it met."""
    if isinstance(error, OLMError):
        blocked = isinstance(error, TerminalError)
        return Result(error=error.message, hint=error.hint, blocked=blocked, after=error.after)
    if _is_lack_of_memory(error):
        return Result(error=f"catalog cannot be unpacked: {out_of_memory(job)}", hint=MORE_MEMORY)
    return Result(error=failure_of(error, f"unpacking of catalog {job.catalog}").message)


def _is_lack_of_memory(error: BaseException | None) -> bool:
    """Some libraries raise an error of their own because of it."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__
    return error is not None


def run(write: Write) -> NoReturn:
    """Does the one job on standard input, and ends the process."""
    job = read_job(sys.stdin.buffer.readline())
    confine(job.memory)
    try:
        result = asyncio.run(_serve(job, write))
    except Exception as error:  # noqa: BLE001 - every error is reported
        result = refusal(error, job)
    sys.stdout.buffer.write(orjson.dumps(result))
    sys.stdout.flush()
    # Without waiting for threads that still hold a connection to a registry.
    os._exit(0)
