"""Lists of a kind that somebody else watches."""

import asyncio
import logging
from contextlib import suppress
from typing import NoReturn

from api.objects import GVK, KubeObject
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Store

RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class Lister:
    """Lists a kind into its store at first, whenever `again` is set, and every so many seconds."""

    def __init__(
        self, client: KubeClient, gvk: GVK, store: Store[KubeObject], seconds: float
    ) -> None:
        self.again = asyncio.Event()
        self.tried = asyncio.Event()
        """Set once the store is as the server had the kind, or the kind is not served."""
        self._client = client
        self._gvk = gvk
        self._store = store
        self._seconds = seconds

    async def run(self) -> NoReturn:
        """Lists until cancelled."""
        while True:
            self.again.clear()
            await self._list()
            self.tried.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self.again.wait()

    async def _list(self) -> None:
        """Lists as of this moment, once the server answers. A kind that it does not serve stays."""
        logged = ""
        while True:
            since = self._store.newest
            try:
                found, version = await self._client.list_all(self._gvk)
            except NotFoundError:
                return
            except ApiError as error:
                if error.message != logged:
                    log.warning("cannot list %s: %s", self._gvk.kind, error)
                logged = error.message
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._store.replace(found, version, since=since)
                return


async def listed(client: KubeClient, gvk: GVK) -> Store[KubeObject]:
    """A store of a kind as it is at the moment, which nobody watches. Raises ApiError."""
    store = PackedStore()
    store.replace(*await client.list_all(gvk))
    return store
