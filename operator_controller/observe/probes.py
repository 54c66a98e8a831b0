"""Is an applied object doing what it is there for?

The default probes are upstream's. A probe looks at one live object and never at the cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from olm_shared.kube_object import KubeObject, condition, gvk_of, key_of, metadata


class Health(Enum):
    """Three-valued: UNKNOWN means that the status does not yet speak of what we applied."""

    HEALTHY = auto()
    UNHEALTHY = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Finding:
    """The health of one object, and why when it is not healthy."""

    health: Health
    message: str = ""


HEALTHY = Finding(Health.HEALTHY)
Probe = Callable[[KubeObject], Finding]


def probe(live: KubeObject) -> Finding:
    """Runs the probe of the object's kind; kinds without one are healthy once they exist."""
    gvk = gvk_of(live)
    found = PROBES.get((gvk.group, gvk.kind))
    if found is None:
        return HEALTHY
    observed = (live.get("status") or {}).get("observedGeneration")
    if observed is not None and observed != metadata(live).get("generation"):
        return Finding(Health.UNKNOWN, ".status outdated")
    return found(live)


def has_probe(group: str, kind: str) -> bool:
    """Whether objects of a kind can be other than healthy."""
    return (group, kind) in PROBES


def _condition_true(kind: str) -> Probe:
    def check(live: KubeObject) -> Finding:
        found = condition(live, kind)
        if found is None:
            return Finding(Health.UNHEALTHY, f'condition "{kind}" is not reported yet')
        if found.get("status") == "True":
            return HEALTHY
        detail = found.get("message") or found.get("reason") or ""
        return Finding(
            Health.UNHEALTHY, f'condition "{kind}" is {found.get("status")}: {detail}'.rstrip(": ")
        )

    return check


def _phase_is(expected: str) -> Probe:
    def check(live: KubeObject) -> Finding:
        actual = (live.get("status") or {}).get("phase") or ""
        if actual == expected:
            return HEALTHY
        return Finding(
            Health.UNHEALTHY,
            f'value at key "status.phase" != "{expected}"; expected: "{expected}" got: "{actual}"',
        )

    return check


def _workload(live: KubeObject) -> Finding:
    status = live.get("status") or {}
    wanted = (live.get("spec") or {}).get("replicas")
    wanted = 1 if wanted is None else wanted
    if status.get("updatedReplicas", 0) != status.get("replicas", 0):
        counts = f"{status.get('updatedReplicas', 0)}/{status.get('replicas', 0)}"
        return Finding(Health.UNHEALTHY, f"{counts} replicas are updated")
    ready = status.get("availableReplicas", 0)
    if condition(live, "Available") is None and gvk_of(live).kind == "StatefulSet":
        # Kubernetes reports no such condition of StatefulSets: the numbers must do.
        if ready >= wanted:
            return HEALTHY
        return Finding(Health.UNHEALTHY, f"{ready}/{wanted} available")
    available = _condition_true("Available")(live)
    if available.health is Health.HEALTHY:
        return HEALTHY
    return Finding(available.health, f"{ready}/{wanted} available: {available.message}")


PROBES: dict[tuple[str, str], Probe] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _condition_true("Established"),
    ("cert-manager.io", "Certificate"): _condition_true("Ready"),
    ("cert-manager.io", "Issuer"): _condition_true("Ready"),
    ("", "Namespace"): _phase_is("Active"),
    ("", "PersistentVolumeClaim"): _phase_is("Bound"),
    ("apps", "Deployment"): _workload,
    ("apps", "StatefulSet"): _workload,
}


def describe(live: KubeObject, finding: Finding) -> str:
    """A line for people: `Deployment ns/name: 0/1 available: ...`."""
    return f"{key_of(live)}: {finding.message}"
