"""A ClusterCatalog as text: a row of a table, or at length."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from olm_client.cluster_catalogs.facts import DIGEST_SHOWN, age, poll_text
from olm_client.lifecycle.overview import Phase

TITLES = ("CATALOG", "PHASE", "PRIORITY", "POLL", "UNPACKED", "DIGEST", "IMAGE", "WHAT HINDERS")


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
    rows = (
        ("image", facts["image"]),
        ("digest", facts["digest"]),
        ("unpacked", f"{unpacked} ({age(unpacked, now)} ago)" if unpacked else ""),
        ("poll", f"every {poll}" if poll else "never; olm catalog refresh looks at once"),
        ("priority", str(facts["priority"])),
        ("labels", ", ".join(f"{key}={value}" for key, value in facts["labels"].items())),
        ("packages", str(facts["packages"]) if facts.get("packages") is not None else ""),
        ("age", age(facts["created"], now)),
    )
    yield from (f"  {title:<9} {text}" for title, text in rows if text)
    for each in facts["conditions"]:
        message = f": {each['message']}" if each["message"] else ""
        first, *rest = f"{each['type']} {each['status']} {each['reason']}{message}".splitlines()
        yield f"  {first}"
        yield from (f"    {line}" for line in rest)
    if facts["message"]:
        yield click.style("in the way: ", fg="red") + facts["message"].partition("\n")[0]
    yield from (f"hint: {hint}" for hint in facts.get("hint", "").splitlines())
