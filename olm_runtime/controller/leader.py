"""Leader election by Lease, in UTC outside and by the monotonic clock inside.

One holder at a time: a lease is taken only when its record has not changed for the lease's whole
duration on our own clock, so clocks of different machines need not agree. A leader that cannot
renew before its deadline stops leading; the program then exits and starts anew.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from api.objects import GVK, KubeObject
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError

LEASE = GVK("coordination.k8s.io", "v1", "Lease")
RELEASE_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """Seconds: how long a lease holds, when its holder gives up renewing, how often it tries.

    A leader that is killed is replaced at most `duration + retry` later. It stops by itself
    `duration - renew_deadline` before anybody else may begin. As Kubernetes' own components have
    them; at one small write each two seconds.
    """

    duration: float = 15.0
    renew_deadline: float = 10.0
    retry: float = 2.0


class LeasePlace(NamedTuple):
    """Where a lease is; `makes_namespace`: whether its namespace is made where it is missing."""

    namespace: str
    name: str
    makes_namespace: bool = False


ENDS = "the program ends, as another one may lead by now; start it again, as a Deployment does"


class LostLeadershipError(OLMError):
    """Somebody else may lead now: stop writing at once."""


class Elector:
    """Waits for a lease, works while holding it, releases it at the end."""

    def __init__(
        self,
        client: KubeClient,
        *,
        lease: LeasePlace,
        identity: str,
        times: LeaseTimes | None = None,
        clock: Callable[[], datetime] = lambda: datetime.fromtimestamp(time.time(), UTC),
    ) -> None:
        self._client = client
        self._namespace, self._name, self._makes_namespace = lease
        self._identity = identity
        self._times = times or LeaseTimes()
        self._clock = clock
        self._seen: tuple[str, float] = ("", 0.0)
        self._taken = False
        self._leading = False

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Runs `work` once as leader. Raises LostLeadershipError when the lease is lost."""
        try:
            while not await self._acquired():  # noqa: ASYNC110 - the event is in another process
                await asyncio.sleep(self._pause())
            log.info("leading as %s", self._identity)
            self._leading = True
            await self._lead(work)
        finally:
            if self._taken:
                await self._release()

    async def _lead(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                renewing = group.create_task(self._renew())
                await work()
                renewing.cancel()
        except BaseExceptionGroup as group:
            lost = group.subgroup(LostLeadershipError)
            if lost is not None:
                raise LostLeadershipError(str(lost.exceptions[0])) from group
            raise

    def _pause(self) -> float:
        return min(self._times.retry, 2.0)

    async def _renew(self) -> None:
        renewed = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(self._times.retry)
            renewed = await self._renewed_before(renewed + self._times.renew_deadline)

    async def _renewed_before(self, deadline: float) -> float:
        """When the renewal that succeeded was begun; errors are tried over until the deadline."""
        try:
            async with asyncio.timeout_at(deadline):
                while True:
                    begun = asyncio.get_running_loop().time()
                    if await self._acquired():
                        return begun
                    await asyncio.sleep(self._pause())
        except TimeoutError as error:
            message = f"could not renew lease {self._name} in time"
            raise LostLeadershipError(message, hint=ENDS) from error

    async def _acquired(self) -> bool:
        try:
            return await self._attempt()
        except ApiError as error:
            log.warning("did not get lease %s: %s", self._name, error)
            return False

    async def _attempt(self) -> bool:
        try:
            lease = await self._client.get(LEASE, self._name, self._namespace)
        except NotFoundError:
            lease = None
        return await self._take(lease)

    async def _take(self, lease: KubeObject | None) -> bool:
        if lease is None:
            self._taken = True  # before it is sure: a kill in between must not leave it held
            await self._create(self._record({}, {}))
            return True
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        if holder and holder != self._identity and not self._expired(lease, spec):
            if self._leading:
                raise LostLeadershipError(f"lease {self._name} is held by {holder}")
            return False
        self._taken = True
        body = self._record(spec, {"resourceVersion": lease["metadata"]["resourceVersion"]})
        await self._client.patch(body, body)
        return True

    async def _create(self, lease: KubeObject) -> None:
        try:
            await self._client.create(lease, field_manager=self._identity)
        except NotFoundError:
            if not self._makes_namespace:
                raise
            meta = {"name": self._namespace}
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
            await self._client.create(namespace, field_manager=self._identity)
            await self._client.create(lease, field_manager=self._identity)

    def _expired(self, lease: KubeObject, spec: dict[str, Any]) -> bool:
        version = lease["metadata"]["resourceVersion"]
        now = time.monotonic()
        if self._seen[0] != version:
            self._seen = (version, now)
        return now - self._seen[1] > float(spec.get("leaseDurationSeconds") or 0)

    def _record(self, old: dict[str, Any], meta: dict[str, Any]) -> KubeObject:
        now = self._clock().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        mine = old.get("holderIdentity") == self._identity
        return {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {"name": self._name, "namespace": self._namespace, **meta},
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": round(self._times.duration),
                "acquireTime": (mine and old.get("acquireTime")) or now,
                "renewTime": now,
                "leaseTransitions": _transitions(old, mine=mine),
            },
        }

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await self._give_back()
        except (ApiError, TimeoutError) as error:
            log.warning("lease %s is not released and will expire: %s", self._name, error)

    async def _give_back(self) -> None:
        lease = await self._client.get(LEASE, self._name, self._namespace)
        if (lease.get("spec") or {}).get("holderIdentity") != self._identity:
            return
        body = self._record(
            lease["spec"], {"resourceVersion": lease["metadata"]["resourceVersion"]}
        )
        body["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1}
        await self._client.patch(body, body)


def _transitions(old: dict[str, Any], *, mine: bool) -> int:
    """How often the lease passed to another holder; its first one is no transition."""
    before = int(old.get("leaseTransitions") or 0)
    return before if mine or not old else before + 1
