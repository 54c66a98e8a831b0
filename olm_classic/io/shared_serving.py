"""Serves the catalogs of images from this process, each at a port of its own.

An image is unpacked once, by a process of its own in bounded memory, into the messages of the
registry API, which stay on disk: a start serves them without asking the registry. They are stored
by `olm_catalogs.io.store`, so a process that is killed leaves the old content or the new one.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from olm_catalogs.io.messages import Catalog, open_version
from olm_catalogs.io.processes import Processes
from olm_catalogs.io.store import Serving, Store
from olm_catalogs.job import (
    CATALOGS_FOLDER,
    SOURCE_PREFIX,
    UNPACK_FOLDER,
    Job,
    ServedCatalogs,
    prefixed,
)
from olm_catalogs.stored import Stored
from olm_classic.io.catalog_listener import Listener, Ports
from olm_classic.io.catalogd import Catalogd
from olm_classic.io.pull_logins import login_file
from olm_classic.io.registry import Key
from olm_runtime.controller.attempt import failure_of
from olm_runtime.controller.workqueue import Backoff
from olm_runtime.errors import OLMError, bounded
from olm_runtime.images.reference import ImageRef
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings

INGEST = "olm_classic.io.catalog_ingest"
"""The module that the processes run."""
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 2.0, 300.0
"""As the kubelet pulls images again."""
MAX_PROBLEM_LENGTH = 4096

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A catalog that is to be served.

    uid      of the object
    root     folder of the image with the catalog; empty for that which its label names
    secrets  of its namespace, with credentials
    every    seconds between two looks at the registry; None for never
    """

    key: Key
    uid: str
    image: str
    root: str = ""
    secrets: tuple[str, ...] = ()
    every: float | None = None

    @property
    def name(self) -> str:
        """Its folder: a namespace has no dots, so no two catalogs have one name."""
        return ".".join(self.key)

    @property
    def requested(self) -> str:
        """What content is of."""
        return f"{self.image} {self.root}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """How a catalog is served.

    port     where it is; 0 while there is no content
    content  names what is served
    since    when the image was unpacked; None while none was
    polled   when the registry was last asked
    problem  why the last look at the image came to nothing; empty if it did not
    again    seconds until `ensure` is to be called again; None if only `changed` calls for it
    """

    port: int = 0
    content: str = ""
    since: datetime | None = None
    polled: datetime | None = None
    problem: str = ""
    again: float | None = None


@dataclass(slots=True)
class _Held:
    """What this process knows of a catalog besides its content."""

    wanted: Wanted
    listener: Listener | None = None
    task: asyncio.Task[None] | None = None
    failures: int = 0
    retry_at: float = 0.0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulls:
    """Where content goes, and how registries are reached: asked for at each pull.

    Content that `catalogd` serves is taken from it.
    """

    client: KubeClient
    cache_dir: Path
    settings: Callable[[], Awaitable[PullSettings]]
    catalogd: Catalogd | None = None

    async def served(self, wanted: "Wanted", source: ImageRef) -> ServedCatalogs:
        """Whether that need not be pulled; with a folder of its own a catalog is another."""
        if self.catalogd is None or wanted.root:
            return ServedCatalogs()
        return await self.catalogd.served(wanted.image, source.digest)


class SharedServing:
    """All catalogs of images. `ensure` is called for one catalog once at a time."""

    def __init__(
        self,
        pulls: Pulls,
        ports: Ports,
        changed: Callable[[Key], None],
        *,
        clock: Callable[[], datetime],
    ) -> None:
        """`changed` is called when a look at an image has ended."""
        self._pulls = pulls
        self._ports = ports
        self._changed = changed
        self._clock = clock
        self._store: Store[Catalog] = Store(pulls.cache_dir / CATALOGS_FOLDER, open_version)
        self._processes = Processes(INGEST)
        self._held: dict[Key, _Held] = {}
        self._backoff = Backoff(random.random, FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS)

    async def ensure(self, wanted: Wanted, *, port: int = 0) -> Shared:
        """Serves what there is of a catalog, and has it be looked for when that is due.

        `port` is where it was served before, and is served again if it can be. What was asked for
        and is not there yet is served when it is: until then it is the content of before.
        Raises NoPortError.
        """
        held = await self._hold(wanted)
        await self._store.load(wanted.name)
        serving = self._store.find(wanted.name)
        if serving is not None and serving.stored.uid != wanted.uid:
            await self._withdraw(held)  # of an object of the same name that is gone
            serving = None
        if serving is not None:
            await self._listen(held, serving, port)
        again = self._look(held, serving.stored if serving else None)
        return self._shared(held, serving, again)

    async def remove(self, key: Key) -> None:
        """Serves a catalog no more, and removes its content."""
        held = self._held.pop(key, None)
        if held is not None:
            await _stop_task(held)
            await self._withdraw(held)

    async def collect(self, keys: Iterable[Key]) -> None:
        """Removes the content of catalogs that do not exist; for the start.

        Raises DiskError.
        """
        names = {".".join(key) for key in keys}
        images = ImageStore(self._pulls.cache_dir / UNPACK_FOLDER, PullSettings, jitter=lambda: 0.0)
        await asyncio.to_thread(images.collect, names)
        await self._store.collect(names)

    async def close(self) -> None:
        """Stops serving; content stays on disk."""
        for held in self._held.values():
            await _stop_task(held)
            if held.listener is not None:
                await held.listener.stop()
        self._held.clear()
        self._processes.close()
        self._store.close()

    async def _hold(self, wanted: Wanted) -> _Held:
        """What is known of a catalog; a look at what is no longer wanted is broken off."""
        held = self._held.setdefault(wanted.key, _Held(wanted))
        if held.wanted != wanted:
            await _stop_task(held)
            held.wanted, held.failures, held.retry_at, held.problem = wanted, 0, 0.0, ""
        return held

    async def _listen(self, held: _Held, serving: Serving[Catalog], port: int) -> None:
        if held.listener is None:
            held.listener = Listener(self._ports)
        await held.listener.serve(serving.content, serving.stored.version, port)

    def _look(self, held: _Held, stored: Stored | None) -> float | None:
        """Begins a look at the image if one is due; else the seconds until then."""
        if held.task is not None:
            return None
        now = self._clock().timestamp()
        due = max(_due(held.wanted, stored, now), held.retry_at)
        if due > now:
            return due - now if due != float("inf") else None
        held.task = asyncio.create_task(self._fetch(held, stored), name=f"pull {held.wanted.name}")
        return None

    async def _fetch(self, held: _Held, stored: Stored | None) -> None:
        """Brings the image's content in, and says how that ended."""
        wanted = held.wanted
        try:
            await self._store.commit(wanted.name, await self._fetched(wanted, stored))
            held.failures, held.retry_at, held.problem = 0, 0.0, ""
        except Exception as error:  # noqa: BLE001 - whatever it is, others are to be served
            failure = failure_of(error, f"unpacking of catalog {wanted.name}")
            held.failures += 1
            asked = error.after if isinstance(error, OLMError) else 0.0
            wait = max(self._backoff.delay(held.failures), asked)
            held.retry_at = self._clock().timestamp() + wait
            held.problem = bounded(failure.message, MAX_PROBLEM_LENGTH)
            log.warning("catalog %s: %s", wanted.name, held.problem)
        held.task = None
        self._changed(wanted.key)

    async def _fetched(self, wanted: Wanted, stored: Stored | None) -> Stored:
        """Raises OLMError."""
        known = stored if stored is not None and stored.requested == wanted.requested else None
        pull = await self._pulls.settings()
        secrets = login_file(self._pulls.client, wanted.key[0], wanted.secrets, pull.auth_file)
        async with secrets as auth_file:
            source = await _resolved(wanted, replace(pull, auth_file=auth_file))
            if known is not None and str(source) == known.source:
                return replace(known, polled=self._clock().timestamp())
            served = await self._pulls.served(wanted, source)
            result = await self._processes.run(
                lambda: _job(wanted, known, pull, auth_file, self._pulls.cache_dir, served)
            )
        if result.taken_from:
            log.info("catalog %s: content is from %s", wanted.name, result.taken_from)
        return Stored(
            version=result.version,
            source=result.source,
            requested=wanted.requested,
            uid=wanted.uid,
            generation=0,
            unpacked=result.unpacked or (known.unpacked if known else 0),
            polled=self._clock().timestamp(),
        )

    async def _withdraw(self, held: _Held) -> None:
        if held.listener is not None:
            await held.listener.stop()
            held.listener = None
        await self._store.withdraw(held.wanted.name)

    def _shared(self, held: _Held, serving: Serving[Catalog] | None, again: float | None) -> Shared:
        if serving is None or held.listener is None:
            return Shared(problem=held.problem, again=again)
        stored = serving.stored
        return Shared(
            port=held.listener.port,
            content=stored.version,
            since=datetime.fromtimestamp(stored.unpacked, UTC),
            polled=datetime.fromtimestamp(stored.polled, UTC),
            problem=held.problem,
            again=again,
        )


