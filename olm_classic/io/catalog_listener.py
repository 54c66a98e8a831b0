"""A server of the registry API at a port, whose content may be replaced."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from olm_catalogs.registry.answers import Catalog
from olm_runtime.errors import TransientError

STOP_SECONDS = 10.0
"""How long answers under way may go on when there is other content."""
REBIND_TRIES, REBIND_SECONDS = 100, 0.01
"""A port of ours is free again in milliseconds."""


class NoPortError(TransientError):
    """All ports for catalogs are taken."""


log = logging.getLogger(__name__)


@dataclass(slots=True)
class Ports:
    """The ports of a host that catalogs are served at; 0 is any that is free."""

    host: str
    numbers: Sequence[int]
    taken: set[int] = field(default_factory=set)

    def free(self, preferred: int) -> Iterator[int]:
        """Those that no catalog has, the preferred one first."""
        if preferred in self.numbers and preferred not in self.taken:
            yield preferred
        yield from (each for each in self.numbers if each not in self.taken and each != preferred)


class Listener:
    """Serves one catalog."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._server: Any = None
        self._version = ""
        self._stopping: dict[asyncio.Task[None], Any] = {}
        self.port = 0
        """Where it is served; 0 while it is not."""

    async def serve(self, catalog: Catalog, version: str, preferred: int) -> None:
        """Serves this content from now on, at the port that is had, else the preferred one.

        Connections to older content are ended, as when a pod is replaced: so clients see that
        there is something new. Raises NoPortError when no port is free.
        """
        if self._server is not None and self._version == version:
            return
        from olm_catalogs.io.server import make_server  # gRPC takes long to load

        server, had = make_server(catalog), self.port
        self._release()
        self.port = await self._rebound(server, had) or self._bound(server, preferred)
        self._ports.taken.add(self.port)
        self._server, self._version = server, version
        await server.start()
        log.info("%s is served at port %d", version, self.port)

    async def stop(self) -> None:
        """Ends the server; answers under way are broken off."""
        self._release()
        for server in list(self._stopping.values()):
            await server.stop(None)
        await asyncio.gather(*list(self._stopping))

    def _release(self) -> None:
        """Frees the port; answers under way go on for a while."""
        if self._server is None:
            return
        task = asyncio.create_task(self._server.stop(STOP_SECONDS))
        self._stopping[task] = self._server
        task.add_done_callback(self._stopping.pop)
        self._ports.taken.discard(self.port)
        self._server, self.port = None, 0

    async def _rebound(self, server: Any, port: int) -> int:
        """The port that was had, once it is free; 0 where somebody else has it now."""
        for _ in range(REBIND_TRIES if port else 0):
            if bound := self._bind(server, port):
                return bound
            await asyncio.sleep(REBIND_SECONDS)
        return 0

    def _bound(self, server: Any, preferred: int) -> int:
        for port in self._ports.free(preferred):
            if bound := self._bind(server, port):
                return bound
        raise NoPortError(
            f"no port is free to serve a catalog at, of {len(self._ports.numbers)} from"
            f" {self._ports.numbers[0]}",
            hint="give more of them with --catalog-serving-ports",
        )

    def _bind(self, server: Any, port: int) -> int:
        """The port that was bound; 0 where it is not free."""
        try:
            return int(server.add_insecure_port(f"{self._ports.host}:{port}"))
        except RuntimeError:
            return 0
