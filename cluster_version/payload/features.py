"""Which unfinished parts a cluster has: its feature set, and the gates that this opens.

Source of the rules: upstream's notes, sections 5.5 and 14.
"""

from dataclasses import dataclass

from api.objects import KubeObject

FEATURE_GATE_NAME = "cluster"
"""Of the only FeatureGate that counts."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a cluster has for a release.

    feature_set  empty for the default one
    gates        those that are enabled
    """

    feature_set: str = ""
    gates: frozenset[str] = frozenset()


DEFAULT = Features()


def features_of(feature_gate: KubeObject | None, version: str) -> Features:
    """What a FeatureGate says for a version; without one the default set, and no gate.

    The same holds for gates of a version that its status does not name yet.
    """
    if feature_gate is None:
        return DEFAULT
    versions = (feature_gate.get("status") or {}).get("featureGates") or ()
    enabled = (
        gate["name"]
        for details in versions
        if details.get("version") == version
        for gate in details.get("enabled") or ()
    )
    feature_set = (feature_gate.get("spec") or {}).get("featureSet") or ""
    return Features(feature_set, frozenset(enabled))
