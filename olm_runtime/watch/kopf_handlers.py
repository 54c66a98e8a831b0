"""What kopf does for us: it watches, and nothing else."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from api.objects import KubeObject
from olm_runtime.http.rootless_aiohttp import aiohttp
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.watch.source import Source


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """Has imports do without a package, unless it is imported already."""
    modules: dict[str, Any] = sys.modules
    known = package in modules
    if not known:
        modules[package] = None
    try:
        yield
    finally:
        if not known:
            del modules[package]


with _hidden("kubernetes"):
    # kopf would load it to know its classes, which we give to nobody: 9 MiB of every program.
    import kopf

IDENTITY: Any = "olmv1"
"""Given nothing, kopf asks the system for the user's name. A container's user need not have one."""

LATE_SECONDS = 15
"""A watch that the server has not ended by then is ended here."""
ENDING_SECONDS = 10.0
"""kopf gives its watches two seconds each for what they have heard."""
FAILING_SECONDS = 2.0
"""When it has failed nobody is notified until it is begun anew."""
NO_OBJECT = {"fieldSelector": "metadata.name=-"}
"""Selects nothing: no object may have that name."""
_ASKED_FOR = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp", "finalizers")
"""Of the metadata of an object whose handlers were called."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What to watch.

    on_event   called with ADDED, MODIFIED, DELETED or "" (listed), and the object
    on_answer  called when the server has answered a list or opened a watch of a path
    reopened   how many seconds the server is to keep a watch open
    """

    sources: Sequence[Source]
    on_event: Callable[[Source, str, KubeObject], None]
    on_answer: "OnAnswer"
    reopened: int


class OnAnswer(Protocol):
    """Called with the path of what was asked for."""

    def __call__(self, path: str, /, *, watch: bool) -> None:
        """`watch`: it was a watch, not a list."""


async def watch(access: ClusterAccess, watched: Watched, *, stop: asyncio.Event) -> None:
    """Watches until stopped.

    Raises RuntimeError when kopf has failed and does not end: a watch that was answered with
    garbage leaves it waiting for credentials for ever, without a word.
    """
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.AiohttpSession:
        return _connection(access, watched)

    for source in watched.sources:
        _subscribe(registry, source, watched.on_event)
    known = asyncio.all_tasks()
    tasks = await kopf.spawn_tasks(
        registry=registry,
        settings=_settings(watched.reopened),
        clusterwide=True,
        standalone=True,
        identity=IDENTITY,
        stop_flag=stop,
    )
    ending = asyncio.create_task(kopf.run_tasks(tasks, ignored=known))
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    try:
        async with asyncio.timeout(ENDING_SECONDS if stop.is_set() else FAILING_SECONDS):
            await asyncio.wait(tasks)
            # A watch that was to end as it heard of a new object leaves its stream to the collector
            # of garbage, with a task, for which kopf would wait five seconds.
            for leftover in asyncio.all_tasks() - known - {ending}:
                leftover.cancel()
            await asyncio.wait([ending])
    except TimeoutError:
        raise RuntimeError("kopf has failed, and does not end") from None
    await ending


def _subscribe(
    registry: kopf.OperatorRegistry,
    source: Source,
    on_event: Callable[[Source, str, KubeObject], None],
) -> None:
    @kopf.on.event(source.gvk.group, source.gvk.version, source.plural, registry=registry)
    async def handle(event: kopf.RawEvent, **_: Any) -> None:
        on_event(source, event["type"] or "", dict(event["object"]))
        _reduce(event["object"])


def _reduce(obj: Any) -> None:
    """Leaves of an object what kopf itself still asks for.

    kopf's views of an object refer to each other and to it, so that all of it would be there until
    the collector looks for cycles, which with many extensions is seldom.
    """
    meta = {key: value for key, value in obj["metadata"].items() if key in _ASKED_FOR}
    obj.clear()
    obj["metadata"] = meta


class _NoDiffs(kopf.DiffBaseStorage):
    """In place of kopf's, which copies each object twice to find what only its handlers ask for."""

    def build(self, **_: Any) -> Any:
        return {}

    def fetch(self, **_: Any) -> None:
        return None

    def store(self, **_: Any) -> None:
        pass


def _settings(reopened: int) -> kopf.OperatorSettings:
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.peering.standalone = True
    settings.scanning.disabled = True
    settings.persistence.diffbase_storage = _NoDiffs()
    settings.watching.server_timeout = reopened
    settings.watching.client_timeout = reopened + LATE_SECONDS
    settings.networking.error_backoffs = [1] * 30
    return settings


def _connection(access: ClusterAccess, watched: Watched) -> kopf.AiohttpSession:
    """Connections of kopf's own, reaching the API server as all of ours do."""
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=access.tls(), limit=0),
        headers=access.headers(),
        proxy=access.proxy,
        trace_configs=[_tracing(watched.on_answer)],
        middlewares=[_listing_nothing(watched.sources)],
    )
    return kopf.AiohttpSession(server=access.server, aiohttp_session=session)


def _listing_nothing(sources: Iterable[Source]) -> aiohttp.ClientMiddlewareType:
    """Has lists of what is watched say only from which version to watch it.

    Objects come by lists of ours. For each that it lists kopf would make a task and a queue.
    """
    paths = tuple(source.path for source in sources)

    async def ask(
        request: aiohttp.ClientRequest,
        send: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]],
    ) -> aiohttp.ClientResponse:
        if request.url.path.endswith(paths) and "watch" not in request.url.query:
            request.url = request.url.update_query(NO_OBJECT)
        return await send(request)

    return ask


def _tracing(on_answer: OnAnswer) -> aiohttp.TraceConfig:
    """Calls `on_answer` with each answer that is a success."""

    async def answered(_: Any, __: Any, request: aiohttp.TraceRequestEndParams) -> None:
        if request.response.ok:
            on_answer(request.url.path, watch=request.url.query.get("watch") == "true")

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(answered)
    return trace
