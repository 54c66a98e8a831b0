"""The status of ClusterOperator/machine-config: whether nodes are as the release has them.

A cluster waits for the nodes of the control plane, and not for others. Source of the rules: the
documents, sections 6 and 7, and upstream's notes, section 17.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.objects import KubeObject, is_true, labels_of, metadata, name_of
from api.openshift.config.v1.clusteroperator import RawStatus, Verdict, merged_conditions
from cluster_version.nodes.names import MASTER
from cluster_version.nodes.pools import is_paused, target_of

NAME = "machine-config"
REQUIRED = "operator.machineconfiguration.openshift.io/required-for-upgrade"
"""Label of pools that an update waits for, together with that of the control plane."""
AS_EXPECTED = "AsExpected"
_OPERATOR = "operator"
_HINT = "please see `kubectl get mcp` for further details"


@dataclass(frozen=True, slots=True)
class Nodes:
    """What there is and what is to be.

    pools     of the cluster
    declared  those that the release has
    version   of the release
    """

    pools: Sequence[KubeObject]
    declared: Sequence[KubeObject]
    version: str

    @property
    def is_ours(self) -> bool:
        """Whether any pool is looked after here."""
        return any(target_of(pool) for pool in self.pools)

    @property
    def awaited(self) -> Iterator[str]:
        """What is not as the release has it, of what an update waits for."""
        live = {name_of(pool): pool for pool in self.pools}
        for wanted in self.declared:
            name = name_of(wanted)
            if name not in live or target_of(live[name]) != target_of(wanted):
                yield f"pool {name} of the release is not applied"
        for pool in self.pools:
            if _is_required(pool) and not _is_level(pool):
                counts = _counts(pool) if _is_observed(pool) else "its nodes are not counted yet"
                yield f"required pool {name_of(pool)} is not updated ({counts})"


def _is_required(pool: KubeObject) -> bool:
    return name_of(pool) == MASTER or REQUIRED in labels_of(pool)


def _is_level(pool: KubeObject) -> bool:
    """Whether all its nodes have what it says; one of somebody else's reports so itself."""
    return _is_observed(pool) and is_true(pool, "Updated")


def _is_observed(pool: KubeObject) -> bool:
    """Whether its status is of what it says now."""
    seen = (pool.get("status") or {}).get("observedGeneration")
    return bool(seen == metadata(pool).get("generation"))


def _counts(pool: KubeObject) -> str:
    status = pool.get("status") or {}
    keys = {"total": "machineCount", "updated": "updatedMachineCount"}
    keys |= {"ready": "readyMachineCount", "unavailable": "unavailableMachineCount"}
    return ", ".join(f"{status.get(key, 0)} {word}" for word, key in keys.items())


def nodes_status(nodes: Nodes, old: Mapping[str, Any], now: datetime) -> RawStatus:
    """The status to be; equal to `old` where nothing has changed.

    The version is reported once all that an update waits for is as the release has it.
    """
    awaited = "; ".join(nodes.awaited)
    versions = [each for each in old.get("versions") or () if each["name"] != _OPERATOR]
    deployed = _reported_version(old) if awaited else nodes.version
    if deployed:
        versions = [{"name": _OPERATOR, "version": deployed}, *versions]
    verdicts = _verdicts(nodes, awaited, deployed)
    return {**old, "conditions": merged_conditions(old, verdicts, now), "versions": versions}


def _reported_version(old: Mapping[str, Any]) -> str:
    named = (each for each in old.get("versions") or () if each["name"] == _OPERATOR)
    return next((str(each.get("version") or "") for each in named), "")


def _verdicts(nodes: Nodes, awaited: str, deployed: str) -> Iterator[Verdict]:
    towards = f"Working towards {nodes.version}: {awaited}"
    if deployed:
        yield "Available", True, AS_EXPECTED, f"Cluster has deployed {deployed}"
    else:
        yield "Available", False, "RequiredPoolsNotReady", towards
    if awaited:
        yield "Progressing", True, "RequiredPoolsNotReady", towards
    else:
        yield "Progressing", False, AS_EXPECTED, f"Cluster version is {nodes.version}"
    broken = list(_degraded(filter(_is_required, nodes.pools)))
    if broken:
        yield "Degraded", True, "RequiredPoolsFailed", "; ".join(broken)
    else:
        yield "Degraded", False, AS_EXPECTED, ""
    yield _upgradeable(nodes.pools)


def _degraded(pools: Iterable[KubeObject]) -> Iterator[str]:
    for pool in pools:
        if is_true(pool, "Degraded"):
            conditions = (pool.get("status") or {}).get("conditions") or ()
            kinds = ("RenderDegraded", "NodeDegraded")
            messages = [each.get("message") for each in conditions if each["type"] in kinds]
            yield f"required pool {name_of(pool)}: {', '.join(filter(None, messages))}"


def _upgradeable(pools: Sequence[KubeObject]) -> Verdict:
    if any(is_true(pool, "Degraded") for pool in pools):
        return "Upgradeable", False, "DegradedPool", f"Pools of nodes are degraded, {_HINT}"
    if any(not _is_level(pool) and not is_paused(pool) for pool in pools):
        return "Upgradeable", False, "PoolUpdating", f"Pools of nodes are updating, {_HINT}"
    return "Upgradeable", True, AS_EXPECTED, ""
