"""Is an applied object doing what it is there for?

A probe looks at one live object and never at the cluster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Protocol

from api.objects import (
    CRD_KIND,
    GVK,
    KubeObject,
    condition,
    gvk_of,
    key_of,
    metadata,
    name_of,
    namespace_of,
)


class Health(Enum):
    """Three-valued: UNKNOWN means that the status does not yet speak of what we applied."""

    HEALTHY = auto()
    UNHEALTHY = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Finding:
    """The health of one object, and why when it is not healthy.

    `given`: by a probe that the revision brings itself.
    """

    health: Health
    message: str = ""
    given: bool = False

    def because(self, reason: str) -> "Finding":
        """The same with what is behind it, if that is known."""
        if not reason:
            return self
        separator = " " if self.message.endswith(".") else ": "
        return replace(self, message=f"{self.message}{separator}{reason}")


HEALTHY = Finding(Health.HEALTHY)
Probe = Callable[[KubeObject], Finding]
Gate = Callable[[GVK], bool]
"""Whether the next phase waits until objects of a kind are healthy."""


class GivenProbe(Protocol):
    """A probe that a revision brings itself, for some of its objects."""

    def may_select(self, gvk: GVK) -> bool:
        """Whether it may be for objects of a kind."""

    def selects(self, live: KubeObject) -> bool:
        """Whether it is for a live object."""

    def failures(self, live: KubeObject) -> tuple[str, ...]:
        """What does not hold of an object that it is for; empty when it is healthy."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What is asked of the objects of one revision.

    `given` are the revision's own, for which the next phase always waits; for those of Kubernetes'
    own kinds it waits as `gate` says.
    """

    gate: Gate
    given: tuple[GivenProbe, ...] = ()

    def ask(self, gvk: GVK) -> bool:
        """Whether objects of a kind can be other than healthy."""
        return has_probe(gvk.group, gvk.kind) or self.are_given(gvk)

    def hold_up(self, gvk: GVK) -> bool:
        """Whether the next phase may have to wait for objects of a kind."""
        return self.are_given(gvk) or (has_probe(gvk.group, gvk.kind) and self.gate(gvk))

    def only_report(self, gvk: GVK) -> bool:
        """Whether the health of objects of a kind is reported, though nothing waits for it."""
        return has_probe(gvk.group, gvk.kind) and not self.gate(gvk)

    def are_given(self, gvk: GVK) -> bool:
        """Whether the revision may bring a probe itself for objects of a kind."""
        return any(probe.may_select(gvk) for probe in self.given)

    def obstacle(self, live: KubeObject) -> Finding:
        """What the next phase waits for, of one object."""
        own = self._own(live)
        if own.health is not Health.HEALTHY or not self.gate(gvk_of(live)):
            return own
        return probe(live)

    def health(self, live: KubeObject) -> Finding:
        """Whether an object works, also when nothing waits for it."""
        own = self._own(live)
        return own if own.health is not Health.HEALTHY else probe(live)

    def _own(self, live: KubeObject) -> Finding:
        given = [own for own in self.given if own.selects(live)]
        if given and _is_outdated(live):
            return Finding(Health.UNKNOWN, OUTDATED, given=True)
        found = [message for own in given for message in own.failures(live)]
        return Finding(Health.UNHEALTHY, " and ".join(found), given=True) if found else HEALTHY


OUTDATED = ".status outdated"


def probe(live: KubeObject) -> Finding:
    """Runs the probe of the object's kind; kinds without one are healthy once they exist."""
    gvk = gvk_of(live)
    found = PROBES.get((gvk.group, gvk.kind))
    if found is None:
        return HEALTHY
    return Finding(Health.UNKNOWN, OUTDATED) if _is_outdated(live) else found(live)


def _is_outdated(live: KubeObject) -> bool:
    status = live.get("status")
    observed = status.get("observedGeneration") if isinstance(status, dict) else None
    return observed is not None and observed != metadata(live).get("generation")


def has_probe(group: str, kind: str) -> bool:
    """Whether objects of a kind can be other than healthy."""
    return (group, kind) in PROBES


def is_probed_by_watch(gvk: GVK) -> bool:
    """Whether objects of a kind are watched as a whole, so that none has to be read to be probed.

    Definitions are not: each of their many changes would bring a megabyte.
    """
    return has_probe(gvk.group, gvk.kind) and gvk.kind != CRD_KIND


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
    desired = (live.get("spec") or {}).get("replicas")
    desired = 1 if desired is None else desired
    if status.get("updatedReplicas", 0) != status.get("replicas", 0):
        counts = f"{status.get('updatedReplicas', 0)}/{status.get('replicas', 0)}"
        return Finding(Health.UNHEALTHY, f"{counts} replicas are updated")
    ready = status.get("availableReplicas", 0)
    if condition(live, "Available") is None and gvk_of(live).kind == "StatefulSet":
        # Kubernetes reports no such condition of StatefulSets: the numbers must do.
        if ready >= desired:
            return HEALTHY
        return Finding(Health.UNHEALTHY, f"{ready}/{desired} available")
    available = _condition_true("Available")(live)
    if available.health is Health.HEALTHY:
        return HEALTHY
    detail = _refused(live) or available.message
    return Finding(available.health, f"{ready}/{desired} available: {detail}")


def _refused(live: KubeObject) -> str:
    """Why pods are not even made: a quota, a policy, a webhook."""
    found = condition(live, "ReplicaFailure") or {}
    return str(found.get("message") or "") if found.get("status") == "True" else ""


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
    """A line for people: `Deployment ns/name: 0/1 available: ...`.

    Of a revision's own probes: `Object ConfigMap.v1 ns/name: ...`.
    """
    if not finding.given:
        return f"{key_of(live)}: {finding.message}"
    gvk = gvk_of(live)
    place = f"{namespace_of(live)}/{name_of(live)}"
    return f"Object {gvk.kind}.{gvk.api_version} {place}: {finding.message}"
