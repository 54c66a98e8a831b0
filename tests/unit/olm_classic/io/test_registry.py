"""Connections to catalogs over loopback: the server of `opm serve`, and none."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Self

import grpc
import pytest

from olm_catalogs.io.cache import make_cache, open_cache
from olm_catalogs.io.server import make_server
from olm_classic.io.registry import (
    Connections,
    ConnectionState,
    NotInCatalogError,
    RegistryConnection,
    RegistryError,
    Target,
)
from olm_runtime.clocks import utc_now
from olm_runtime.proxies import Proxies

PATIENCE_SECONDS = 60.0


def records(package: str) -> list[dict[str, Any]]:
    value = {"packageName": package, "version": "1.0.0"}
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {
            "schema": "olm.channel",
            "package": package,
            "name": "stable",
            "entries": [{"name": f"{package}.v1"}],
        },
        {
            "schema": "olm.bundle",
            "package": package,
            "name": f"{package}.v1",
            "image": "example.com/b:1",
            "properties": [{"type": "olm.package", "value": value}],
        },
    ]


@pytest.fixture
def serve(tmp_path: Path) -> Callable[..., Any]:
    """Serves a catalog with one package while its context lasts; gives the address."""

    @asynccontextmanager
    async def serving(package: str = "hello", port: int = 0) -> AsyncIterator[str]:
        source = tmp_path / package
        source.mkdir(exist_ok=True)
        text = "\n".join(json.dumps(each) for each in records(package))
        (source / "catalog.json").write_text(text)
        make_cache(tmp_path / f"cache-{package}", source)
        server = make_server(open_cache(tmp_path / f"cache-{package}", source))
        bound = server.add_insecure_port(f"127.0.0.1:{port}")
        await server.start()
        try:
            yield f"127.0.0.1:{bound}"
        finally:
            await server.stop(None)

    return serving


class Watched:
    """A connection, and the states that it went through."""

    def __init__(self, address: str, **how: Any) -> None:
        self.states: list[ConnectionState] = []
        self._state_changed = asyncio.Event()
        self.connection = RegistryConnection(Target(address), self._changed, clock=utc_now, **how)

    def _changed(self) -> None:
        self.states.append(self.connection.state)
        self._state_changed.set()

    async def until(self, state: ConnectionState) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self.connection.state != state:
                self._state_changed.clear()
                await self._state_changed.wait()

    async def __aenter__(self) -> Self:
        self.connection.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.connection.close()


def free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_a_catalog_is_read_over_a_connection(serve: Callable[..., Any]) -> None:
    async with serve() as address, Watched(address) as watched:
        await watched.until(ConnectionState.READY)
        connection = watched.connection
        assert await connection.list_packages() == ["hello"]
        assert [each.csvName async for each in connection.list_bundles()] == ["hello.v1"]
        package = await connection.get_package("hello")
        assert [(each.name, each.csvName) for each in package.channels] == [("stable", "hello.v1")]
        bundle = await connection.get_bundle("hello", "stable", "hello.v1")
        assert bundle.bundlePath == "example.com/b:1"
        with pytest.raises(NotInCatalogError, match='package "other" not found'):
            await connection.get_package("other")
    assert watched.connection.state == ConnectionState.SHUTDOWN


async def test_a_server_that_dies_and_comes_back(serve: Callable[..., Any]) -> None:
    port = free_port()
    async with Watched(f"127.0.0.1:{port}") as watched:
        await watched.until(ConnectionState.TRANSIENT_FAILURE)
        with pytest.raises(RegistryError):
            await watched.connection.list_packages()
        async with serve(port=port):
            await watched.until(ConnectionState.READY)
        await watched.until(ConnectionState.TRANSIENT_FAILURE)
        async with serve(port=port):
            await watched.until(ConnectionState.READY)


async def test_one_that_stays_dead_is_reported_once() -> None:
    async with Watched(f"127.0.0.1:{free_port()}") as watched:
        await watched.until(ConnectionState.TRANSIENT_FAILURE)
        seen = len(watched.states)
        await asyncio.sleep(2.5)  # in which it is tried again
        assert len(watched.states) == seen, watched.states


class Hang(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Answers no call, as a server behind a cut network; the connection itself stands."""

    def service(self, details: Any) -> Any:
        async def hang(*_: Any) -> bytes:
            await asyncio.Event().wait()
            return b""

        return grpc.unary_unary_rpc_method_handler(hang)


@asynccontextmanager
async def hanging() -> AsyncIterator[str]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Hang(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_a_server_that_went_silent_is_noticed() -> None:
    quick = {"keepalive_seconds": 0.05, "alive_seconds": 0.2}
    async with hanging() as address, Watched(address, **quick) as watched:
        await watched.until(ConnectionState.READY)
        await watched.until(ConnectionState.CONNECTING)
        await watched.until(ConnectionState.READY)


async def test_a_call_under_way_fails_when_its_connection_is_closed() -> None:
    async with hanging() as address, Watched(address) as watched:
        await watched.until(ConnectionState.READY)
        call = asyncio.create_task(watched.connection.get_package("hello"))
        listing = asyncio.create_task(watched.connection.list_packages())
        other = asyncio.create_task(watched.connection.list_packages())
        await asyncio.sleep(0.1)
        other.cancel()
        await watched.connection.close()
        for closed in (call, listing):
            with pytest.raises(RegistryError, match="is closed"):
                await closed
        with pytest.raises(asyncio.CancelledError):
            await other
        with pytest.raises(RegistryError, match="is closed"):
            await watched.connection.list_packages()


async def test_another_target_is_another_connection(serve: Callable[..., Any]) -> None:
    changes: list[tuple[str, str]] = []
    connections = Connections(changes.append, clock=utc_now)
    key = ("olm", "catalog")
    async with serve("one") as one, serve("two") as two:
        first = await connections.ensure(key, Target(one))
        assert await connections.ensure(key, Target(one)) is first
        second = await connections.ensure(key, Target("catalog.olm.svc:50051", dialled=two))
        assert first.state == ConnectionState.SHUTDOWN
        async with asyncio.timeout(PATIENCE_SECONDS):
            while key not in connections.ready():  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.01)
        assert connections.get(key) is second
        assert await second.list_packages() == ["two"]
        assert key in changes
        await connections.close()
    assert connections.get(key) is None


async def test_a_proxy_is_asked_for_the_address_that_users_read() -> None:
    asked: asyncio.Queue[bytes] = asyncio.Queue()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.put_nowait(await reader.readline())
        writer.close()

    proxy = await asyncio.start_server(take, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    proxies = Proxies(http=f"http://127.0.0.1:{port}")
    async with proxy, Watched("catalog.example.com:50051", proxies=proxies):
        line = await asyncio.wait_for(asked.get(), PATIENCE_SECONDS)
    assert line.startswith(b"CONNECT catalog.example.com:50051 ")
