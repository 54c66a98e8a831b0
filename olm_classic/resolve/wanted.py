"""The CSVs that a user's InstallPlan names: each is installed, or a bundle of its name chosen."""

from dataclasses import dataclass

from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.order import by_source
from olm_classic.resolve.subscriptions import ANY_SOURCE
from olm_classic.resolve.variables import Choice, Universe, Variable


@dataclass(frozen=True, slots=True)
class Wanted:
    """Names of CSVs, and the only catalog to take them from if one is named."""

    csvs: tuple[str, ...] = ()
    source: SourceKey = ANY_SOURCE


def add_wanted(universe: Universe, wanted: Wanted) -> None:
    """Demands each CSV. Raises ResolutionError for channels without an order."""
    for name in dict.fromkeys(wanted.csvs):
        if any(each.name == name for each in universe.installed):
            continue
        variable = Variable(f"wanted:{name}", mandatory=f"the install plan names {name}")
        universe.variables[variable.id] = variable
        candidates = _candidates(universe, name, wanted)
        if not candidates:
            variable.prohibited = f"no operators found with name {name} in a visible catalog"
            continue
        universe.add(candidates)
        for current in universe.installed:
            candidates = _updating(universe, current, candidates)
        ids = tuple(each.id for each in candidates)
        variable.choices.append(Choice(f"{name} is one of {', '.join(ids)}", ids))


def _candidates(universe: Universe, name: str, wanted: Wanted) -> list[Entry]:
    """The entries of a name; preferred catalogs first, in each the default channel."""
    found: list[Entry] = []
    for key, catalog in universe.catalogs.items():
        if wanted.source not in {ANY_SOURCE, key}:
            continue
        places = catalog.content.search(f"name:{name}", lambda entry: entry.name == name)
        for package in sorted({package for package, _ in places}):
            found += [each for each in catalog.content.packages(package) if each.name == name]
    return by_source(found, universe.rank)


def _updating(universe: Universe, current: Entry, candidates: list[Entry]) -> list[Entry]:
    """Those that take the place of an installed CSV of their package, if any does."""
    found = [
        each
        for each in candidates
        if {*each.packages} & {*current.packages} and each.updates(current)
    ]
    if not found:
        return candidates
    universe.variables[current.id].mandatory = ""
    for entry in found:
        newer = universe.variables[entry.id]
        newer.replaces = current.name
        newer.conflicts[current.id] = f"{entry.id} conflicts with {current.id}"
    return found
