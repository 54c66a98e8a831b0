"""Reads the facts that checks need, in parallel and bounded. Writes nothing."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from api.olm.v1 import names
from api.olm.v1.kinds import CATALOG, EXTENSION, OBJECT_SET
from olm_client.diagnosis import facts
from olm_client.diagnosis.asking import ask_catalogd, ask_registries, ask_rights
from olm_client.diagnosis.facts import Fact, Lack, Snapshot
from olm_client.diagnosis.listing import Lists
from olm_client.diagnosis.programs import PROGRAMS, holder_pod, parse_time
from olm_client.diagnosis.references import Named, calls, flag_values, is_behind, mounted
from olm_client.diagnosis.stuck import read_stuck
from olm_runtime.clocks import utc_now
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError

_OWNED = f"{names.LABEL_OWNER_KIND}={names.CLUSTER_EXTENSION}"
_PLAIN: Mapping[Fact, tuple[GVK, ...]] = MappingProxyType(
    {
        Fact.EXTENSIONS: (EXTENSION,),
        Fact.CATALOGS: (CATALOG,),
        Fact.OBJECT_SETS: (OBJECT_SET,),
        Fact.API_SERVICES: (facts.API_SERVICE,),
        Fact.NAMESPACES: (facts.NAMESPACE,),
        Fact.WEBHOOKS: (facts.VALIDATING, facts.MUTATING),
        Fact.BUDGETS: (facts.BUDGET,),
    }
)
"""The facts that are all objects of some kinds."""
_DEPENDS: Mapping[Fact, tuple[Fact, ...]] = MappingProxyType(
    {
        Fact.SERVICES: (Fact.WEBHOOKS, Fact.DEFINITIONS, Fact.API_SERVICES),
        Fact.DEPLOYMENTS: (Fact.SERVICES,),
        Fact.CERTIFICATES: (Fact.DEPLOYMENTS,),
        Fact.ACCOUNTS: (Fact.EXTENSIONS,),
        Fact.STUCK: (Fact.DEFINITIONS, Fact.NAMESPACES),
        Fact.ANSWERS: (Fact.CATALOGS,),
        Fact.REGISTRIES: (Fact.CATALOGS,),
        Fact.RIGHTS: (Fact.DEPLOYMENTS,),
    }
)
"""What has to be known before a fact can be read."""
_SECRET_KEYS = frozenset({"tls.crt", "ca.crt"})
"""Of the data of Secrets that is retained: never a private key."""


@dataclass(slots=True)
class Collector:
    """Reads one snapshot. `report` is called with what is being read.

    `cas` are the CAs of a catalogd that is asked directly, `allow_http` is to ask one without TLS.
    """

    kube: KubeClient
    access: ClusterAccess
    wanted: frozenset[Fact]
    report: Callable[[str], None]
    cas: Path | None = None
    allow_http: bool = False
    _objects: dict[Fact, Sequence[KubeObject]] = field(default_factory=dict)
    _lacks: dict[Fact, Sequence[Lack]] = field(default_factory=dict)

    async def collect(self) -> Snapshot:
        """Raises ApiError if the API server cannot be asked at all."""
        self.report("asking the API server who you are")
        snapshot = await _identity(self.kube, self.access)
        lists = Lists(self.kube)
        # Before extensions: what is made meanwhile must not look like a leftover.
        await self._read({Fact.OWNED: lists.labelled(_OWNED)})
        await self._read(
            {fact: lists.all_of(*kinds) for fact, kinds in _PLAIN.items()}
            | {
                Fact.DEFINITIONS: lists.definitions(),
                Fact.LEASES: lists.named_anywhere(facts.LEASE, [p.lease for p in PROGRAMS]),
                Fact.BINDINGS: lists.all_of(
                    facts.CLUSTER_ROLE_BINDING, labels=f"{names.LABEL_MANAGED_BY}=olm"
                ),
            }
        )
        await self._read({Fact.SERVICES: lists.services(self._services())})
        await self._read(
            {
                Fact.DEPLOYMENTS: lists.deployments(
                    _OWNED, [p.deployment for p in PROGRAMS], self._behind()
                ),
                Fact.ACCOUNTS: lists.each(self._accounts()),
                Fact.LEASES: self._with_pods(lists),
            }
        )
        await self._read({Fact.CERTIFICATES: self._certificates(lists)})
        snapshot = replace(snapshot, objects=self._objects, lacks=self._lacks)
        return await self._asked(snapshot, lists)

    async def _read(self, work: Mapping[Fact, Coroutine[Any, Any, Any]]) -> None:
        """Reads what is needed of some facts; the rest of the work is dropped."""
        needed = closure(self.wanted)
        for fact in work.keys() - needed:
            work[fact].close()
        fitting = [fact for fact in work if fact in needed]
        if fitting:
            self.report(f"reading {', '.join(fitting)}")
        for fact, (objects, lacks) in zip(
            fitting, await asyncio.gather(*(work[fact] for fact in fitting)), strict=True
        ):
            self._objects[fact] = objects
            self._lacks[fact] = lacks

    def _of(self, fact: Fact) -> Sequence[KubeObject]:
        return self._objects.get(fact, ())

    def _callers(self) -> list[KubeObject]:
        return [obj for fact in _DEPENDS[Fact.SERVICES] for obj in self._of(fact)]

    def _services(self) -> list[Named]:
        found = {Named(facts.SERVICE, c.namespace, c.service) for c in calls(self._callers())}
        return sorted(found)

    def _behind(self) -> list[str]:
        """The namespaces of Services that webhooks and conversions name."""
        return sorted({call.namespace for call in calls(self._callers())})

    def _accounts(self) -> list[Named]:
        specs = [obj.get("spec") or {} for obj in self._of(Fact.EXTENSIONS)]
        found = {
            Named(facts.SERVICE_ACCOUNT, str(spec.get("namespace")), str(account["name"]))
            for spec in specs
            if (account := spec.get("serviceAccount") or {}).get("name")
        }
        return sorted(found)

    async def _with_pods(self, lists: Lists) -> tuple[list[KubeObject], list[Lack]]:
        """The leases, and the pods that hold them."""
        leases = list(self._of(Fact.LEASES))
        holders = {
            Named(facts.POD, namespace_of(lease), holder_pod(lease))
            for lease in leases
            if holder_pod(lease)
        }
        pods, lacks = await lists.each(sorted(holders))
        return [*leases, *pods], [*self._lacks.get(Fact.LEASES, ()), *lacks]

    async def _certificates(self, lists: Lists) -> tuple[list[KubeObject], list[Lack]]:
        services = [obj for obj in self._of(Fact.SERVICES) if gvk_of(obj) == facts.SERVICE]
        programs = {program.deployment for program in PROGRAMS}
        workloads = [
            each
            for each in self._of(Fact.DEPLOYMENTS)
            if name_of(each) in programs or any(is_behind(each, service) for service in services)
        ]
        wanted = {named for workload in workloads for named in mounted(workload)}
        wanted |= {named for workload in workloads for named in _issued(workload)}
        found, lacks = await lists.each(sorted(wanted))
        return [_without_keys(obj) for obj in found], lacks

    async def _asked(self, snapshot: Snapshot, lists: Lists) -> Snapshot:
        """With the answers to what is no list."""
        wanted = closure(self.wanted)
        if Fact.STUCK in wanted:
            self.report("reading what is being deleted")
            snapshot = await read_stuck(snapshot, lists)
        if Fact.ANSWERS in wanted:
            self.report("asking catalogd")
            snapshot = await ask_catalogd(
                snapshot, self.access, self.cas, allow_http=self.allow_http
            )
        if Fact.REGISTRIES in wanted:
            self.report("asking registries")
            snapshot = await ask_registries(snapshot)
        if Fact.RIGHTS in wanted:
            self.report("asking for your rights")
            snapshot = await ask_rights(snapshot, self.kube)
        return snapshot


def closure(wanted: Iterable[Fact]) -> frozenset[Fact]:
    """The facts with all that has to be known before they can be read."""
    found, pending = set[Fact](), list(wanted)
    while pending:
        fact = pending.pop()
        if fact not in found:
            found.add(fact)
            pending += _DEPENDS.get(fact, ())
    return frozenset(found)


def _issued(workload: KubeObject) -> list[Named]:
    given = flag_values(workload, "serving-cert")
    return [Named(facts.SECRET, namespace_of(workload), each.partition(":")[0]) for each in given]


def _without_keys(obj: KubeObject) -> KubeObject:
    if gvk_of(obj) != facts.SECRET:
        return obj
    data = obj.get("data") or {}
    return {**obj, "data": {key: data[key] for key in data.keys() & _SECRET_KEYS}}


async def _identity(kube: KubeClient, access: ClusterAccess) -> Snapshot:
    """The server's version and time, and as whom it knows us. Raises ApiError."""
    version = await kube.request("GET", "/version")
    snapshot = Snapshot(
        server=access.server,
        version=str(version.get("gitVersion") or ""),
        now=utc_now(),
    )
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    try:
        found = await kube.request("POST", path, body=review)
    except ApiError:
        return snapshot  # it serves, and does not say who asks: only the name is not known
    user = ((found.get("status") or {}).get("userInfo") or {}).get("username") or ""
    created = (found.get("metadata") or {}).get("creationTimestamp")
    return replace(snapshot, user=str(user), now=parse_time(created) or snapshot.now)
