"""A process that has loaded what a job needs, and forks a process for each job.

Flow: standard input is a socket over which the parent sends a connection for each job. The child
has it as its standard input and output; when it has ended, its exit code is written to the
connection as a last line. Who closes the connection has the child killed. The server ends with its
parent, and is started by `fork_client`.

Guarantees: it has one thread, so that nothing is half done when it forks. It reads nothing of what
a job reads, so that hostile content hurts the child only.
"""

import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import anyio
import anyio.streams.tls
import httpcore
import orjson

from olm_catalogs.io.ingest import be_killed_first
from olm_catalogs.job import Result, ended
from olm_runtime.errors import TransientError
from olm_runtime.http.trust import shared_registry_trust
from olm_runtime.logs import configure_logging
from olm_runtime.memory import settle, share_one_arena

LATE = anyio.streams.tls, httpcore
"""What httpx and httpcore import with their first request."""
HANG_UP = getattr(select, "POLLRDHUP", 0)
"""The other side sends no more; where it is not known, only that it has closed is."""

DRAIN_BYTES = 64 << 10

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """A child and the connection that it has as well."""

    pid: int
    connection: socket.socket


class _ForkServer:
    def __init__(self, work: Callable[[], NoReturn]) -> None:
        self._work = work
        self._parent = socket.socket(fileno=sys.stdin.fileno())
        self._ended, self._wake = socket.socketpair()
        for end in (self._ended, self._wake):
            end.setblocking(False)
        self._jobs: dict[int, _Job] = {}
        self._poll = select.poll()
        self._poll.register(self._parent, select.POLLIN)
        self._poll.register(self._ended, select.POLLIN)
        signal.set_wakeup_fd(self._wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
        self._open = True

    def run(self) -> None:
        """Until the parent has gone and all jobs have ended."""
        while self._open or self._jobs:
            for descriptor, _ in self._poll.poll():
                self._act(descriptor)

    def _act(self, descriptor: int) -> None:
        if descriptor == self._parent.fileno():
            self._accept()
        elif descriptor == self._ended.fileno():
            self._reap()
        elif job := self._jobs.get(descriptor):
            self._poll.unregister(descriptor)
            os.kill(job.pid, signal.SIGKILL)  # not reaped yet, so it is still this job's

    def _accept(self) -> None:
        data, descriptors, *_ = socket.recv_fds(self._parent, 1, 1)
        if not data:
            self._open = False
            self._poll.unregister(self._parent)
        for descriptor in descriptors:
            self._begin(socket.socket(fileno=descriptor))

    def _begin(self, connection: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            refused = Result(error=f"no process can be started to unpack: {error.strerror}")
            _send(connection, orjson.dumps(refused) + ended(0))
            _close(connection)
            return
        if not pid:
            self._become_job(connection)
        self._jobs[connection.fileno()] = _Job(pid, connection)
        self._poll.register(connection, HANG_UP)

    def _become_job(self, connection: socket.socket) -> NoReturn:
        """In the child, which must not hold open what others wait to see closed."""
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            for each in (self._ended, self._wake, *(job.connection for job in self._jobs.values())):
                each.close()
            for stream in (sys.stdin, sys.stdout):
                os.dup2(connection.fileno(), stream.fileno())
            connection.close()
            self._work()
        except BaseException:
            log.exception("a job has failed")
            raise
        finally:
            os._exit(1)

    def _reap(self) -> None:
        _drain(self._ended)
        for descriptor, job in list(self._jobs.items()):
            pid, status = os.waitpid(job.pid, os.WNOHANG)
            if pid:
                del self._jobs[descriptor]
                _unregister(self._poll, descriptor)
                _send(job.connection, ended(os.waitstatus_to_exitcode(status)))
                _close(job.connection)


def _unregister(poll: select.poll, descriptor: int) -> None:
    try:
        poll.unregister(descriptor)
    except KeyError:  # it was killed
        return


def _send(connection: socket.socket, data: bytes) -> None:
    """Without waiting for who does not read; a connection without a last line says enough."""
    try:
        connection.send(data, socket.MSG_DONTWAIT)
    except OSError as error:
        log.debug("nobody reads how a job ended: %s", error)


def _close(connection: socket.socket) -> None:
    """What was sent and not read would reset the connection, and nothing could be read of it."""
    _drain(connection)
    connection.close()


def _drain(connection: socket.socket) -> None:
    with suppress(OSError):  # there is nothing more
        while connection.recv(DRAIN_BYTES, socket.MSG_DONTWAIT):
            pass


def serve(work: Callable[[], NoReturn]) -> None:
    """Forks a process for each connection that the parent sends; `work` is what it does.

    The first argument of the program, if there is one, is a folder of CAs of registries: they and
    the system's are read ahead. A job notices when they have changed.
    """
    configure_logging(logging.WARNING)
    be_killed_first()
    share_one_arena()
    _load(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    settle()
    _ForkServer(work).run()


def _load(cas_dir: Path | None) -> None:
    """What a job would take two thirds of its processor time for."""
    anyio.run(anyio.sleep, 0)  # loads its half for asyncio, by which registries are asked
    try:
        shared_registry_trust(cas_dir)
    except TransientError as error:
        log.debug("each job reads the CAs itself: %s", error)
