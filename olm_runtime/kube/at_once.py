"""Requests without an event loop, one after the other over one connection: the quickest there are.

Only over TLS, and without a proxy.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import Headers, Reply, UnreachableError
from olm_runtime.kube.http1 import CLOSED, AnswerReader, Server

_CHUNK = 1 << 18


class OneConnection:
    """A connection to an API server."""

    def __init__(self, server: Server, stream: socket.socket) -> None:
        self._server = server
        self._stream = stream

    def get(self, url: str, headers: Headers) -> Reply:
        """Asks; `url` is quoted. Raises UnreachableError, OSError."""
        self._stream.sendall(self._server.request("GET", url, headers))
        answer = AnswerReader()
        while answer.reply is None:
            data = self._stream.recv(_CHUNK)
            if data:
                answer.feed(data)
            else:
                answer.end()
                break
        if answer.reply is None:
            raise UnreachableError(CLOSED)
        return answer.reply


@contextmanager
def connected(access: ClusterAccess, seconds: float) -> Iterator[OneConnection]:
    """A connection; it waits at most `seconds` each time. Raises TerminalError, OSError."""
    server, context = Server.of(access.server), access.tls()
    host: Any = server.host.encode() if server.host.isascii() else server.host
    with (  # for text Python imports the tables of IDNA, which are for other names
        socket.create_connection((host, server.port), timeout=seconds) as plain,
        context.wrap_socket(plain, server_hostname=server.host) as stream,
    ):
        yield OneConnection(server, stream)
