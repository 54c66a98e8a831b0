"""Brings catalog images in, each in a process of its own, a bounded number at a time."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from catalogd.metrics import Metrics, PollResult
from olm_catalogs.io.processes import Processes
from olm_catalogs.job import MAX_OBJECTS, Job
from olm_catalogs.stored import Stored
from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.limits import Limits

INGEST = "catalogd.io.ingest"
"""The module that the processes run."""


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
    """Content that is on disk now: see `olm_catalogs.stored.Stored`."""

    source: str
    version: str
    unpacked: int


class Images:
    """Resolves, pulls and writes catalogs."""

    def __init__(
        self,
        settings: Callable[[], Awaitable[ImageSettings]],
        metrics: Metrics,
        cas_dir: Path | None = None,
    ) -> None:
        """`settings` is asked at each job, so that changes need no restart.

        The CAs in `cas_dir` are read ahead for those jobs that have it in their settings.
        """
        self._settings = settings
        self._metrics = metrics
        self._processes = Processes(INGEST, [str(cas_dir)] if cas_dir else [])

    def prepare(self) -> None:
        """Makes ready for catalogs that are expected. Raises TransientError."""
        self._processes.prepare()

    def close(self) -> None:
        """To be called when nothing is fetched any more."""
        self._processes.close()

    async def fetch(self, name: str, reference: str, known: Stored | None) -> Fetched:
        """The content of a reference, written to disk if it is not `known`.

        Raises TerminalError, TransientError with the condition's text.
        """
        if known is not None and known.source == reference:
            return Fetched(known.source, known.version, known.unpacked)
        outcome, started = PollResult.FAILED, time.monotonic()
        try:
            result = await self._processes.run(partial(self._job, name, reference, known))
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
