"""A front as a Service has it: each new connection goes to the next of several servers."""

import itertools
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from types import TracebackType
from typing import Self

HOST = "127.0.0.1"


class RoundRobin:
    """Passes bytes both ways; serves from construction on, so that its address is known."""

    def __init__(self, ports: Sequence[int]) -> None:
        """`ports` of this machine are where the servers are, or will be."""
        turns = itertools.cycle(ports)

        class Handler(BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError), socket.create_connection((HOST, next(turns))) as server:
                    back = threading.Thread(target=_copy, args=(server, self.request), daemon=True)
                    back.start()
                    _copy(self.request, server)
                    back.join()

        self._front = ThreadingTCPServer((HOST, 0), Handler)
        self._front.daemon_threads = True
        self._thread = threading.Thread(target=self._front.serve_forever, args=(0.05,), daemon=True)
        self.address = f"{HOST}:{self._front.server_address[1]}"

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop; connections that are open end with their clients."""
        self._front.shutdown()
        self._thread.join()
        self._front.socket.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):  # either side had enough
        while data := source.recv(1 << 16):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
