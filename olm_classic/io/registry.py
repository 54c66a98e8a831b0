"""Live connections to the servers of catalogs, over the registry API of gRPC.

A connection is held for as long as its catalog exists, whether anybody asks or not: its state is
what users read in `status.connectionState`. It is made again for ever, with a back-off that stays
short, because whoever mends a catalog waits for it.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2

from olm_catalogs.registry import registry_pb2 as messages
from olm_runtime.errors import TransientError, bounded
from olm_runtime.proxies import Proxies

HEALTH_SERVICE = "Registry"
HEALTH_CHECK = "/grpc.health.v1.Health/Check"
FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 1.0, 10.0
CONNECT_SECONDS = 10.0
LOOK_UP_SECONDS = 5.0
"""A name is looked up anew this often: a Service that was made again has another address."""
KEEPALIVE_SECONDS = 30.0
"""How often a connection that nobody uses is tried.

By a health check, not by pings of HTTP/2: servers in Go close a connection that has no call under
way and is pinged more than every two hours.
"""
ALIVE_SECONDS = 10.0
SILENCE_SECONDS = 60.0
"""A server that says nothing for so long in an answer is as good as dead."""
MAX_MESSAGE_BYTES = 64 * 2**20
"""A bundle may carry its manifests."""

Bundle = messages.Bundle
Package = messages.Package
M = TypeVar("M", bound=Message)

log = logging.getLogger(__name__)


class RegistryError(TransientError):
    """A catalog that is not connected, or answered with an error."""


class NotInCatalogError(RegistryError):
    """The catalog has no such package or bundle."""


class ConnectionState(StrEnum):
    """The states of a channel of gRPC."""

    IDLE = "IDLE"
    CONNECTING = "CONNECTING"
    READY = "READY"
    TRANSIENT_FAILURE = "TRANSIENT_FAILURE"
    SHUTDOWN = "SHUTDOWN"


@dataclass(frozen=True, slots=True)
class Target:
    """A server.

    address  host:port as users read it
    dialled  host:port that is connected to, if it is another: the pod behind a Service, whose
             name only the cluster can look up
    content  names what is served; another one is connected to anew
    """

    address: str
    dialled: str = ""
    content: str = ""


class _DeadError(Exception):
    """A connection that looks alive, and is not."""


class RegistryConnection:
    """A connection to one server, from `start` to `close`."""

    def __init__(
        self,
        target: Target,
        changed: Callable[[], None],
        *,
        clock: Callable[[], datetime],
        proxies: Proxies | None = None,
        keepalive_seconds: float = KEEPALIVE_SECONDS,
        alive_seconds: float = ALIVE_SECONDS,
    ) -> None:
        """`changed` is called after each change of `state`."""
        self.target = target
        self.state = ConnectionState.IDLE
        self.since = clock()
        """When `state` was found."""
        self._changed = changed
        self._clock = clock
        self._keepalive_seconds, self._alive_seconds = keepalive_seconds, alive_seconds
        proxy = (proxies or Proxies()).choose(f"http://{target.address}")
        self._dialled = target.address if proxy else target.dialled or target.address
        self._options = _options(proxy)
        self._channel = self._open()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connects, and holds the connection."""
        if self._task is None:
            self._task = asyncio.create_task(self._hold(), name=f"hold {self.target.address}")

    async def close(self) -> None:
        """Ends the connection; calls that are under way fail."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._channel.close()
        self.state = ConnectionState.SHUTDOWN

    def list_bundles(self) -> AsyncGenerator[Bundle, None]:
        """Each bundle, once per channel that it is in. Raises RegistryError."""
        return self._stream("ListBundles", messages.ListBundlesRequest(), Bundle)

    async def list_packages(self) -> list[str]:
        """The names of all packages, sorted. Raises RegistryError."""
        stream = self._stream("ListPackages", messages.ListPackageRequest(), messages.PackageName)
        async with aclosing(stream) as packages:
            return sorted([package.name async for package in packages])

    async def get_package(self, name: str) -> Package:
        """A package. Raises NotInCatalogError, RegistryError."""
        return await self._call("GetPackage", messages.GetPackageRequest(name=name), Package)

    async def get_bundle(self, package: str, channel: str, csv: str) -> Bundle:
        """A bundle, without what it replaces and skips. Raises NotInCatalogError, RegistryError."""
        request = messages.GetBundleRequest(pkgName=package, channelName=channel, csvName=csv)
        return await self._call("GetBundle", request, Bundle)

    def _open(self) -> Any:
        return grpc.aio.insecure_channel(self._dialled, options=self._options)

    async def _hold(self) -> None:
        """Follows the channel's state, and makes another channel when this one is dead."""
        while True:
            following = asyncio.create_task(self._follow())
            try:
                await self._keep_alive()
            except _DeadError as error:
                log.warning("the connection to %s is made again: %s", self.target.address, error)
            finally:
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
            await self._channel.close()
            self._channel = self._open()
            self._note(ConnectionState.CONNECTING)

    async def _follow(self) -> None:
        """Connects whenever the channel would not by itself."""
        while True:
            state = self._channel.get_state(try_to_connect=True)
            self._note(ConnectionState[state.name])
            await self._channel.wait_for_state_change(state)

    def _note(self, state: ConnectionState) -> None:
        if state != self.state:
            self.state, self.since = state, self._clock()
            self._changed()

    async def _keep_alive(self) -> None:
        """Raises _DeadError when the server does not answer on a connection that stands."""
        check = self._channel.unary_unary(
            HEALTH_CHECK, request_serializer=health_pb2.HealthCheckRequest.SerializeToString
        )
        request = health_pb2.HealthCheckRequest(service=HEALTH_SERVICE)
        while True:
            await asyncio.sleep(self._keepalive_seconds)
            if self.state != ConnectionState.READY:
                continue
            try:
                await check(request, timeout=self._alive_seconds)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise _DeadError(f"no answer in {self._alive_seconds:g} s") from error
                # Any other answer is one: also of a server that has no health service.

    async def _call(self, method: str, request: Message, answer: type[M]) -> M:
        call = self._channel.unary_unary(
            f"/api.Registry/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        with self._as_registry_errors():
            answered: M = await call(request, timeout=SILENCE_SECONDS)
        return answered

    async def _stream(
        self, method: str, request: Message, answer: type[M]
    ) -> AsyncGenerator[M, None]:
        open_stream = self._channel.unary_stream(
            f"/api.Registry/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        with self._as_registry_errors():
            call = open_stream(request)
        try:
            while True:
                with self._as_registry_errors():
                    async with asyncio.timeout(SILENCE_SECONDS):
                        message = await call.read()
                if message is grpc.aio.EOF:
                    return
                yield message
        finally:
            call.cancel()

    @contextmanager
    def _as_registry_errors(self) -> Iterator[None]:
        """Has whatever ends a call be a RegistryError."""
        try:
            yield
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from error
        except TimeoutError as error:
            raise RegistryError(f"{self.target.address} stopped in the midst of it") from error
        except grpc.aio.UsageError as error:
            raise RegistryError(f"the connection to {self.target.address} is closed") from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled us: the channel was closed, and with it all of its calls.
            raise RegistryError(f"the connection to {self.target.address} is closed") from error

    def _error(self, error: Any) -> RegistryError:
        text = bounded(error.details() or error.code().name)
        missing = error.code() in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.NOT_FOUND)
        if missing and text.endswith("not found"):
            return NotInCatalogError(text)
        return RegistryError(f"{self.target.address}: {text}")


Key = tuple[str, str]
"""Namespace and name of a catalog."""


class Connections:
    """The connections of all catalogs."""

    def __init__(
        self,
        changed: Callable[[Key], None],
        *,
        clock: Callable[[], datetime],
        proxies: Proxies | None = None,
    ) -> None:
        """`changed` is called after each change of a connection's state."""
        self._changed = changed
        self._clock = clock
        self._proxies = proxies
        self._held: dict[Key, RegistryConnection] = {}

    def get(self, key: Key) -> RegistryConnection | None:
        """The connection of a catalog, whatever its state."""
        return self._held.get(key)

    def ready(self) -> Mapping[Key, RegistryConnection]:
        """The connections that are READY."""
        return {k: each for k, each in self._held.items() if each.state == ConnectionState.READY}

    async def ensure(
        self, key: Key, target: Target, *, reachable: bool = False
    ) -> RegistryConnection:
        """The connection of a catalog to its server; one to another server is dropped.

        `reachable` where somebody has just reached the server: then no back-off is waited for.
        """
        held = self._held.get(key)
        is_same = held is not None and held.target == target
        if held is not None and is_same and (held.state == ConnectionState.READY or not reachable):
            return held
        await self.drop(key)
        connection = RegistryConnection(
            target, lambda: self._changed(key), clock=self._clock, proxies=self._proxies
        )
        self._held[key] = connection
        connection.start()
        return connection

    async def drop(self, key: Key) -> None:
        """Closes the connection of a catalog that is gone, or served by another server."""
        connection = self._held.pop(key, None)
        if connection is not None:
            await connection.close()

    async def close(self) -> None:
        """Closes all."""
        for key in list(self._held):
            await self.drop(key)


def _options(proxy: str) -> list[tuple[str, Any]]:
    """Settings of a channel; gRPC itself would take proxies that are meant for the web."""
    return [
        ("grpc.enable_http_proxy", 1 if proxy else 0),
        *([("grpc.http_proxy", proxy)] if proxy else []),
        ("grpc.initial_reconnect_backoff_ms", _ms(FIRST_DELAY_SECONDS)),
        ("grpc.min_reconnect_backoff_ms", _ms(CONNECT_SECONDS)),
        ("grpc.max_reconnect_backoff_ms", _ms(LONGEST_DELAY_SECONDS)),
        ("grpc.dns_min_time_between_resolutions_ms", _ms(LOOK_UP_SECONDS)),
        ("grpc.client_idle_timeout_ms", 2**31 - 1),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ]


def _ms(seconds: float) -> int:
    return int(seconds * 1000)
