"""Processes that a fork server makes: each ends, says how, and holds up no other."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from olm_catalogs.io import fork_client
from olm_catalogs.io.fork_client import ForkServer, JobProcess
from olm_catalogs.job import ended, read_end

MODULE = "tests.unit.olm_catalogs.forked"
PATIENCE_SECONDS = 60.0


@pytest.fixture
async def forks() -> AsyncIterator[ForkServer]:
    server = ForkServer(MODULE)
    yield server
    server.close()


async def asked(process: JobProcess, what: str) -> bytes:
    await process.write(f"{what}\n".encode())
    return await process.read()


async def identities(forks: ForkServer) -> tuple[int, int]:
    """The ids of a process that did its job, and of the server."""
    async with forks.job() as process:
        output, code = read_end(await asked(process, "end"))
    assert code == 0
    own, server = map(int, output.split())
    return own, server


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while is_there(pid):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)


@asynccontextmanager
async def waiting(forks: ForkServer) -> AsyncIterator[int]:
    """The id of a process that does not end, and heeds nothing."""
    async with forks.job() as process:
        await process.write(b"wait\n")
        yield int(await process.read_line())


async def test_each_job_has_a_process_of_its_own_by_one_server(forks: ForkServer) -> None:
    (first, server), (second, same) = await asyncio.gather(identities(forks), identities(forks))
    assert first != second
    assert server == same != os.getpid()
    assert not is_there(first)
    assert not is_there(second)


@pytest.mark.parametrize(("what", "code"), [("fail", 1), ("die", -signal.SIGKILL)])
async def test_how_a_process_ended_is_reported(
    forks: ForkServer, what: str, code: int, capfd: pytest.CaptureFixture[str]
) -> None:
    async with forks.job() as process:
        assert read_end(await asked(process, what)) == (b"", code)
    assert ("RuntimeError: as it was told" in capfd.readouterr().err) is (what == "fail")


async def test_the_end_is_reported_of_who_did_not_read_what_it_was_sent(forks: ForkServer) -> None:
    async with forks.job() as process:
        await process.write(b"wait\n")
        pid = int(await process.read_line())
        await process.write(b"this is not read\n")
        os.kill(pid, signal.SIGTERM)
        assert read_end(await process.read()) == (b"", -signal.SIGTERM)


async def test_who_is_hung_up_on_is_killed_while_others_go_on(forks: ForkServer) -> None:
    async with waiting(forks) as other:
        async with waiting(forks) as pid:
            assert is_there(pid)
        assert not is_there(pid)
        assert is_there(other)
        assert await identities(forks)
    assert not is_there(other)


async def test_a_server_that_was_killed_is_reported_and_followed_by_another(
    forks: ForkServer,
) -> None:
    _, server = await identities(forks)
    os.kill(server, signal.SIGSTOP)  # so that what it is sent stays unread
    async with forks.job() as process:
        os.kill(server, signal.SIGKILL)
        assert read_end(await asked(process, "end")) == (b"", None)
        assert await process.server_exit_code() == -signal.SIGKILL
    assert (await identities(forks))[1] != server


async def test_there_is_no_server_once_there_was_no_work_for_a_while(
    forks: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_client, "IDLE_SECONDS", 0.05)
    async with waiting(forks):
        _, server = await identities(forks)
        await asyncio.sleep(0.2)
        assert is_there(server)
    await until_gone(server)
    assert (await identities(forks))[1] != server


async def test_a_server_that_is_prepared_does_the_work(forks: ForkServer) -> None:
    before = set(children())
    forks.prepare()
    (server,) = (int(pid) for pid in set(children()) - before)
    assert (await identities(forks))[1] == server


def children() -> Iterator[str]:
    for task in Path("/proc/self/task").iterdir():
        yield from (task / "children").read_text().split()


ABANDON = f"""
import asyncio
from olm_catalogs.io.fork_client import ForkServer
async def main():
    async with ForkServer({MODULE!r}).job() as process:
        await process.write(b"wait\\n")
        print((await process.read_line()).decode(), flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@contextmanager
def abandoned() -> Iterator[int]:
    """The id of a process whose parent's parent is killed."""
    with subprocess.Popen([sys.executable, "-c", ABANDON], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        yield int(parent.stdout.readline())
        parent.kill()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_all_end_with_the_program() -> None:
    with abandoned() as pid:
        server = parent_of(pid)
    await until_gone(pid)
    await until_gone(server)


@pytest.mark.parametrize("module", ["catalogd.io.ingest", "olm_classic.io.catalog_ingest"])
def test_what_is_loaded_before_a_fork_starts_no_thread(module: str) -> None:
    probe = f"import os, {module}; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True)
    assert done.stdout == b"1\n"


def test_an_end_is_distinguished_from_what_was_said_before_it() -> None:
    for output, code in ((b"", 0), (b'{"a":"\\n7"}', -9), (b"said\n3", 1)):
        assert read_end(output + ended(code)) == (output, code)
    assert read_end(b'{"cut":') == (b'{"cut":', None)
