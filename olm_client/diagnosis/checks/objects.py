"""What is left of what is gone, and what stands in the way of pods. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from api.objects import (
    KubeObject,
    condition,
    gvk_of,
    is_deleting,
    key_of,
    labels_of,
    name_of,
    namespace_of,
)
from api.olm.v1 import names
from olm_client.diagnosis.commands import patch, resource_of
from olm_client.diagnosis.facts import BUDGET, DEFINITION, DEPLOYMENT, Fact, Snapshot
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.programs import PROGRAMS, available, deployments_of, desired
from olm_client.diagnosis.words import counted
from olm_rollout.ownership import controller_of

_ROLES = "clusterrolebinding,clusterrole"


def leftovers(snapshot: Snapshot) -> Iterator[Finding]:
    """Objects that say whose they are, and that one is gone."""
    known = {names.label_value(name_of(obj)) for obj in snapshot.all(Fact.EXTENSIONS)}
    orphans: dict[str, list[KubeObject]] = {}
    for obj in snapshot.all(Fact.OWNED):
        owner = labels_of(obj).get(names.LABEL_OWNER_NAME, "")
        if owner and owner not in known and not is_deleting(obj):
            orphans.setdefault(owner, []).append(obj)
    for owner, objects in sorted(orphans.items()):
        yield _orphaned(owner, objects)
    yield from _bindings(snapshot)


def _orphaned(owner: str, objects: Sequence[KubeObject]) -> Finding:
    kinds = sorted({gvk_of(obj) for obj in objects})
    counts = ", ".join(
        f"{sum(gvk_of(obj) == kind for obj in objects)} {kind.kind}" for kind in kinds
    )
    labels = {names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION, names.LABEL_OWNER_NAME: owner}
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    resources = ",".join(map(resource_of, kinds))
    everywhere = " --all-namespaces" if any(map(namespace_of, objects)) else ""
    defines = any(gvk_of(obj) == DEFINITION for obj in objects)
    gone = [obj for obj in objects if controller_of(obj) is not None]
    left = f"{counted(len(objects), 'object')} of it {'is' if len(objects) == 1 else 'are'} left"
    return Finding(
        Severity.WARNING,
        f"extension {owner} is gone, and {left}: {counts}",
        key_of(objects[0]),
        why="the garbage collector has not come to them, or cannot"
        if len(gone) == len(objects)
        else "they have no owner any more, as after kubectl delete --cascade=orphan, or a removal "
        "that was cut short",
        remedies=(
            Remedy(
                "have them again: install an extension of that name",
                (f"olm install PACKAGE --extension {owner}",),
            ),
            Remedy(
                "delete them",
                (f"kubectl delete {resources} --selector {selector}{everywhere}",),
                loses="all objects of the definitions among them" if defines else "their content",
            ),
        ),
    )


def _bindings(snapshot: Snapshot) -> Iterator[Finding]:
    """Rights that olm granted to accounts of which no extension is installed any more."""
    specs = [obj.get("spec") or {} for obj in snapshot.all(Fact.EXTENSIONS)]
    used = {
        (spec.get("namespace"), (spec.get("serviceAccount") or {}).get("name")) for spec in specs
    }
    for binding in snapshot.all(Fact.BINDINGS):
        subjects: Sequence[Mapping[str, str]] = binding.get("subjects") or ()
        accounts = {(each.get("namespace"), each.get("name")) for each in subjects}
        if accounts and accounts.isdisjoint(used):
            yield _granted(binding, sorted(f"{place}/{name}" for place, name in accounts))


def _granted(binding: KubeObject, accounts: Sequence[str]) -> Finding:
    name, (place, _, account) = name_of(binding), accounts[0].partition("/")
    inside = f"kubectl delete rolebinding,role,serviceaccount {account} --ignore-not-found"
    return Finding(
        Severity.WARNING,
        f"service account {accounts[0]} still has the rights that olm granted it",
        key_of(binding),
        why="no extension is installed as this account",
        remedies=(
            Remedy(
                "take them away",
                (
                    f"kubectl delete {_ROLES} {name} --ignore-not-found",
                    f"{inside} --namespace {place}",
                ),
            ),
        ),
    )


def leftovers_well(snapshot: Snapshot) -> str:
    """In a line."""
    found = counted(len(snapshot.all(Fact.OWNED)), "object")
    return f"{found} of extensions, none without its extension"


def _workloads(snapshot: Snapshot) -> list[KubeObject]:
    """The Deployments of OLM and of extensions."""
    own = [obj for program in PROGRAMS for obj in deployments_of(snapshot, program)]
    owned = [
        obj
        for obj in snapshot.all(Fact.DEPLOYMENTS, DEPLOYMENT)
        if labels_of(obj).get(names.LABEL_OWNER_KIND) == names.CLUSTER_EXTENSION
    ]
    return [*own, *owned]


def quotas(snapshot: Snapshot) -> Iterator[Finding]:
    """Deployments whose pods may not be made: quotas, policies, limits."""
    for workload in _workloads(snapshot):
        failure = condition(workload, "ReplicaFailure") or {}
        if failure.get("status") != "True":
            continue
        message = str(failure.get("message") or "")
        place = f"--namespace {namespace_of(workload)}"
        yield Finding(
            Severity.WARNING if available(workload) else Severity.ERROR,
            f"pods of {key_of(workload)} cannot be made",
            key_of(workload),
            why=message,
            remedies=(*_allowing(workload, message), _asking(place, message)),
        )


def _allowing(workload: KubeObject, message: str) -> Iterator[Remedy]:
    """For a quota of pods: room for those that are wanted."""
    quota, _, rest = message.partition("exceeded quota: ")[2].partition(",")
    limited = rest.rpartition("limited: ")[2]
    if quota and limited.startswith("pods="):
        room = int(limited.removeprefix("pods=").partition(",")[0]) + desired(workload)
        raised = {"spec": {"hard": {"pods": str(room)}}}
        obj = {"apiVersion": "v1", "kind": "ResourceQuota"}
        where = {"metadata": {"name": quota.strip(), "namespace": namespace_of(workload)}}
        yield Remedy("raise the quota", (patch({**obj, **where}, raised),))


def _asking(place: str, message: str) -> Remedy:
    kind = "resourcequota" if "exceeded quota" in message else "replicasets"
    return Remedy("see what refuses them", (f"kubectl {place} describe {kind}",))


def quotas_well(snapshot: Snapshot) -> str:
    """In a line."""
    found = counted(len(_workloads(snapshot)), "Deployment")
    return f"{found} of OLM and extensions, none without its pods for a quota"


def disruption_budgets(snapshot: Snapshot) -> Iterator[Finding]:
    """Budgets that never allow a pod to be moved, so that nodes cannot be drained."""
    places = {namespace_of(workload) for workload in _workloads(snapshot)}
    for budget in snapshot.all(Fact.BUDGETS, BUDGET):
        status = budget.get("status") or {}
        expected = int(status.get("expectedPods") or 0)
        if namespace_of(budget) not in places or not expected:
            continue
        if int(status.get("desiredHealthy") or 0) >= expected:
            yield Finding(
                Severity.WARNING,
                f"{key_of(budget)} allows no disruption: nodes with its pods cannot be drained",
                key_of(budget),
                why=f"it wants {status.get('desiredHealthy')} of {expected} pods healthy at all "
                "times",
                remedies=(
                    Remedy(
                        "allow one pod to be away",
                        (patch(budget, {"spec": {"minAvailable": None, "maxUnavailable": 1}}),),
                    ),
                ),
            )


def disruption_budgets_well(_: Snapshot) -> str:
    """In a line."""
    return "every disruption budget of OLM and extensions lets pods be moved"
