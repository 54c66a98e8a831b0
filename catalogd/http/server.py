"""Runs an application under uvicorn inside our own event loop, until it is cancelled."""

import asyncio
import socket
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

from olm_shared.errors import TerminalError

GRACE_SECONDS = 30
KEEP_ALIVE_SECONDS = 60
BACKLOG = 1024


class _Server(uvicorn.Server):
    """Leaves signals to the program."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Captures none."""
        yield


def listen(address: tuple[str, int]) -> socket.socket:
    """A listening socket; an empty host is every interface, both families where there are two.

    Raises TerminalError naming the address.
    """
    host, port = address
    try:
        if host:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, port), family=family, backlog=BACKLOG)
        if socket.has_dualstack_ipv6():
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=BACKLOG
            )
        return socket.create_server(("", port), backlog=BACKLOG)
    except OSError as error:
        raise TerminalError(f"cannot listen on {host}:{port}: {error.strerror}") from error


async def serve(app: Any, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
    """Serves until cancelled; then lets answers in flight end, for GRACE_SECONDS at most."""
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_context_factory=None if tls is None else lambda _, __: tls,
    )
    server = _Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