async def _resolved(wanted: Wanted, pull: PullSettings) -> ImageRef:
    """What the reference means now: asked here, as most polls find nothing new. Raises OLMError."""
    images = ImageStore(Path(), lambda: pull, jitter=random.random)
    try:
        return await images.resolve(wanted.image)
    except OLMError as error:
        raise prefixed(SOURCE_PREFIX, error) from error


async def _job(
    wanted: Wanted,
    known: Stored | None,
    pull: PullSettings,
    auth_file: Path | None,
    cache: Path,
    served: ServedCatalogs,
) -> Job:
    return Job(
        catalog=wanted.name,
        reference=wanted.image,
        cache_dir=str(cache),
        root=wanted.root,
        known_source=known.source if known else "",
        known_version=known.version if known else "",
        cas_dir=str(pull.cas_dir or ""),
        auth_file=str(auth_file or ""),
        plain_http=tuple(sorted(pull.plain_http)),
        cluster=pull.cluster,
        limits=pull.limits,
        served=served,
    )


def _due(wanted: Wanted, stored: Stored | None, now: float) -> float:
    """When the registry is to be asked, in seconds since the epoch."""
    if stored is None or stored.requested != wanted.requested:
        return now
    if wanted.every is None:
        return float("inf")
    return min(stored.polled, now) + wanted.every  # a clock may have been set back


async def _stop_task(held: _Held) -> None:
    if held.task is not None:
        held.task.cancel()
        await asyncio.gather(held.task, return_exceptions=True)
        held.task = None
