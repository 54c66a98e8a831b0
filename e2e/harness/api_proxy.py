"""A proxy between a program and the API server, at which requests go wrong as planned.

It speaks TLS with a certificate of its own on one side and checks the API server's on the other.
Everything else passes as it is: tokens, impersonation, watches as streams, compressed answers.
"""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from e2e.harness.components import HOST
from e2e.harness.errors import HarnessError
from e2e.harness.faults import KILLS, MACHINE, Fault, FaultPlan
from e2e.harness.kubeconfig import Endpoint
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port

START_SECONDS = 10.0
LARGEST_REQUEST = 64 << 20
OF_THE_CONNECTION = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "keep-alive"}
)
STATUS_ANSWERS = {
    Fault.CONFLICT: (409, "Conflict"),
    Fault.THROTTLED: (429, "TooManyRequests"),
    Fault.THROTTLED_BARE: (429, "TooManyRequests"),
    Fault.INTERNAL_ERROR: (500, "InternalError"),
    Fault.UNAVAILABLE: (503, "ServiceUnavailable"),
}
BEFORE = frozenset({Fault.KILL_BEFORE, Fault.SILENT_BEFORE, Fault.RESET_BEFORE})
AFTER = frozenset({Fault.KILL_AFTER, Fault.SILENT_AFTER, Fault.RESET_AFTER})
SILENCES = frozenset({Fault.SILENT_BEFORE, Fault.SILENT_AFTER})


class ApiProxy:
    """Forwards to one API server from a thread of its own; `plan` says which requests fail."""

    def __init__(
        self, server: Endpoint, work_dir: Path, plan: FaultPlan, inject: Callable[[Fault], None]
    ) -> None:
        """`inject` kills the program, and returns when it is dead, or breaks its machine."""
        self._server = server
        self._work_dir = work_dir
        self._plan = plan
        self._inject = inject
        self._port = free_port(HOST)
        self._authority = CertificateAuthority.create("fault-proxy")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="api-proxy", daemon=True)
        self._watches: set[asyncio.Transport] = set()
        self._error: BaseException | None = None

    @property
    def endpoint(self) -> Endpoint:
        """Where it serves, and the certificate to check it with."""
        return Endpoint(f"https://{HOST}:{self._port}", self._authority.certificate)

    def __enter__(self) -> Self:
        """Start. Errors: HarnessError."""
        self._thread.start()
        if not self._started.wait(START_SECONDS) or self._error is not None:
            raise HarnessError(f"the proxy did not start: {self._error}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop; connections that are open are cut."""
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(START_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # noqa: BLE001 - handed to who waits for the start
            self._error = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        trust = ssl.create_default_context(cadata=self._server.authority.decode())
        connector = aiohttp.TCPConnector(ssl=trust, limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            connector=connector, auto_decompress=False, timeout=timeout
        ) as self._session:
            app = web.Application(client_max_size=LARGEST_REQUEST)
            app.router.add_route("*", "/{path:.*}", self._handle)
            runner = web.AppRunner(
                app,
                access_log=None,
                handle_signals=False,
                handler_cancellation=True,
                shutdown_timeout=0.1,
                auto_decompress=False,
            )
            await runner.setup()
            await web.TCPSite(runner, HOST, self._port, ssl_context=self._tls()).start()
            self._started.set()
            await self._stop.wait()
            await runner.cleanup()

    def _tls(self) -> ssl.SSLContext:
        pair = self._authority.issue_server("fault-proxy", hosts=["localhost", HOST])
        pair.write(self._work_dir, "fault-proxy")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(
            self._work_dir / "fault-proxy.crt", self._work_dir / "fault-proxy.key"
        )
        return context

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if request.query.get("watch") in ("true", "1"):
            return await self._stream(request)
        fault = self._plan.decide(request.method, request.raw_path, body)
        if fault in STATUS_ANSWERS:
            return _refusal(fault)
        if fault in BEFORE:
            return await self._end(request, fault)
        if fault is Fault.WATCHES_CUT:
            self._cut_watches()
        if fault in MACHINE:
            await asyncio.to_thread(self._inject, fault)
        answer = await self._forward(request, body)
        if fault is Fault.TRUNCATED:
            return await _half(request, answer)
        return await self._end(request, fault) if fault in AFTER else answer

    async def _end(self, request: web.Request, fault: Fault) -> web.Response:
        """No answer: for ever, by the end of the connection, or of the program."""
        if fault in SILENCES:
            await asyncio.Event().wait()
        if fault in KILLS:
            await asyncio.to_thread(self._inject, fault)
        return _reset(request)

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        try:
            async with self._ask(request, body) as answer:
                content = await answer.read()
                return web.Response(
                    status=answer.status, headers=_passed(answer.headers), body=content
                )
        except aiohttp.ClientError:  # the API server itself is away
            return _reset(request)

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        connection = request.transport
        if connection is None:
            return web.Response(status=502)
        self._watches.add(connection)
        try:
            async with self._ask(request, b"") as answer:
                passed = web.StreamResponse(status=answer.status, headers=_passed(answer.headers))
                await passed.prepare(request)
                async for chunk in answer.content.iter_any():
                    await passed.write(chunk)
                await passed.write_eof()
                return passed
        except (aiohttp.ClientError, ConnectionError):
            return _reset(request)
        finally:
            self._watches.discard(connection)

    def _ask(
        self, request: web.Request, body: bytes
    ) -> "aiohttp.client._BaseRequestContextManager[aiohttp.ClientResponse]":
        return self._session.request(
            request.method,
            URL(self._server.url + request.raw_path, encoded=True),
            headers=_passed(request.headers),
            data=body or None,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        )

    def _cut_watches(self) -> None:
        """In the middle of a line: the start of an event that never goes on."""
        for connection in self._watches:
            if connection.is_closing():
                continue
            connection.write(b'18\r\n{"type":"MODIFIED","obje')
            connection.close()


def _passed(headers: "aiohttp.typedefs.LooseHeaders") -> CIMultiDict[str]:
    every = CIMultiDict(headers)
    return CIMultiDict((k, v) for k, v in every.items() if k.lower() not in OF_THE_CONNECTION)


def _reset(request: web.Request) -> web.Response:
    """Ends the connection with a reset; what is returned reaches nobody."""
    if request.transport is not None:
        peer = request.transport.get_extra_info("socket")
        if peer is not None:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
    return web.Response(status=502)


async def _half(request: web.Request, whole: web.Response) -> web.StreamResponse:
    """The head of an answer and half of its body, then the end of the connection."""
    content = whole.body if isinstance(whole.body, bytes) else b""
    headers = CIMultiDict(whole.headers)
    headers["Content-Length"] = str(len(content))
    part = web.StreamResponse(status=whole.status, headers=headers)
    await part.prepare(request)
    await part.write(content[: len(content) // 2])
    if request.transport is not None:
        request.transport.close()
    return part


def _refusal(fault: Fault) -> web.Response:
    code, reason = STATUS_ANSWERS[fault]
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": f"injected {reason}",
    }
    headers = {"Retry-After": "1"} if fault is Fault.THROTTLED else {}
    return web.json_response(status, status=code, headers=headers)
