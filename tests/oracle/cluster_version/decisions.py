"""Cases of what is decided about a ClusterVersion: family h."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from cluster_version.decisions.failure import verdict
from cluster_version.decisions.preconditions import failures
from cluster_version.decisions.target import (
    Target,
    never_reached_level,
    reached_level,
    requested,
)
from cluster_version.decisions.upgradeable import (
    Cluster,
    own_risks,
    upgradeable,
)
from cluster_version.decisions.validation import field_errors, without_faults
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.upgradeable import set_upgradeable

Json = dict[str, Any]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def _validate(given: Json) -> Json:
    errors = field_errors(given["cv"], risks_can_be_accepted=given["acceptRisksGate"])
    cluster_version = without_faults(given["cv"], errors)
    spec = cluster_version.get("spec") or {}
    found = requested(cluster_version, given["currentArchitecture"])
    target = found or Target()
    asked = (given["cv"].get("spec") or {}).get("desiredUpdate") is not None
    return {
        "errors": [
            {"field": each.field, "type": each.fault.value[0], "message": each.message}
            for each in errors
        ],
        "desiredUpdateCleared": asked and spec.get("desiredUpdate") is None,
        "clusterIDAfter": spec.get("clusterID") or "",
        "upstreamAfter": spec.get("upstream") or "",
        "found": found is not None,
        "target": asdict(target),
        "neverReachedLevel": never_reached_level(cluster_version),
        "reachedLevel": reached_level(cluster_version, target),
    }


def _precondition(given: Json) -> Json:
    found = failures(given["cv"], given["desiredVersion"])
    together = verdict(found, force=given["force"])
    return {
        "block": together.blocks,
        "failures": [
            {
                "name": each.name,
                "reason": each.reason,
                "message": each.message,
                "nonBlocking": not each.blocks,
            }
            for each in found
        ],
        "summary": together.text or None,
    }


def _upgradeable(given: Json) -> Json:
    cluster = Cluster(
        cluster_version=given["cv"],
        version=given["currentVersion"],
        operators=given["operators"] or (),
        gates=given["adminGates"],
        acks=given["adminAcks"],
    )
    found = own_risks(cluster)
    before = (given["cv"].get("status") or {}).get("conditions") or ()
    conditions = ConditionList.of(before, BEGIN)
    set_upgradeable(conditions, upgradeable(found))
    return {
        "risks": [asdict(each) for each in found.risks],
        "versions": found.concerned(given["versions"] or ()) or None,
        "error": "\n".join(found.problems) or None,
        "conditions": [
            {key: each.get(key) or "" for key in ("type", "status", "reason", "message")}
            for each in conditions.conditions
        ],
    }


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "precondition": _precondition,
    "upgradeable": _upgradeable,
    "validate": _validate,
}
"""What is computed for each operation of the family."""
