"""What each Subscription, and each CSV without one, asks of the solution."""

from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject, name_of
from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.order import by_channel
from olm_classic.resolve.variables import Choice, Universe, Variable, requires


def add_freestanding(universe: Universe, subscriptions: list[KubeObject]) -> None:
    """Demands the installed CSVs that no Subscription has as its own."""
    tied = {(each.get("status") or {}).get("installedCSV") for each in subscriptions}
    universe.add(universe.installed)
    for entry in universe.installed:
        if entry.name not in tied:
            universe.variables[
                entry.id
            ].mandatory = (
                f"clusterserviceversion {entry.name} exists and is not referenced by a subscription"
            )


def add_subscription(universe: Universe, subscription: KubeObject) -> None:
    """Demands one of its candidates. Raises ResolutionError for channels without an order."""
    name, spec = name_of(subscription), subscription.get("spec") or {}
    variable = Variable(f"subscription:{name}", mandatory=f"subscription {name} exists")
    universe.variables[variable.id] = variable
    at = (subscription.get("status") or {}).get("installedCSV")
    current = next((each for each in universe.installed if each.name == at), None)
    found = _filtered(universe, spec, name, current)
    if isinstance(found, str):
        variable.prohibited = found
        return
    candidates: list[Entry] = []
    for entry in by_channel(found):
        if current is None or entry.updates(current):
            # The same bundle may be in other channels, too; this one is preferred.
            others = [e for e in found if e.name == entry.name and e is not entry]
            others.sort(key=lambda e: (not e.in_default_channel, e.channel, e.id))
            candidates += [entry, *others]
    universe.add(candidates)
    ids = [entry.id for entry in candidates]
    if current is not None:
        for entry in candidates:
            newer = universe.variables[entry.id]
            newer.replaces = current.name
            newer.conflicts[current.id] = f"{entry.id} conflicts with {current.id}"
        ids.append(current.id)
    variable.choices.append(Choice(requires(name, tuple(ids)), tuple(ids)))


def _filtered(
    universe: Universe, spec: Mapping[str, Any], name: str, current: Entry | None
) -> list[Entry] | str:
    """What a Subscription may choose from, or the text that says why there is nothing."""
    source = SourceKey(spec.get("source") or "", spec.get("sourceNamespace") or "")
    package, channel = spec.get("name", ""), spec.get("channel") or ""
    starting = "" if current else spec.get("startingCSV") or ""
    found = [
        entry
        for key, catalog in sorted(universe.catalogs.items())
        if source in {SourceKey("", ""), key}
        for entry in catalog.entries
    ]
    behind = f"in the catalog referenced by subscription {name}"
    if not found:
        where = f"catalog {source.name} in namespace {source.namespace}"
        return f"no operators found from {where} referenced by subscription {name}"
    found = [entry for entry in found if entry.of_package(package)]
    if not found:
        return f"no operators found in package {package} {behind}"
    found = [entry for entry in found if channel in {"", entry.channel}]
    if not found:
        return f"no operators found in channel {channel} of package {package} {behind}"
    found = [entry for entry in found if starting in {"", entry.name}]
    if not found:
        place = f"channel {channel} of package {package}"
        return f"no operators found with name {starting} in {place} {behind}"
    return found
