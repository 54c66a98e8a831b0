"""What an OpenShift cluster says about pulling images, as it is now: mirrors, proxies, CAs.

Nothing is asked at start. Before a pull there is one look, at most every few seconds, at which API
groups there are. Kinds that are served are followed from then on, so that a change counts at once,
and what failed without it is tried again. Other clusters are asked nothing else.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from api.objects import GVK, KubeObject
from api.openshift.config.v1.kinds import PROXY
from olm_runtime.controller.attempt import attempt
from olm_runtime.errors import TransientError
from olm_runtime.http.ca_file import CaFile
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.mirror_sets import MIRROR_KINDS, MirrorEntry, contradictions, read_entries
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.proxies import Proxies, read_cluster_proxies
from olm_runtime.watch.followed import Followed
from olm_runtime.watch.informer import Selection

LOOK_SECONDS = 10.0
CONFIG_MAP = GVK("", "v1", "ConfigMap")
THE_PROXY = "cluster"
INJECTED = "config.openshift.io/inject-trusted-cabundle=true"
"""The label that asks OpenShift to fill in the CAs of the system and of the cluster's proxy."""
CA_KEY = "ca-bundle.crt"
CA_NAMESPACE = "openshift-config"
"""Where the ConfigMap is that `spec.trustedCA` of the proxy names."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Proxy:
    """What is used of a Proxy."""

    proxies: Proxies = field(default_factory=Proxies)
    trusted_ca: str = ""
    faults: tuple[str, ...] = ()


class ClusterPulls:
    """Follows what the cluster says; `settings` is what it says now."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        """`namespace` is where a ConfigMap with the injected CAs may be: the program's own."""
        self.settings = ClusterSettings()
        self._client = client
        self._mirrors = [
            Followed(client, Selection(kind.gvk), partial(read_entries, kind), self._compose)
            for kind in MIRROR_KINDS
        ]
        self._proxies = Followed(client, Selection(PROXY), _read_proxy, self._compose)
        injected = Selection(CONFIG_MAP, namespace, INJECTED)
        self._injected = Followed(client, injected, _read_cas, self._compose)
        self._named_cas = ""
        self._ca_file = CaFile()
        self._looking, self._composing = asyncio.Lock(), asyncio.Lock()
        self._next_look = 0.0
        self._changed = asyncio.Event()
        self._faults: set[str] = set()
        self._named_fault = ""

    async def refresh(self) -> None:
        """To be called before a pull: `settings` are then as new as the API server lets us know."""
        async with self._looking:
            try:
                await self._look()
                await self._read_named_cas()
            except ApiError as error:
                log.warning("cannot find out what the cluster says about pulls: %s", error)

    async def act_on_changes(self, act: Callable[[], Awaitable[None]]) -> None:
        """Calls `act` after each change of `settings`, until cancelled; logs its errors."""
        trying = "a try of everything after a change of the cluster"
        while True:
            await self._changed.wait()
            self._changed.clear()
            failed = await attempt(act(), trying)
            if failed is not None:
                log.warning("%s failed: %s", trying, failed.message)

    async def close(self) -> None:
        """Stops following."""
        for kind in self._followed():
            await kind.close()
        self._ca_file.close()

    def _followed(self) -> list[Followed[Any]]:
        return [*self._mirrors, self._proxies, self._injected]

    async def _look(self) -> None:
        """Starts to follow what is served, if it is time to look. Raises ApiError."""
        idle = [kind for kind in self._followed() if not kind.running]
        now = asyncio.get_running_loop().time()
        if not idle or now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        answer = await self._client.request("GET", "/apis")
        groups = {group["name"] for group in answer["groups"]}
        if PROXY.group in groups:
            groups.add(CONFIG_MAP.group)
        served = (kind for kind in idle if kind.gvk.group in groups)
        await asyncio.gather(*(self._start(kind) for kind in served))

    async def _start(self, kind: Followed[Any]) -> None:
        """Follows a kind if it is served. Raises ApiError."""
        try:
            await self._client.resource(kind.gvk)
        except NotFoundError:
            return
        await kind.start()

    async def _read_named_cas(self) -> None:
        """The CAs that the proxy names, where OpenShift was not asked to inject them."""
        proxy = self._proxies.store.get(THE_PROXY) or _Proxy()
        name = "" if any(self._injected.store.objects()) else proxy.trusted_ca
        found, fault = "", ""
        if name:
            try:
                found = _read_cas(await self._client.get(CONFIG_MAP, name, CA_NAMESPACE))
            except ApiError as error:
                found = "" if isinstance(error, NotFoundError) else self._named_cas
                where = f"ConfigMap {CA_NAMESPACE}/{name}"
                fault = f"{where}, which Proxy {THE_PROXY} names, cannot be read: {error.message}"
        if (found, fault) != (self._named_cas, self._named_fault):
            self._named_cas, self._named_fault = found, fault
            await self._compose()

    async def _compose(self) -> None:
        """Makes settings of what is known."""
        async with self._composing:
            entries: list[MirrorEntry] = []
            proxy = self._proxies.store.get(THE_PROXY) or _Proxy()
            faults = [*proxy.faults, *filter(None, [self._named_fault])]
            for kind in self._mirrors:
                for good, bad in kind.by_name().values():
                    entries += good
                    faults += bad
            renewed = await self._write_cas(faults)
            self._warn([*faults, *contradictions(entries)])
            settings = ClusterSettings(tuple(entries), proxy.proxies, self._ca_file.path)
            if renewed or settings != self.settings:
                self.settings = settings
                self._changed.set()

    async def _write_cas(self, faults: list[str]) -> bool:
        """Whether the trusted CAs changed; adds to `faults` if these are none."""
        injected = (cas for cas in self._injected.by_name().values() if cas)
        try:
            return await self._ca_file.write("\n".join(injected) or self._named_cas)
        except TransientError as error:
            faults.append(f"the trusted CAs of the cluster are left out: {error.message}")
            return False

    def _warn(self, faults: list[str]) -> None:
        """Says what is wrong, once for as long as it is."""
        for fault in faults:
            if fault not in self._faults:
                log.warning("%s", fault)
        self._faults = set(faults)


def _read_proxy(obj: KubeObject) -> _Proxy:
    named = str(((obj.get("spec") or {}).get("trustedCA") or {}).get("name") or "")
    try:
        return _Proxy(read_cluster_proxies(obj.get("status") or {}), named)
    except TransientError as error:
        return _Proxy(trusted_ca=named, faults=(error.describe(),))


def _read_cas(obj: KubeObject) -> str:
    return str((obj.get("data") or {}).get(CA_KEY) or "")
