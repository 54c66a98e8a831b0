"""Servers that cut connections off."""

import asyncio
import socket
import ssl
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import pytest
import uvloop

from olm_runtime.http.proxied import http_client
from olm_runtime.proxies import Proxies

RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: what is not sent is thrown away."""


class _SlowLoop(uvloop.Loop):
    """One with other work between a connection being made and being used."""

    async def create_connection(self, *arguments: Any, **options: Any) -> Any:
        made = await super().create_connection(*arguments, **options)
        await asyncio.sleep(0.2)
        return made


def _cut_off(listener: socket.socket) -> None:
    accepted, _ = listener.accept()
    time.sleep(0.02)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    accepted.close()


def test_a_connection_that_is_cut_off_at_once_is_a_fault_of_the_transport() -> None:
    """What anyio makes of it once ended cluster-version-operator."""

    async def ask(url: str) -> None:
        trust = ssl.create_default_context()
        async with http_client(httpx.Timeout(5.0), origin=trust, proxies=Proxies()) as client:
            with pytest.raises(httpx.ConnectError, match="the server closed the connection"):
                await client.get(url)

    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        ThreadPoolExecutor() as pool,
        asyncio.Runner(loop_factory=_SlowLoop) as runner,
    ):
        pool.submit(_cut_off, listener)
        runner.run(ask(f"http://127.0.0.1:{listener.getsockname()[1]}/"))
