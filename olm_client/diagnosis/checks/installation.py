"""OLM's programs: whether they run, how often, and who leads. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.objects import (
    KubeObject,
    condition,
    is_deleting,
    key_of,
    name_of,
    namespace_of,
)
from api.olm.v1.kinds import CATALOG, EXTENSION
from olm_client.diagnosis.checks.cluster import INSTALL
from olm_client.diagnosis.commands import delete, place_of
from olm_client.diagnosis.facts import Fact, Snapshot
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.programs import (
    CONTROLLER,
    PROGRAMS,
    Program,
    available,
    deployments_of,
    desired,
    holder_pod,
    is_abandoned,
    is_held,
    is_working,
    lease_ends,
    leases_of,
)
from olm_client.diagnosis.words import counted


def programs(snapshot: Snapshot) -> Iterator[Finding]:
    """Whether both programs run."""
    if not snapshot.is_installed:
        return
    for program in PROGRAMS:
        found = deployments_of(snapshot, program)
        for workload in found:
            if not available(workload):
                yield _down(program, workload)
        if not found and not is_working(snapshot, program):
            yield _absent(snapshot, program)


def _down(program: Program, workload: KubeObject) -> Finding:
    if desired(workload) == 0:
        why = "its Deployment is scaled to 0"
        command = f"kubectl scale deployment {name_of(workload)}{place_of(workload)} --replicas=1"
        remedy = Remedy("start it", (command,))
    else:
        failed = condition(workload, "ReplicaFailure") or condition(workload, "Available") or {}
        why = str(failed.get("message") or f"0 of {desired(workload)} pods are available")
        place = f"kubectl --namespace {namespace_of(workload)}"
        remedy = Remedy(
            "see what its pods say",
            (f"{place} describe deployment {name_of(workload)}", f"{place} get events"),
        )
    return Finding(
        Severity.ERROR,
        f"{program.name} does not run: nothing that it is to do is done",
        key_of(workload),
        why=why,
        remedies=(remedy,),
    )


def _absent(snapshot: Snapshot, program: Program) -> Finding:
    """No Deployment, and no lease that is renewed. It may run elsewhere without election."""
    waiting = waiting_for(snapshot, program)
    if waiting:
        message = f"{program.name} does not run: {key_of(waiting[0])} waits for it"
        severity = Severity.ERROR
    else:
        message = f"{program.name} is not in the cluster: neither a Deployment nor a held Lease"
        severity = Severity.WARNING
    return Finding(
        severity,
        message,
        key_of(waiting[0]) if waiting else None,
        why="its definitions are there, but nobody acts on their objects"
        if waiting
        else "it may run outside the cluster without --leader-elect, as in make demo",
        remedies=(INSTALL,),
    )


def waiting_for(snapshot: Snapshot, program: Program) -> list[KubeObject]:
    """Objects that a program should have looked at: being deleted, or changed a while ago."""
    kind, fact = (EXTENSION, Fact.EXTENSIONS) if program is CONTROLLER else (CATALOG, Fact.CATALOGS)
    return [obj for obj in snapshot.all(fact, kind) if is_deleting(obj) or not _observed(obj)]


def _observed(obj: KubeObject) -> bool:
    conditions: Sequence[Mapping[str, Any]] = (obj.get("status") or {}).get("conditions") or ()
    generation = (obj.get("metadata") or {}).get("generation")
    return any(each.get("observedGeneration") == generation for each in conditions)


def programs_well(snapshot: Snapshot) -> str:
    """In a line."""
    if not snapshot.is_installed:
        return "nothing to look at"
    found = [obj for program in PROGRAMS for obj in deployments_of(snapshot, program)]
    pods = sum(map(available, found))
    where = ", ".join(sorted({namespace_of(obj) for obj in found}))
    if not found:
        return "catalogd and operator-controller run outside the cluster, and hold their Leases"
    return f"catalogd and operator-controller run, {counted(pods, 'pod')} in {where}"


def installations(snapshot: Snapshot) -> Iterator[Finding]:
    """Two installs, which undo each other's work."""
    for program in PROGRAMS:
        found = deployments_of(snapshot, program)
        held = [lease for lease in leases_of(snapshot, program) if is_held(lease, snapshot.now)]
        places = sorted({namespace_of(obj) for obj in [*found, *held]})
        if len(places) < 2:
            continue
        named = f"--field-selector metadata.name={program.lease}"
        find = f"kubectl get leases --all-namespaces {named}"
        yield Finding(
            Severity.ERROR,
            f"{program.name} is installed {len(places)} times: in {', '.join(places)}",
            key_of((found or held)[0]),
            why="each acts on all extensions and catalogs of the cluster, and undoes what the "
            "other does",
            remedies=tuple(
                Remedy(f"stop the one in {namespace_of(obj)}", (delete(obj),)) for obj in found
            )
            or (Remedy("find the second one", (find,)),),
        )


def installations_well(snapshot: Snapshot) -> str:
    """In a line."""
    return "OLM is installed once" if snapshot.is_installed else "nothing to look at"


def leader(snapshot: Snapshot) -> Iterator[Finding]:
    """Leases that are held by nobody who is there, and so keep others from leading."""
    for program in PROGRAMS:
        for lease in leases_of(snapshot, program):
            ends = lease_ends(lease)
            if ends is None or not holder_pod(lease) or not is_abandoned(snapshot, lease):
                continue
            if is_held(lease, snapshot.now):
                until = f"nobody else may take it before {ends:%H:%M:%S} UTC"
                yield _blocked(lease, program, until)
            elif any(map(available, deployments_of(snapshot, program))):
                yield _blocked(lease, program, f"it ended at {ends:%Y-%m-%d %H:%M:%S} UTC")


def _blocked(lease: KubeObject, program: Program, until: str) -> Finding:
    return Finding(
        Severity.ERROR,
        f"{program.name} has no leader: its Lease is held by {holder_pod(lease)}, which is gone",
        key_of(lease),
        why=f"no pod of that name is in namespace {namespace_of(lease)}, and {until}",
        remedies=(Remedy("release it; whoever runs takes it within seconds", (delete(lease),)),),
    )


def leader_well(snapshot: Snapshot) -> str:
    """In a line."""
    held = [
        f"{program.name}: {holder_pod(lease)}"
        for program in PROGRAMS
        for lease in leases_of(snapshot, program)
        if is_held(lease, snapshot.now)
    ]
    return ", ".join(held) or "no election takes place"
