"""The status of ClusterOperator/olm, which OpenShift reads before it updates itself.

Only our conditions are ours to set: others that are there stay. Source of their meanings: the API
config.openshift.io/v1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.olm.v1 import names
from api.openshift.config.v1.clusteroperator import RawStatus, Verdict, merged_conditions
from operator_controller.status.cluster_updates import Compatibility

NAME = "olm"
AS_EXPECTED = "AsExpected"
VERSION_UNKNOWN = "ClusterVersionUnknown"


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Everything that the status is computed from.

    `problem` is why the cluster's version is not known, empty if it is. `namespace` is the system
    namespace, `release` our version.
    """

    compatibility: Compatibility
    problem: str
    namespace: str
    release: str


def cluster_operator_status(
    facts: ClusterFacts, old: Mapping[str, Any], now: datetime
) -> RawStatus:
    """The status to be; equal to `old` where nothing has changed."""
    return {
        **old,
        "conditions": merged_conditions(old, _verdicts(facts), now),
        "versions": [{"name": "operator", "version": facts.release}],
        "relatedObjects": _related(facts.namespace),
    }


def _verdicts(facts: ClusterFacts) -> Iterator[Verdict]:
    at_work = f"operator-controller {facts.release} is at work"
    yield "Available", True, AS_EXPECTED, at_work
    yield "Progressing", False, AS_EXPECTED, at_work
    if facts.problem:
        yield "Degraded", True, VERSION_UNKNOWN, facts.problem
    else:
        yield "Degraded", False, AS_EXPECTED, at_work
    reason, message = facts.compatibility.reason, facts.compatibility.message
    yield "Upgradeable", not reason, reason or AS_EXPECTED, message


def _related(namespace: str) -> list[dict[str, str]]:
    """Objects to inspect when something is wrong; an empty name means all of a kind."""
    kinds = ("clustercatalogs", "clusterextensions", "clusterobjectsets")
    return [
        {"group": "", "resource": "namespaces", "name": namespace},
        *({"group": names.GROUP, "resource": kind, "name": ""} for kind in kinds),
    ]
