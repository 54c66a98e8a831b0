"""One of several processes of a program: it waits for the lease and works while it has it."""

import asyncio
import socket
import uuid
from collections.abc import Callable

from olm_runtime.controller.leader import Elector, LeasePlace, LeaseTimes
from olm_runtime.controller.manager import Manager
from olm_runtime.http.health import serve_health
from olm_runtime.kube.client import KubeClient


def process_identity() -> str:
    """A name that no other process has, now or later."""
    return f"{socket.gethostname()}_{uuid.uuid1()}"


class Replica:
    """A process that controls, at once or when elected; `alive` and `ready` are its probes."""

    def __init__(
        self,
        client: KubeClient,
        *,
        identity: str,
        lease: LeasePlace | None,
        begin: Callable[[asyncio.TaskGroup], Manager],
        times: LeaseTimes | None = None,
    ) -> None:
        """Without a `lease` it works at once. `begin` starts that and gives what it runs in."""
        self._client = client
        self._identity = identity
        self._lease = lease
        self._times = times
        self._begin = begin
        self._manager: Manager | None = None
        self._works = asyncio.Event()
        self.alive = {"watches": self._watches_live}
        self.ready = {"controllers": self._works.is_set}

    def _watches_live(self) -> bool:
        """Whether what the controllers rely on lives; a replica that waits relies on nothing."""
        return self._manager is None or self._manager.is_alive()

    async def serve_health(self, address: tuple[str, int] | None) -> None:
        """Serves its probes until cancelled. Raises TerminalError."""
        await serve_health(address, alive=self.alive, ready=self.ready)

    async def lead(self) -> None:
        """Works until cancelled. Raises LostLeadershipError."""
        if self._lease is None:
            await self._control()
            return
        self._works.set()  # a replica that waits for the lease is as ready as it can be
        elector = Elector(
            self._client, lease=self._lease, identity=self._identity, times=self._times
        )
        await elector.run(self._control)

    async def _control(self) -> None:
        async with asyncio.TaskGroup() as group:
            self._manager = self._begin(group)
            await self._manager.started.wait()
            self._works.set()
