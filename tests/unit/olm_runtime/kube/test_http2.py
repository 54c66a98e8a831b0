"""Watches that share connections, over a server of HTTP/2 on loopback."""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
from h2.utilities import SizeLimitDict
from yarl import URL

from e2e.harness.pki import CertificateAuthority
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.http2 import ENDED, Connection, Connections, Stream
from olm_runtime.kube.long_answers import FEW, LongAnswers
from tests.cycles import never_looked_for

SECONDS = 60.0
MOST = 3
"""Answers that the server sends at once over a connection."""


class Server(asyncio.Protocol):
    """One connection of the server: what is asked for is in `asked`, by stream."""

    def __init__(self, made: list["Server"]) -> None:
        made.append(self)
        self.asked: dict[int, dict[str, str]] = {}
        self.received = b""
        self.reset: list[int] = []
        self.closed = False
        self.http2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        )
        self.http2.local_settings = h2.settings.Settings(
            client=False,
            initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: MOST},
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.http2.initiate_connection()
        self.flush()

    def data_received(self, data: bytes) -> None:
        self.received += data
        for event in self.http2.receive_data(data):
            match event:
                case h2.events.RequestReceived(stream_id=number, headers=headers):
                    assert number is not None
                    self.asked[number] = {str(k): str(v) for k, v in headers or ()}
                case h2.events.StreamReset(stream_id=number):
                    assert number is not None
                    self.reset.append(number)
        self.flush()

    def connection_lost(self, _: Exception | None) -> None:
        self.closed = True

    def answer(
        self, number: int, body: bytes = b"", *, status: str = "200", date: str = ""
    ) -> None:
        others = [("date", date)] if date else []
        self.http2.send_headers(number, [(":status", status), *others])
        if body:
            self.send(number, body)
        self.flush()

    def send(self, number: int, body: bytes) -> None:
        self.http2.send_data(number, body)
        self.flush()

    def flush(self) -> None:
        self.transport.write(self.http2.data_to_send())


class World:
    """A server, its connections, and who asks it."""

    def __init__(self, url: URL, tls: Callable[[], ssl.SSLContext], made: list[Server]) -> None:
        self.url, self.made = url, made
        self.connections = Connections(url, tls)

    async def ask(self, path: str = "/watch?a=b") -> Stream:
        stream = await self.connections.get(
            self.url.join(URL(path)), [("Authorization", "Bearer t")], connect_seconds=SECONDS
        )
        assert stream is not None
        return stream

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():  # noqa: ASYNC110 - what the server has seen
                await asyncio.sleep(0.001)


