"""ClusterOperator of config.openshift.io: how a part of OpenShift is. OpenShift reads it to update.

Only a reporter's own conditions are its to set: others that are there stay. Pure.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from api import wire
from api.conditions import bounded_message
from api.objects import GVK
from api.openshift.v1.operatorhub import GROUP

CLUSTER_OPERATOR = GVK(GROUP, "v1", "ClusterOperator")

RawStatus = dict[str, Any]
Verdict = tuple[str, bool, str, str]
"""Type, status, reason, message."""


def merged_conditions(
    old: Mapping[str, Any], verdicts: Iterable[Verdict], now: datetime
) -> list[dict[str, Any]]:
    """The conditions of a status by type; the time of one whose status stays does too."""
    merged = {condition["type"]: condition for condition in old.get("conditions") or ()}
    for kind, holds, reason, message in verdicts:
        before = merged.get(kind) or {}
        status = "True" if holds else "False"
        since = before.get("lastTransitionTime") if before.get("status") == status else None
        merged[kind] = {
            "type": kind,
            "status": status,
            **({"reason": reason} if reason else {}),
            "message": bounded_message(message),
            "lastTransitionTime": since or wire.timestamp(now),
        }
    return list(merged.values())
