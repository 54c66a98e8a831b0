"""A ClusterCatalog as data and as text. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from api.objects import KubeObject, metadata
from api.olm.v1 import names
from olm_cli.lifecycle.overview import Phase, catalog_facts

Facts = dict[str, Any]

DIGEST_SHOWN = len("sha256:") + 12
TITLES = ("CATALOG", "PHASE", "PRIORITY", "POLL", "UNPACKED", "DIGEST", "IMAGE", "WHAT HINDERS")

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


def row(facts: Mapping[str, Any], now: datetime) -> Sequence[str]:
    """A line of the table with TITLES."""
    phase = Phase(facts["phase"])
    return (
        facts["name"],
        click.style(phase.value, fg=phase.colour),
        str(facts["priority"]),
        poll_text(facts["pollIntervalMinutes"]) or "-",
        age(facts["lastUnpacked"], now) or "-",
        facts["digest"][:DIGEST_SHOWN] or "-",
        facts["image"],
        facts["message"].partition("\n")[0],
    )


def lines(facts: Mapping[str, Any], now: datetime) -> Iterator[str]:
    """One catalog, on as many lines as it takes."""
    phase = Phase(facts["phase"])
    yield f"{facts['name']}: {click.style(phase.value, fg=phase.colour)}"
    unpacked, poll = facts["lastUnpacked"], poll_text(facts["pollIntervalMinutes"])
    told = (
        ("image", facts["image"]),
        ("digest", facts["digest"]),
        ("unpacked", f"{unpacked} ({age(unpacked, now)} ago)" if unpacked else ""),
        ("poll", f"every {poll}" if poll else "never; olm catalog refresh looks at once"),
        ("priority", str(facts["priority"])),
        ("labels", ", ".join(f"{key}={value}" for key, value in facts["labels"].items())),
        ("packages", str(facts["packages"]) if facts.get("packages") is not None else ""),
        ("age", age(facts["created"], now)),
    )
    yield from (f"  {title:<9} {text}" for title, text in told if text)
    for each in facts["conditions"]:
        message = f": {each['message']}" if each["message"] else ""
        first, *rest = f"{each['type']} {each['status']} {each['reason']}{message}".splitlines()
        yield f"  {first}"
        yield from (f"    {line}" for line in rest)
    if facts["message"]:
        yield click.style("in the way: ", fg="red") + facts["message"].partition("\n")[0]
    yield from (f"hint: {hint}" for hint in facts.get("hint", "").splitlines())


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