def tls_of(folder: Path) -> tuple[ssl.SSLContext, bytes]:
    authority = CertificateAuthority.create("test")
    authority.issue_server("server", hosts=["localhost", "127.0.0.1"]).write(folder, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.crt", folder / "server.key")
    return context, authority.certificate


@asynccontextmanager
async def serving(folder: Path, *protocols: str) -> AsyncIterator[World]:
    context, authority = tls_of(folder)
    context.set_alpn_protocols(list(protocols or ("h2", "http/1.1")))
    made: list[Server] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(made), "127.0.0.1", 0, ssl=context)
    url = URL(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    access = ClusterAccess(server=str(url), authority=authority.decode())
    world = World(url, access.tls, made)
    try:
        yield world
    finally:
        world.connections.close()
        server.close()
        await server.wait_closed()


async def test_a_request_names_host_path_and_who_asks(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        await world.ask()
        await world.until(lambda: bool(world.made[0].asked))
        [asked] = world.made[0].asked.values()
    assert asked == {
        ":method": "GET",
        ":scheme": "https",
        ":authority": world.url.authority,
        ":path": "/watch?a=b",
        "authorization": "Bearer t",
    }


async def test_headers_are_sent_as_they_are_and_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        for number in range(2):
            await world.ask(f"/watch?a={number}")
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
    for number in range(2):
        assert f"/watch?a={number}".encode() in server.received
    assert server.received.count(b"Bearer t") == 1, "the token is known by then"


async def test_as_many_answers_share_a_connection_as_the_server_allows(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        await asyncio.gather(*(world.ask() for _ in range(2 * MOST + 1)))
        await world.until(lambda: sum(len(each.asked) for each in world.made) == 2 * MOST + 1)
        assert sorted(len(each.asked) for each in world.made) == [1, MOST, MOST]


async def test_an_answer_that_is_given_up_makes_room_for_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        first, *_ = [await world.ask() for _ in range(MOST)]
        first.close()
        await world.ask()
        [server] = world.made
        await world.until(lambda: len(server.asked) == MOST + 1)
        assert server.reset == [1]


async def test_answers_come_each_by_itself(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        one, other = await world.ask(), await world.ask()
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
        server.answer(3, b"second", status="410")
        server.answer(1, b"first")
        server.http2.end_stream(3)
        server.flush()
        await other.answered(SECONDS)
        assert (other.status, [part async for part in other.chunks(SECONDS)]) == (410, [b"second"])
        await one.answered(SECONDS)
        assert (one.status, await anext(one.chunks(SECONDS))) == (200, b"first")


async def test_headers_of_a_success_are_not_read_and_none_are_known_by_their_place_in_a_table(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as world:
        streams = [await world.ask() for _ in range(MOST)]
        [server] = world.made
        await world.until(lambda: len(server.asked) == MOST)
        for number, status in ((1, "200"), (3, "410"), (5, "200")):
            server.answer(number, status=status, date="today")
        for stream in streams:
            await stream.answered(SECONDS)
        assert [stream.status for stream in streams] == [200, 410, 200]
        assert server.http2.remote_settings.header_table_size == 0


async def test_one_that_nobody_reads_holds_up_no_other(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        await world.ask()
        read = await world.ask()
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
        server.answer(1, b"x" * server.http2.max_outbound_frame_size)
        while room := server.http2.local_flow_control_window(1):
            server.send(1, b"x" * min(room, server.http2.max_outbound_frame_size))
        server.answer(3)
        chunks, got = read.chunks(SECONDS), 0
        for _ in range(100):  # more than the window of an answer, and of a connection by default
            await world.until(lambda: server.http2.local_flow_control_window(3) > 4096)
            server.send(3, b"y" * 4096)
            got += len(await anext(chunks))
        assert got == 100 * 4096


async def cut(server: Server) -> None:
    server.transport.abort()


async def say_goodbye(server: Server) -> None:
    server.http2.close_connection()
    server.flush()


async def break_the_protocol(server: Server) -> None:
    server.transport.write(bytes((0, 0, 4, 8)) + bytes(9))  # lets us send 0 bytes more


@pytest.mark.parametrize("end", [cut, say_goodbye, break_the_protocol])
async def test_answers_end_with_their_connection_and_the_next_has_a_new_one(
    end: Callable[[Server], object], tmp_path: Path
) -> None:
    async with serving(tmp_path) as world:
        streams = [await world.ask() for _ in range(2)]
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
        server.answer(1)
        await streams[0].answered(SECONDS)
        await end(server)  # type: ignore[misc]
        with pytest.raises(ConnectionError):
            await anext(streams[0].chunks(SECONDS))
        with pytest.raises(ConnectionError):
            await streams[1].answered(SECONDS)
        await world.ask()
        await world.until(lambda: len(world.made) == 2 and bool(world.made[1].asked))


async def test_one_that_the_server_resets_ends_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        one, other = await world.ask(), await world.ask()
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
        server.http2.reset_stream(1, 2)
        server.answer(3, b"still here")
        with pytest.raises(ConnectionError, match="INTERNAL_ERROR"):
            await one.answered(SECONDS)
        assert await anext(other.chunks(SECONDS)) == b"still here"


async def test_nothing_is_left_of_a_connection_whose_answers_have_ended(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        with never_looked_for() as more_of:
            streams = [await world.ask() for _ in range(MOST + 1)]
            while streams:
                streams.pop().close()
            await world.until(lambda: not more_of(Connection))


async def test_of_answers_that_ended_few_are_remembered(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        lasting = await world.ask()
        [server] = world.made
        for _ in range(ENDED + 50):
            ended = len(server.reset)
            (await world.ask()).close()
            await world.until(lambda ended=ended: len(server.reset) > ended)  # type: ignore[misc]
        known = [len(each) for each in gc.get_objects() if type(each) is SizeLimitDict]
        ours, the_servers = sorted(each for each in known if each >= ENDED)
        assert ours == ENDED < the_servers, "the server has h2 as it is"
        server.answer(1, b"still there")
        assert await anext(lasting.chunks(SECONDS)) == b"still there"


async def test_silence_is_an_error_that_says_so_and_ends_the_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        stream, other = await world.ask(), await world.ask()
        with pytest.raises(ConnectionError, match=r"nothing came for 0\.01 s"):
            await stream.answered(0.01)
        with pytest.raises(ConnectionError, match=r"nothing came for 0\.01 s"):
            await other.answered(SECONDS)
        await world.ask()
        await world.until(lambda: len(world.made) == 2)


async def test_silence_counts_from_when_something_was_last_waited_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        stream, other = await world.ask(), await world.ask()
        [server] = world.made
        await world.until(lambda: len(server.asked) == 2)
        waits = asyncio.create_task(other.answered(SECONDS))
        server.answer(1)
        await stream.answered(0.2)
        read = asyncio.ensure_future(anext(stream.chunks(SECONDS)))
        await asyncio.sleep(0.3)  # the moment in which nothing would have come is over
        server.send(1, b"more")
        server.answer(3)
        assert await read == b"more"
        await waits
        with pytest.raises(ConnectionError, match="nothing came"):
            await anext(stream.chunks(0.01))
        assert server.reset == []


async def test_a_server_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    async with serving(tmp_path) as world:
        nobody = Connections(world.url.with_port(1), ssl.create_default_context)
        with pytest.raises(OSError, match=r"refused|[Cc]onnect"):
            await nobody.get(world.url, [], connect_seconds=SECONDS)


async def test_a_server_without_it_is_asked_by_connections_of_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path, "http/1.1") as world:
        answer = await world.connections.get(world.url, [], connect_seconds=SECONDS)
        assert answer is None


async def test_a_few_watches_have_a_connection_each_and_the_others_share(tmp_path: Path) -> None:
    context, authority = tls_of(tmp_path)
    context.set_alpn_protocols(["h2", "http/1.1"])
    made, alone = list[Server](), list[asyncio.BaseTransport]()

    class Plain(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.speaks: asyncio.Protocol | None = None
            session = transport.get_extra_info("ssl_object")
            if session.selected_alpn_protocol() == "h2":
                self.speaks = Server(made)
                self.speaks.connection_made(transport)
            else:
                assert isinstance(transport, asyncio.Transport)
                alone.append(transport)
                transport.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")

        def data_received(self, data: bytes) -> None:
            if self.speaks is not None:
                self.speaks.data_received(data)
                for number in [n for n in made[0].asked if n not in answered]:
                    answered.add(number)
                    made[0].answer(number)

    answered = set[int]()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Plain, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    access = ClusterAccess(server=url, authority=authority.decode())
    answers = LongAnswers(access)
    opened = asyncio.Semaphore(0)

    async def watch() -> None:
        answer = await answers.get(url, [], connect=SECONDS, silence=SECONDS)
        opened.release()
        try:
            await asyncio.Event().wait()
        finally:
            answer.close()

    tasks = []
    async with asyncio.timeout(SECONDS):
        for _ in range(FEW + 2):
            tasks.append(asyncio.create_task(watch()))
            await opened.acquire()
    assert (len(alone), [len(each.asked) for each in made]) == (FEW, [2])
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await answers.close()
    server.close()
    await server.wait_closed()
