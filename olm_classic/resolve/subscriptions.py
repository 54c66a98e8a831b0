"""What each Subscription, and each CSV without one, asks of the solution."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.objects import KubeObject, name_of
from olm_classic.dialect import Dialect
from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.errors import ResolutionError
from olm_classic.resolve.order import by_channel
from olm_classic.resolve.readers import package_key
from olm_classic.resolve.variables import Choice, Universe, Variable, requires

ANY_SOURCE = SourceKey("", "")


def left_over(universe: Universe, subscriptions: list[KubeObject]) -> dict[str, Entry]:
    """The installed CSVs that Subscriptions without one go on from, by Subscription.

    A CSV outlives its Subscription; a new one to the same package could never be met along with it.
    Upstream leaves it at that.
    """
    if universe.dialect is Dialect.UPSTREAM:
        return {}
    installed = {entry.name for entry in universe.installed}
    free: dict[str, list[Entry]] = {}
    for entry in _freestanding(universe, subscriptions):
        for package in dict.fromkeys(entry.packages):
            free.setdefault(package, []).append(entry)
    found: dict[str, list[str]] = {}
    for each in subscriptions:
        if _installed_csv(each) not in installed:
            found.setdefault(str((each.get("spec") or {}).get("name")), []).append(name_of(each))
    return {
        names[0]: free[package][0]
        for package, names in found.items()
        if len(names) == 1 and len(free.get(package, ())) == 1
    }


def add_freestanding(
    universe: Universe, subscriptions: list[KubeObject], adopted: Mapping[str, Entry]
) -> None:
    """Demands the installed CSVs that no Subscription has as its own."""
    universe.add(universe.installed)
    taken = {entry.name for entry in adopted.values()}
    for entry in _freestanding(universe, subscriptions):
        if entry.name not in taken:
            universe.variables[
                entry.id
            ].mandatory = (
                f"clusterserviceversion {entry.name} exists and is not referenced by a subscription"
            )


def _freestanding(universe: Universe, subscriptions: list[KubeObject]) -> Iterator[Entry]:
    tied = {_installed_csv(each) for each in subscriptions}
    return (entry for entry in universe.installed if entry.name not in tied)


def _installed_csv(subscription: KubeObject) -> str:
    return str((subscription.get("status") or {}).get("installedCSV") or "")


def add_subscription(
    universe: Universe, subscription: KubeObject, adopted: Entry | None = None
) -> None:
    """Demands one of its candidates. Raises ResolutionError for channels without an order."""
    name, spec = name_of(subscription), subscription.get("spec") or {}
    variable = Variable(f"subscription:{name}", mandatory=f"subscription {name} exists")
    universe.variables[variable.id] = variable
    at = _installed_csv(subscription)
    current = next((each for each in universe.installed if each.name == at), adopted)
    found = _filtered(universe, spec, name, current)
    elsewhere = list(_elsewhere(universe, spec, current)) if current else []
    if isinstance(found, str):
        if not elsewhere:
            variable.prohibited = found
            return
        found = []
    candidates = [*_preferred(found, current), *elsewhere]
    universe.add(candidates)
    ids = [entry.id for entry in candidates]
    if current is not None:
        for entry in candidates:
            newer = universe.variables[entry.id]
            newer.replaces = current.name
            newer.updates.add(name)
            newer.conflicts[current.id] = f"{entry.id} conflicts with {current.id}"
        ids.append(current.id)
    variable.choices.append(Choice(requires(name, tuple(ids)), tuple(ids)))


def _preferred(found: list[Entry], current: Entry | None) -> list[Entry]:
    """What may be installed, or may update what is; the first is tried first."""
    candidates: list[Entry] = []
    by_name: dict[str, list[Entry]] = {}
    for entry in found:
        by_name.setdefault(entry.name, []).append(entry)
    for entry in by_channel(found):
        if current is None or entry.updates(current):
            # The same bundle may be in other channels, too; this one is preferred.
            others = [each for each in by_name[entry.name] if each is not entry]
            others.sort(key=lambda e: (not e.in_default_channel, e.channel, e.id))
            candidates += [entry, *others]
    return candidates


def _elsewhere(universe: Universe, spec: Mapping[str, Any], current: Entry) -> Iterator[Entry]:
    """Updates from visible catalogs that the Subscription does not name (documents, 17.3).

    A catalog whose channel has no order gives none.
    """
    source = _source(spec)
    if universe.dialect is Dialect.UPSTREAM or source == ANY_SOURCE:
        return
    for key in sorted(universe.catalogs, key=lambda key: (universe.rank(key), key)):
        if key == source:
            continue
        try:
            yield from _preferred(_offered(universe, [key], spec), current)
        except ResolutionError:
            continue


def _filtered(
    universe: Universe, spec: Mapping[str, Any], name: str, current: Entry | None
) -> list[Entry] | str:
    """What a Subscription may choose from, or the text that says why there is nothing."""
    source, package, channel = _source(spec), spec.get("name", ""), spec.get("channel") or ""
    starting = "" if current else spec.get("startingCSV") or ""
    keys = [key for key in sorted(universe.catalogs) if source in {ANY_SOURCE, key}]
    behind = f"in the catalog referenced by subscription {name}"
    if all(universe.catalogs[key].content.empty for key in keys):
        where = f"catalog {source.name} in namespace {source.namespace}"
        return f"no operators found from {where} referenced by subscription {name}"
    if not _offered(universe, keys, {"name": package}):
        return f"no operators found in package {package} {behind}"
    found = _offered(universe, keys, spec)
    if not found:
        return f"no operators found in channel {channel} of package {package} {behind}"
    found = [entry for entry in found if starting in {"", entry.name}]
    if not found:
        place = f"channel {channel} of package {package}"
        return f"no operators found with name {starting} in {place} {behind}"
    return found


def _offered(universe: Universe, keys: Iterable[SourceKey], spec: Mapping[str, Any]) -> list[Entry]:
    """The entries of the package, and of the channel if one is named."""
    key, channel = package_key(spec.get("name", "")), spec.get("channel") or ""
    return [
        entry
        for catalog in keys
        for entry in universe.catalogs[catalog].content.having(key)
        if channel in {"", entry.channel}
    ]


def _source(spec: Mapping[str, Any]) -> SourceKey:
    return SourceKey(spec.get("source") or "", spec.get("sourceNamespace") or "")
