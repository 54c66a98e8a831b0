"""OLM's two programs as a cluster shows them, whoever made them: ours or upstream's. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.objects import KubeObject, name_of, namespace_of
from api.olm.v1 import names
from olm_client.diagnosis.facts import DEPLOYMENT, LEASE, POD, Fact, Snapshot

GRACE = timedelta(seconds=5)
"""A lease that is renewed late by this much still counts: clocks differ a little."""
RENEWED_WITHIN = timedelta(seconds=60)
"""Every leader renews more often; upstream's each 26 seconds."""


@dataclass(frozen=True, slots=True)
class Program:
    """One of them, by the names that both have; `finalizers` are those that it takes off."""

    name: str
    deployment: str
    lease: str
    finalizers: frozenset[str]


CONTROLLER = Program(
    "operator-controller",
    "operator-controller-controller-manager",
    "9c4404e7.operatorframework.io",
    frozenset(
        {
            names.FINALIZER_CLEANUP_UNPACK_CACHE,
            names.FINALIZER_CLEANUP_CONTENT_CACHE,
            names.FINALIZER_TEARDOWN,
        }
    ),
)
CATALOGD = Program(
    "catalogd",
    "catalogd-controller-manager",
    "catalogd-operator-lock",
    frozenset({names.FINALIZER_DELETE_SERVER_CACHE}),
)
PROGRAMS = (CONTROLLER, CATALOGD)


def deployments_of(snapshot: Snapshot, program: Program) -> list[KubeObject]:
    """Its Deployments, of whichever namespace."""
    found = snapshot.all(Fact.DEPLOYMENTS, DEPLOYMENT)
    return [obj for obj in found if name_of(obj) == program.deployment]


def leases_of(snapshot: Snapshot, program: Program) -> list[KubeObject]:
    """The Leases that its leaders hold or have held."""
    return [obj for obj in snapshot.all(Fact.LEASES, LEASE) if name_of(obj) == program.lease]


def is_held(lease: KubeObject, now: datetime) -> bool:
    """Whether somebody holds it, and renewed it in time."""
    spec = lease.get("spec") or {}
    ends = lease_ends(lease)
    return bool(spec.get("holderIdentity")) and ends is not None and now <= ends + GRACE


def lease_ends(lease: KubeObject) -> datetime | None:
    """When it may be taken by somebody else; None if it was never renewed."""
    spec = lease.get("spec") or {}
    renewed = parse_time(spec.get("renewTime"))
    seconds = timedelta(seconds=int(spec.get("leaseDurationSeconds") or 0))
    return renewed + seconds if renewed is not None else None


def holder_pod(lease: KubeObject) -> str:
    """The pod that holds a lease, by the form of identities: `POD_UID`; empty if nobody does."""
    holder = str((lease.get("spec") or {}).get("holderIdentity") or "")
    return holder.partition("_")[0]


def available(workload: KubeObject) -> int:
    """How many pods of a Deployment work."""
    return int((workload.get("status") or {}).get("availableReplicas") or 0)


def desired(workload: KubeObject) -> int:
    """How many pods of a Deployment are wanted."""
    replicas = (workload.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)


def is_working(snapshot: Snapshot, program: Program) -> bool:
    """Whether a pod of it is available or, outside the cluster, somebody holds its lease."""
    if any(map(available, deployments_of(snapshot, program))):
        return True
    return any(
        is_held(lease, snapshot.now) and not is_abandoned(snapshot, lease)
        for lease in leases_of(snapshot, program)
    )


def is_abandoned(snapshot: Snapshot, lease: KubeObject) -> bool:
    """Whether the pod that holds a lease is not there any more.

    A program outside the cluster has no pod: there is no Deployment of it, and it renews.
    """
    namespace, pod = namespace_of(lease), holder_pod(lease)
    if not pod or snapshot.find(Fact.LEASES, POD, pod, namespace) is not None:
        return False
    inside = any(
        name_of(lease) == program.lease and namespace == namespace_of(workload)
        for program in PROGRAMS
        for workload in deployments_of(snapshot, program)
    )
    renewed = parse_time((lease.get("spec") or {}).get("renewTime"))
    return inside or renewed is None or snapshot.now - renewed > RENEWED_WITHIN


def namespaces_of(snapshot: Snapshot, program: Program) -> Sequence[str]:
    """Where it is installed; upstream's place where nothing says so."""
    found = [*deployments_of(snapshot, program), *leases_of(snapshot, program)]
    return sorted({namespace_of(obj) for obj in found}) or [names.DEFAULT_SYSTEM_NAMESPACE]


def parse_time(text: object) -> datetime | None:
    """A time as Kubernetes writes it; None for anything else."""
    try:
        return datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
