"""Daemons of ours without their imports, which take most of the processor time of a start.

    child = ForkedDaemon("catalogd", [executable, "--flag=value"], log=log, env=environment)

A server for each program has imported it, and forks a process for each start. That has the
arguments, the environment, the standard streams, the session and the signals of a process of its
own, and its exit code is reported. What is tested of a start itself runs the true program, and so
does what preloads a library.
"""

import atexit
import gc
import importlib
import importlib.metadata
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from e2e.harness._launch import die_with_parent
from e2e.harness.process import ChildProcess, Process, service_environment

PARTS = ("settings", "__main__", "wiring", "exposition")
"""What programs have next to where their console script begins."""
LATER = (
    "olm_runtime.http.bulk",
    "olm_runtime.http.metrics_page",
    "olm_runtime.kube.long_answers",
    "olm_runtime.kube.plain_kubeconfig",
    "olm_runtime.kube.sessions",
    "olm_runtime.watch.kopf_handlers",
    "uvicorn.lifespan.off",
)
"""What all of them import once they work."""
LONGEST_CALL = 1 << 18
"""Bytes of arguments and environment."""
_SERVER_LOCK = threading.Lock()


class ForkedDaemon(ChildProcess):
    """A daemon whose program is a console script of ours."""

    _address: Path

    def start(self) -> None:
        """Start it; at first the server. Errors: ProcessFailed."""
        with _SERVER_LOCK:
            self._address = _server(Path(self._argv[0]).name)
        super().start()

    def _spawn(self, stdout: IO[bytes], stderr: IO[bytes]) -> Process:
        call = json.dumps([self._argv, self._env, str(self._cwd or Path.cwd())]).encode()
        connection = _seqpacket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LONGEST_CALL)
        connection.connect(str(self._address))
        socket.send_fds(connection, [call], [stdout.fileno(), stderr.fileno()])
        return _Forked(connection)


class _Forked:
    """A process that the server has forked."""

    def __init__(self, connection: socket.socket) -> None:
        text, handles, _, _ = socket.recv_fds(connection, 32, 1)
        if not handles:
            raise ConnectionError("the server has ended")
        self.pid = int(text)
        self._handle = handles[0]
        self._connection = connection
        self._code: int | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        threading.Thread(target=self._await, name=f"await-{self.pid}", daemon=True).start()

    def poll(self) -> int | None:
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended.wait(timeout):
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return self._code or 0

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with self._lock, suppress(ProcessLookupError):
            if self._code is None:
                signal.pidfd_send_signal(self._handle, number)

    def _await(self) -> None:
        with self._connection:
            code = self._connection.recv(32)
        with self._lock:
            self._code = int(code) if code else -signal.SIGKILL  # the server was killed, and it
            os.close(self._handle)
        self._ended.set()


@cache
def _server(program: str) -> Path:
    """The address of the server of a program, which ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="forked-"))
    address = folder / "socket"
    server = ChildProcess(
        f"server of {program}",
        [sys.executable, "-m", "e2e.olm.forked", program, str(address)],
        log=folder / "log",
        env=service_environment(PYTHONUNBUFFERED="1"),
        cwd=Path(__file__).parents[2],
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server.start()
    atexit.register(server.stop)
    server.wait_ready(address.exists)
    return address


def _seqpacket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _serve(program: str, address: str) -> Callable[[], int | None]:
    """Forks for each call; returns, in what was forked, what the console script calls."""
    main = _imported(program)
    woken, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    parent = os.getpid()
    callers: dict[int, socket.socket] = {}
    with _seqpacket() as server:
        server.bind(f"{address}.new")
        server.listen(64)
        Path(f"{address}.new").rename(address)
        while True:
            ready, _, _ = select.select([server.fileno(), woken], [], [])
            if woken in ready:
                os.read(woken, 512)
                _send_exit_codes(callers)
            if server.fileno() not in ready:
                continue
            call, _ = server.accept()
            message, streams, _, _ = socket.recv_fds(call, LONGEST_CALL, 2)
            if (pid := os.fork()) == 0:
                break
            callers[pid] = call
            handle = os.pidfd_open(pid)
            socket.send_fds(call, [str(pid).encode()], [handle])
            for number in (handle, *streams):
                os.close(number)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (woken, wakes):
        os.close(number)
    for other in (call, *callers.values()):
        other.close()
    die_with_parent(parent)
    _become(message, streams)
    return main


def _send_exit_codes(callers: dict[int, socket.socket]) -> None:
    """Sends the exit codes of processes that have ended to their callers."""
    for pid in list(callers):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with callers.pop(pid) as caller:
                caller.send(str(os.waitstatus_to_exitcode(status)).encode())


def _imported(program: str) -> Callable[[], int | None]:
    """What the console script calls, with all that it will import."""
    [script] = importlib.metadata.entry_points(group="console_scripts", name=program)
    main: Callable[[], int | None] = script.load()
    package = script.module.rpartition(".")[0]
    for name in (*(f"{package}.{part}" for part in PARTS), *LATER):
        if find_spec(name) is not None:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    return main


def _become(message: bytes, streams: list[int]) -> None:
    """Makes this process what its caller has described."""
    os.setsid()
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    sys.argv, environment, folder = json.loads(message)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)


if __name__ == "__main__":
    sys.exit(_serve(*sys.argv[1:])())
