"""OpenShift's Proxy `cluster`, watched where its kind is served."""

import asyncio
from collections.abc import Callable

from api.objects import KubeObject, is_true
from api.openshift.config.v1.kinds import PROXY
from olm_classic.csv.cluster_proxy import DEFINITION, SINGLETON
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Event, Store

RELIST_SECONDS = 5.0


class ClusterProxy:
    """What is known of it."""

    def __init__(
        self, client: KubeClient, crds: Store[KubeObject], changed: Callable[[], None]
    ) -> None:
        """`crds` has the definitions of the cluster; `changed` is called when it is another."""
        self._client = client
        self._store = PackedStore()
        self._defined = asyncio.Event()
        self._store.add_event_handler(lambda _: changed())
        crds.add_event_handler(self._take_definition)

    def find(self) -> KubeObject | None:
        """The object; None where there is none.

        Raises NotSyncedError where it was not read yet: without it operators would be restarted.
        """
        if self._defined.is_set():
            self._store.check_synced()
        return self._store.get(SINGLETON)

    async def run(self) -> None:
        """Watches it until cancelled, once it can be there."""
        await self._defined.wait()
        selection = Selection(PROXY, fields=f"metadata.name={SINGLETON}")
        hooks = Hooks(delay=lambda _: RELIST_SECONDS)
        await Informer(self._client, selection, self._store, hooks).run()

    def _take_definition(self, event: Event[KubeObject]) -> None:
        if event.key[1] == DEFINITION and is_true(event.new or {}, "Established"):
            self._defined.set()
