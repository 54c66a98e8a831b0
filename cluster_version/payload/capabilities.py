"""The optional parts of a cluster: which are known, and which it has.

None can be taken away again: what was enabled before stays, and what the ClusterVersion does not
ask for is enabled implicitly. Source of the rules: upstream's notes, section 13.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluster_version.payload.inclusion import Capabilities, Filters, capabilities_of, left_out
from cluster_version.payload.manifests import Manifest

CURRENT = "vCurrent"
"""The set of all; the baseline of a cluster that names none."""

_V4_11 = ("baremetal", "MachineAPI", "marketplace", "openshift-samples")
_V4_12 = (*_V4_11, "Console", "Insights", "Storage", "CSISnapshot")
_V4_13 = (*_V4_12, "NodeTuning")
_V4_14 = (*_V4_13, "Build", "DeploymentConfig", "ImageRegistry")
_V4_15 = (*_V4_14, "OperatorLifecycleManager", "CloudCredential")
_V4_16 = (*_V4_15, "Ingress", "CloudControllerManager")
_V4_18 = (*_V4_16, "OperatorLifecycleManagerV1")
_GATED: Mapping[str, frozenset[str]] = {
    "ClusterAPI": frozenset({"ClusterAPIMachineManagement"}),
    "CompatibilityRequirements": frozenset(
        {"ClusterAPIMachineManagement", "CRDCompatibilityRequirementOperator"}
    ),
}
"""Capabilities that there are only while one of these feature gates is enabled."""
_ALL = (*_V4_18, *_GATED)
SETS: Mapping[str, Sequence[str]] = {
    "None": (),
    "v4.11": _V4_11,
    "v4.12": _V4_12,
    "v4.13": _V4_13,
    "v4.14": _V4_14,
    "v4.15": _V4_15,
    "v4.16": _V4_16,
    "v4.17": _V4_16,
    "v4.18": _V4_18,
    CURRENT: _ALL,
}
"""Baselines, and what is in them."""


@dataclass(frozen=True, slots=True)
class ClusterCapabilities:
    """What a cluster knows and has; `implicit` are those that nobody asked for."""

    known: frozenset[str]
    enabled: frozenset[str]
    implicit: frozenset[str]

    def as_filter(self) -> Capabilities:
        """What manifests are compared with."""
        return Capabilities(self.known, self.enabled)


def cluster_capabilities(
    spec: Mapping[str, Any] | None, before: Iterable[str], feature_gates: Collection[str]
) -> ClusterCapabilities:
    """`spec` is `spec.capabilities` of the ClusterVersion, `before` what must stay enabled."""
    asked = spec or {}
    baseline = SETS[asked.get("baselineCapabilitySet") or CURRENT]
    wanted = frozenset((*baseline, *(asked.get("additionalEnabledCapabilities") or ())))
    implicit = frozenset(before) - wanted
    closed = {name for name, gates in _GATED.items() if gates.isdisjoint(feature_gates)}
    return ClusterCapabilities(
        known=frozenset(_ALL) - closed,
        enabled=(wanted | implicit) - closed,
        implicit=implicit - closed,
    )


def implicit_after(
    capabilities: ClusterCapabilities,
    current: Iterable[Manifest],
    update: Iterable[Manifest],
) -> frozenset[str]:
    """What is enabled implicitly by an update.

    An object that is applied today, and of a capability in the update that is not enabled, stays:
    with it the capability is enabled, whether it is known or not.
    """
    filters = Filters(capabilities=capabilities.as_filter(), any_capability=True)
    applied = {
        manifest.identity: manifest
        for manifest in current
        if not left_out(manifest.object, filters)
    }
    found = set(capabilities.implicit)
    for manifest in update:
        before = applied.get(manifest.identity)
        if before is not None and left_out(manifest.object, filters):
            moved = {*capabilities_of(manifest.object)} - {*capabilities_of(before.object)}
            found |= moved - capabilities.enabled
    return frozenset(found)
