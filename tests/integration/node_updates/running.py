"""The controllers of node updates at work, for a while."""

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from cluster_version.controllers.node_pools import node_updates
from olm_runtime.clocks import utc_now
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import Manager
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess


@asynccontextmanager
async def at_work(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Something works meanwhile; what it raises is raised."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def updating_nodes(
    client: KubeClient, access: ClusterAccess, namespace: str
) -> AsyncIterator[Manager]:
    """One program's controllers, which has Jobs in a namespace."""
    recorder = EventBroadcaster(client, controller="node-updates", instance="test")
    manager = Manager(client, events=recorder, clock=utc_now, jitter=random.random)
    rows = node_updates(manager, namespace=namespace, clock=utc_now, look_seconds=0.2)
    for registration in rows:
        manager.register(registration)
    async with at_work(manager.run(access)):
        yield manager
