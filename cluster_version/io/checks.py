"""What a manifest of a release waits for once it is applied."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from api.objects import KubeObject, gvk_of, name_of
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR
from cluster_version.apply.requests import is_deletion
from cluster_version.health import operators, workloads
from cluster_version.io.rounds import Check
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import State
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError

ESTABLISHED_SECONDS, POLL_SECONDS = 5.0, 0.1
"""How long a definition that was just made may take to be served."""


class Checks:
    """Judges what was applied, and remembers since when it looks at each ClusterOperator."""

    def __init__(self, client: KubeClient, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        self.begun: dict[str, datetime] = {}
        """By name of a ClusterOperator that is not well yet."""

    def in_state(self, state: State) -> Check:
        """The check of a round. What it returns raises OLMError."""

        async def check(manifest: Manifest, live: KubeObject | None) -> None:
            if is_deletion(manifest.object):
                return
            if gvk_of(manifest.object) == CLUSTER_OPERATOR:
                self._judge_operator(manifest.object, live, state)
            elif live is not None and state is not State.INITIALIZING:
                workloads.judge(await self._settled(live), state)

        return check

    def _judge_operator(self, manifest: KubeObject, live: KubeObject | None, state: State) -> None:
        name = name_of(manifest)
        self.begun.setdefault(name, self._clock())
        if live is None:
            raise NotFoundError(f"ClusterOperator {name} not found", status=404, reason="NotFound")
        operators.judge(manifest, live, state)
        del self.begun[name]

    async def _settled(self, live: KubeObject) -> KubeObject:
        """A definition once the API server has said something of it."""
        gvk = gvk_of(live)
        if gvk.kind != "CustomResourceDefinition":
            return live
        for _ in range(int(ESTABLISHED_SECONDS / POLL_SECONDS)):
            if (live.get("status") or {}).get("conditions"):
                break
            await asyncio.sleep(POLL_SECONDS)
            live = await self._client.get(gvk, name_of(live))
        return live
