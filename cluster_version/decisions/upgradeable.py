"""The condition Upgradeable: what speaks against updates to other minor versions.

Source of the rules: upstream's notes, section 8.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from api.conditions import REASON, Condition, ConditionStatus
from api.objects import KubeObject, condition, is_true, name_of
from cluster_version.decisions.admin_gates import (
    ACKS,
    ACKS_NAMESPACE,
    GATES,
    GATES_NAMESPACE,
    gate_risks,
)
from cluster_version.decisions.admin_gates import SOURCE as ADMIN_ACK
from cluster_version.decisions.objects import current_version, has_overrides
from cluster_version.decisions.risk import Risk, documentation
from olm_content.formats.go_text import quote
from olm_content.versions import Version, VersionError, parse_version

UPGRADEABLE = "Upgradeable"
MULTIPLE, UNNAMED = "MultipleReasons", "RiskNameNotCompatibleWithReasonProperty"
"""Reasons: of several risks, and of one whose name cannot be a reason."""
UPDATING, OVERRIDES = "ClusterVersionUpdating", "ClusterVersionOverrides"
DELETION, OPERATOR = "ResourceDeletionInProgress", "ClusterOperatorUpgradeable"

_CONDITION_TYPES = (
    "updating_clusters/understanding-openshift-updates-1#understanding_clusteroperator_"
    "conditiontypes_understanding-openshift-updates"
)
_MANIFESTS = (
    "updating_clusters/understanding-openshift-updates-1#update-manifest-application_"
    "how-updates-work"
)
_OVERRIDES = "config_apis/clusterversion-config-openshift-io-v1#spec-8"
_NOTHING = Version(0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What risks are found in.

    version    that of the operator's release
    operators  all ClusterOperators
    gates      data of the ConfigMap, as `acks`; None if there is no such ConfigMap
    deletions  objects of the release that are being deleted and are still there
    """

    cluster_version: KubeObject
    version: str
    operators: Sequence[KubeObject] = ()
    gates: Mapping[str, str] | None = None
    acks: Mapping[str, str] | None = None
    deletions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Risks, sources that know nothing, and the version from which an update would begin."""

    risks: tuple[Risk, ...] = ()
    problems: tuple[str, ...] = ()
    begins: Mapping[str, Version] = field(default_factory=dict)

    def concerned(self, versions: Iterable[str]) -> dict[str, list[str]]:
        """By name of a risk those of the versions that it speaks against."""
        targets = [*versions]
        concerned = {
            name: [each for each in targets if _is_beyond(each, begin)]
            for name, begin in self.begins.items()
        }
        return {name: beyond for name, beyond in concerned.items() if beyond}


def _is_beyond(text: str, current: Version) -> bool:
    """Whether a version is of a later minor version; of one that is none nobody knows."""
    try:
        target = parse_version(text)
    except VersionError:
        return True
    return (target.major, target.minor) > (current.major, current.minor)


def own_risks(cluster: Cluster) -> Found:
    """What speaks against updates of a cluster to other minor versions."""
    sources = (_updating, _overrides, _deletions, _admin_gates, _operators)
    found = [source(cluster) for source in sources]
    return Found(
        tuple(chain.from_iterable(each.risks for each in found)),
        tuple(chain.from_iterable(each.problems for each in found)),
        {name: version for each in found for name, version in each.begins.items()},
    )


def _of(risks: Iterable[Risk], begin: Version) -> Found:
    listed = tuple(risks)
    return Found(listed, (), {risk.name: begin for risk in listed})


def _unknown(source: str, message: str, problem: str, begin: Version = _NOTHING) -> Found:
    """A source that knows nothing is a risk."""
    risk = Risk(f"{source}Unknown", f"{message}: {problem}")
    return Found((risk,), (problem,), {risk.name: begin})


# --- what the ClusterVersion says ----------------------------------------------------------------


def _updating(cluster: Cluster) -> Found:
    if not is_true(cluster.cluster_version, "Progressing"):
        return Found()
    message = "An update is already in progress and the details are in the Progressing condition."
    return _of_cluster_version(cluster, UPDATING, message, _CONDITION_TYPES)


def _overrides(cluster: Cluster) -> Found:
    if not has_overrides(cluster.cluster_version):
        return Found()
    message = (
        "Disabling ownership via cluster version overrides prevents updates between minor or "
        "major versions. Please remove overrides before requesting a minor or major version update."
    )
    return _of_cluster_version(cluster, OVERRIDES, message, _OVERRIDES)


def _of_cluster_version(cluster: Cluster, name: str, message: str, page: str) -> Found:
    text = current_version(cluster.cluster_version)
    try:
        version = parse_version(text)
    except VersionError as error:
        problem = f"failed to parse current target {quote(text)} to SemVer: {error.message}"
        return Found((), (problem,))
    return _of([Risk(name, message, documentation(version, page))], version)


# --- what the cluster says -----------------------------------------------------------------------


def _deletions(cluster: Cluster) -> Found:
    if not cluster.deletions:
        return Found()
    try:
        version = parse_version(cluster.version)
    except VersionError as error:
        problem = "Failed to parse cluster version to check resource deletion"
        return _unknown(DELETION, problem, error.message)
    message = (
        "Cluster minor or major version upgrades are not allowed while resource deletions are in "
        f"progress; resources={','.join(sorted(cluster.deletions))}"
    )
    return _of([Risk(DELETION, message, documentation(version, _MANIFESTS))], version)


def _admin_gates(cluster: Cluster) -> Found:
    try:
        version = parse_version(cluster.version)
    except VersionError as error:
        problem = "Failed to parse cluster version to check admin-acks"
        return _unknown(ADMIN_ACK, problem, error.message)
    if cluster.gates is None or cluster.acks is None:
        names = (GATES, GATES_NAMESPACE) if cluster.gates is None else (ACKS, ACKS_NAMESPACE)
        problem = f"Failed to retrieve ConfigMap {names[0]} from namespace {names[1]}"
        return _unknown(ADMIN_ACK, problem, f"configmap {quote(names[0])} not found", version)
    return _of(gate_risks(cluster.gates, cluster.acks, version), version)


def _operators(cluster: Cluster) -> Found:
    try:
        version = parse_version(cluster.version)
    except VersionError as error:
        problem = "Failed to parse cluster version to check Upgradeable conditions"
        return _unknown(OPERATOR, problem, error.message)
    held = sorted(
        (name_of(each), str(found.get("message") or ""))
        for each in cluster.operators
        if (found := condition(each, UPGRADEABLE)) and found.get("status") == "False"
    )
    url = documentation(version, _CONDITION_TYPES)
    return _of((Risk(f"{OPERATOR}-{name}", message, url) for name, message in held), version)


# --- the condition -------------------------------------------------------------------------------


def upgradeable(found: Found) -> Condition | None:
    """The condition without its time; None if nothing speaks against updates."""
    if not found.risks:
        if not found.problems:
            return None
        message = "\n".join(found.problems)
        return _condition(ConditionStatus.UNKNOWN, "EvaluationFailed", message)
    first = found.risks[0]
    if len(found.risks) == 1:
        named = first.name if re.fullmatch(REASON, first.name) else UNNAMED
        return _condition(ConditionStatus.FALSE, named, first.message)
    problem = "Cluster should not be upgraded between minor or major versions for multiple reasons:"
    texts = [problem, *(risk.message for risk in found.risks)]
    return _condition(ConditionStatus.FALSE, MULTIPLE, "\n* ".join(texts))


def _condition(status: ConditionStatus, reason: str, message: str) -> Condition:
    return Condition(type=UPGRADEABLE, status=status, reason=reason, message=message)
