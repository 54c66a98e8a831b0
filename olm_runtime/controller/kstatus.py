"""What shows the health of an object to tools that know nothing of its kind. Pure.

kstatus (sigs.k8s.io/cli-utils), and with it Flux, Helm and kpt, reads status.observedGeneration and
two conditions that stand in a status only while they hold:

Reconciling  the desired state is not reached: something is rolling out, does not work, or failed
             in a way that may pass
Stalled      it will not be reached before a person acts

Both follow from the conditions that the kind has: Progressing, and Available or Serving.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from api import wire
from api.conditions import Condition, ConditionStatus, merge_conditions
from api.objects import KubeObject, metadata
from api.olm.v1.conditions import ConditionType, Reason
from olm_runtime.controller.status_writer import readable_conditions

Raw = Mapping[str, Any]
"""A condition as JSON."""

AS_DESIRED = frozenset(
    {Reason.ARCHIVED.value, Reason.SUSPENDED.value, Reason.USER_SPECIFIED_UNAVAILABLE.value}
)
"""Reasons of states that somebody asked for, though nothing progresses or is available."""
RECONCILING = "Reconciling"
STALLED = "Stalled"


def with_kstatus(obj: KubeObject, status: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """A status of `obj`, with what kstatus reads of it."""
    generation = int(metadata(obj).get("generation") or 0)
    conditions = [
        c for c in status.get("conditions") or () if c["type"] not in (RECONCILING, STALLED)
    ]
    kind, cause = _unsettled({each["type"]: each for each in conditions})
    if kind is not None:
        old = [c for c in readable_conditions(obj.get("status") or {}) if c.type == kind]
        holding = Condition(
            type=kind,
            status=ConditionStatus.TRUE,
            reason=cause["reason"],
            message=cause["message"],
            observed_generation=generation,
        )
        conditions += (wire.write(each) for each in merge_conditions(old, [holding], now))
    return {**status, "conditions": conditions, "observedGeneration": generation}


def _unsettled(conditions: Mapping[str, Raw]) -> tuple[str | None, Raw]:
    """Reconciling or Stalled, and the condition that it follows from; None if neither holds."""
    progressing = conditions.get(ConditionType.PROGRESSING)
    if progressing is None or progressing["reason"] in AS_DESIRED:
        return None, {}
    if progressing["status"] == ConditionStatus.FALSE:
        return STALLED, progressing
    if progressing["reason"] != Reason.SUCCEEDED:
        return RECONCILING, progressing
    for kind in (ConditionType.AVAILABLE, ConditionType.SERVING):
        found = conditions.get(kind)
        if found and found["status"] != ConditionStatus.TRUE and found["reason"] not in AS_DESIRED:
            return RECONCILING, found
    return None, {}
