"""A ClusterCatalog as data and as text. Pure."""

from datetime import datetime
from typing import Any

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from olm_client.lifecycle.overview import catalog_facts

Facts = dict[str, Any]

DIGEST_SHOWN = len("sha256:") + 12

_UNITS = (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1))


def facts_of(raw: KubeObject) -> Facts:
    """All there is to know from the object."""
    image = ((raw.get("spec") or {}).get("source") or {}).get("image") or {}
    labels = metadata(raw).get("labels") or {}
    conditions = (raw.get("status") or {}).get("conditions") or ()
    return {
        **catalog_facts(raw),
        "pollIntervalMinutes": image.get("pollIntervalMinutes"),
        "labels": {k: v for k, v in labels.items() if k != names.LABEL_METADATA_NAME},
        "created": metadata(raw).get("creationTimestamp", ""),
        "conditions": [
            {key: each.get(key, "") for key in ("type", "status", "reason", "message")}
            for each in conditions
        ],
    }


def poll_text(minutes: int | None) -> str:
    """An interval; empty for none."""
    if not minutes:
        return ""
    return f"{minutes}m" if minutes % 60 else f"{minutes // 60}h"


def age(time: str, now: datetime) -> str:
    """How long ago a time was, in the largest unit of which it has two; empty for none."""
    if not time:
        return ""
    seconds = max(0, int((now - datetime.fromisoformat(time)).total_seconds()))
    unit, length = next((u for u in _UNITS if seconds >= 2 * u[1]), _UNITS[-1])
    return f"{seconds // length}{unit}"
