"""What OLMConfig says of copies, and the Event of operators that are not copied."""

from datetime import UTC, datetime
from typing import Any

from api.conditions import Condition, ConditionStatus
from api.objects import KubeObject
from olm_classic.copies.sources import Key, Source
from olm_classic.hashes import fnv64a
from olm_content.names import CSV_API_VERSION, CSV_KIND

CONDITION = "DisabledCopiedCSVs"
EVENT_REASON = "DisabledCopiedCSVs"
REPORTER = "operator-lifecycle-manager"
MAX_NAME = 200
"""Of the part of an Event's name that says what it is about."""

_ENABLED, _DISABLED = "CopiedCSVsEnabled", "CopiedCSVsDisabled"


def is_disabled(config: KubeObject | None) -> bool:
    """Whether the OLMConfig, if there is one, switches copies off."""
    features: Any = ((config or {}).get("spec") or {}).get("features") or {}
    return features.get("disableCopiedCSVs") is True


def condition_of(*, disabled: bool, missing: bool, unexpected: bool) -> Condition:
    """The condition, without a time.

    missing     whether a copy is not there that should be
    unexpected  whether one is there that should not
    """
    if not disabled:
        said = "Copied CSVs are enabled and present across the cluster"
        if missing:
            said = "Copied CSVs are enabled and at least one copied CSVs is missing"
        return _condition(ConditionStatus.FALSE, _ENABLED, said)
    if unexpected:
        said = (
            "Copied CSVs are disabled and at least one unexpected copied CSV was found "
            "for an operator installed in AllNamespace mode"
        )
        return _condition(ConditionStatus.FALSE, _DISABLED, said)
    said = (
        "Copied CSVs are disabled and no unexpected copied CSVs were found "
        "for operators installed in AllNamespace mode"
    )
    return _condition(ConditionStatus.TRUE, _DISABLED, said)


def event_of(source: Source, now: datetime) -> KubeObject:
    """The Event, whose name lets there be one only."""
    namespace, name = source.key
    time = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{name[:MAX_NAME]}.{fnv64a(source.uid)}",
            "namespace": namespace,
        },
        "involvedObject": {
            "apiVersion": CSV_API_VERSION,
            "kind": CSV_KIND,
            "namespace": namespace,
            "name": name,
            "uid": source.uid,
        },
        "type": "Warning",
        "reason": EVENT_REASON,
        "message": f"CSV copying disabled for {namespace}/{name}",
        "source": {"component": REPORTER},
        "reportingComponent": REPORTER,
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
    }


def subject(event: KubeObject) -> Key:
    """Namespace and name of what an Event is about."""
    about = event.get("involvedObject") or {}
    return str(about.get("namespace") or ""), str(about.get("name") or "")


def _condition(status: ConditionStatus, reason: str, message: str) -> Condition:
    return Condition(type=CONDITION, status=status, reason=reason, message=message)
