"""Whether a release image is signed as the running release demands.

Source of the rules: upstream's notes, section 6.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import httpx

from api.objects import KubeObject
from cluster_version.io.signature_config_maps import SignatureConfigMaps
from cluster_version.io.signature_stores import search_stores
from cluster_version.io.store_clients import StoreClients
from cluster_version.signatures.configuration import Configuration
from cluster_version.signatures.errors import VerificationError
from cluster_version.signatures.search import NOT_POSSIBLE, Search, check_digest
from cluster_version.signatures.stores import (
    EMPTY_OWN_STORES,
    OWN_STORES_EXHAUSTED,
    all_exhausted,
    exhausted,
    is_folder,
    signatures_in,
    without_more,
)
from olm_runtime.clocks import utc_now
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient

REMEMBERED = 64
"""Digests whose signatures are cached."""


@dataclass(frozen=True, slots=True)
class OwnStore:
    """A store of the ClusterVersion. `ca` names the config map with the CA of its server."""

    url: str
    ca: str = ""


Connect = Callable[[str], Awaitable[httpx.AsyncClient]]
"""A client for a server whose CA is in the config map of that name, "" for the roots of the system.

Raises OLMError.
"""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies release images by digest.

    configuration  of the running release; None if it has none
    config_maps    lists those with signatures; raises OLMError
    own_stores     of the ClusterVersion; None if it does not say
    """

    configuration: Configuration | None
    config_maps: Callable[[], Awaitable[Sequence[KubeObject]]]
    own_stores: Callable[[], Sequence[OwnStore] | None]
    connect: Connect
    now: Callable[[], datetime]
    _verified: dict[str, tuple[bytes, ...]] = field(default_factory=dict)

    @property
    def signatures(self) -> Mapping[str, Sequence[bytes]]:
        """Those of the images that were verified, by digest."""
        return dict(self._verified)

    async def verify(self, digest: str) -> None:
        """Raises VerificationError for an image that is not signed as it has to be."""
        if self.configuration is None:
            raise VerificationError(NOT_POSSIBLE)
        check_digest(digest)
        if digest in self._verified:
            return
        search = Search(self.configuration.rings, digest, self.now())
        await self._search(search, digest, self.configuration.stores)
        search.finish()
        while len(self._verified) >= REMEMBERED:
            del self._verified[next(iter(self._verified))]
        self._verified[digest] = tuple(search.signed)

    async def _search(self, search: Search, digest: str, stores: Sequence[str]) -> None:
        """Looks in one kind of place after the other."""
        await self._search_config_maps(search, digest)
        if search.is_done:
            return
        own = self.own_stores()
        if own is None:
            await self._search_stores(search, digest, [OwnStore(store) for store in stores])
            if not search.is_done:
                for text in (exhausted(stores), *all_exhausted(stores)):
                    search.note(text)
        elif not own:
            search.note(EMPTY_OWN_STORES)
        else:
            await self._search_stores(search, digest, own)
            if not search.is_done:
                search.note(exhausted([store.url for store in own]))
                search.note(OWN_STORES_EXHAUSTED)

    async def _search_config_maps(self, search: Search, digest: str) -> None:
        try:
            found = await self.config_maps()
        except OLMError as error:
            search.note(error.message)
            return
        for config_map in found:
            for encoded in signatures_in(config_map, digest):
                try:
                    search.offer(base64.b64decode(encoded, validate=True))
                except binascii.Error as error:  # the API server takes no such value
                    search.note(str(error))
                if search.is_done:
                    return
            search.note(without_more(config_map, digest))

    async def _search_stores(self, search: Search, digest: str, stores: Sequence[OwnStore]) -> None:
        async with AsyncExitStack() as stack:
            clients: dict[str, httpx.AsyncClient] = {}
            asked = []
            for store in stores:
                try:
                    if not is_folder(store.url):
                        client = await self.connect(store.ca)
                        clients[store.url] = await stack.enter_async_context(client)
                    asked.append(store.url)
                except OLMError as error:
                    problem = "failed to process the ClusterVersion spec.signatureStores"
                    search.note(f"{problem} {error.message}")
            await search_stores(asked, digest, search, clients)


def cluster_verifier(
    client: KubeClient,
    configuration: Configuration | None,
    own_stores: Callable[[], Sequence[OwnStore] | None],
    cas_dir: Path | None = None,
) -> Verifier:
    """A verifier that reads signatures and CAs from a cluster.

    cas_dir  CAs of stores that are trusted besides the roots of the system
    """
    return Verifier(
        configuration=configuration,
        config_maps=SignatureConfigMaps(client).list,
        own_stores=own_stores,
        connect=StoreClients(client, cas_dir).connect,
        now=utc_now,
    )


def own_stores_of(cluster_version: KubeObject) -> Sequence[OwnStore] | None:
    """The stores that a ClusterVersion names; None if it does not say."""
    stores = (cluster_version.get("spec") or {}).get("signatureStores")
    if stores is None:
        return None
    return [OwnStore(each["url"], (each.get("ca") or {}).get("name") or "") for each in stores]
