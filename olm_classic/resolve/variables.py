"""The variables of a namespace and their constraints: what the solver is given."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from olm_classic.resolve.entries import Catalog, Entry, SourceKey
from olm_classic.resolve.errors import Limit
from olm_classic.resolve.order import by_source
from olm_classic.resolve.predicates import Predicate, requirements


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the variable is true one of `of` is: the first that can be, in this order."""

    text: str
    of: tuple[str, ...]


@dataclass(slots=True)
class Variable:
    """Something that a solution has or has not.

    `mandatory` and `prohibited` are the texts of those constraints, empty without. `conflicts` are
    variables that it excludes.
    """

    id: str
    entry: Entry | None = None
    mandatory: str = ""
    prohibited: str = ""
    choices: list[Choice] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class AtMostOne:
    """Of these, with repetitions, one at most is true."""

    text: str
    of: tuple[str, ...]


class Universe:
    """All entries that may be chosen, and the variables made so far."""

    def __init__(
        self, catalogs: Iterable[Catalog], installed: Iterable[Entry], namespace: str, limit: Limit
    ) -> None:
        self.catalogs = {each.key: each for each in catalogs}
        self.installed = tuple(installed)
        self.namespace = namespace
        self.limit = limit
        self.variables: dict[str, Variable] = {}
        self._met: dict[tuple[str, SourceKey], list[Entry]] = {}
        self._entries = [*self.installed, *(e for c in self.catalogs.values() for e in c.entries)]
        self._places: dict[tuple[SourceKey, str, str], list[Entry]] = {}
        for entry in self._entries:
            self._places.setdefault(_place(entry), []).append(entry)

    def add(self, entries: Iterable[Entry]) -> None:
        """Makes variables of the entries, and of all that can meet what they require."""
        open_entries = deque(entries)
        while open_entries:
            self.limit.check(len(self.variables))
            entry = open_entries.popleft()
            if entry.id not in self.variables:
                open_entries.extend(self._expand(entry))

    def _expand(self, entry: Entry) -> list[Entry]:
        variable = self.variables[entry.id] = Variable(entry.id, entry)
        if any(each.get("type") == "olm.deprecated" for each in entry.properties):
            variable.prohibited = f"bundle {entry.id} is deprecated"
        found: dict[str, Entry] = {}
        for key, predicate in requirements(entry.properties):
            candidates = self._meeting(key, predicate, entry.source)
            text = f"bundle {entry.name} requires an operator {predicate.text}"
            variable.choices.append(Choice(text, tuple(each.id for each in candidates)))
            found.update((each.id, each) for each in candidates)
        return list(found.values())

    def _meeting(self, key: str, predicate: Predicate, dependent: SourceKey) -> list[Entry]:
        """The entries that meet it, preferred first: of all channels that have one, in order."""
        found = self._met.get((key, dependent))
        if found is None:
            found = self._met[key, dependent] = self._search(predicate, dependent)
        return found

    def _search(self, predicate: Predicate, dependent: SourceKey) -> list[Entry]:
        places = set()
        for number, entry in enumerate(self._entries):
            if not number % 256:
                self.limit.check()
            if predicate.holds(entry):
                places.add(_place(entry))
        channels = [entry for place in places for entry in self._places[place]]

        def rank(source: SourceKey) -> tuple[object, ...]:
            catalog = self.catalogs.get(source)
            priority = -catalog.priority if catalog else 0
            elsewhere = source.namespace != self.namespace
            return (not source.virtual, source != dependent, priority, elsewhere)

        return [entry for entry in by_source(channels, rank) if predicate.holds(entry)]

    def invariants(self) -> Iterator[AtMostOne]:
        """One provider of each API, one operator of each package, of all variables."""
        apis: dict[str, list[str]] = {}
        packages: dict[str, list[str]] = {}
        for variable in self.variables.values():
            if variable.entry is None:
                continue
            for group, version, kind in variable.entry.apis:
                apis.setdefault(f"{kind} ({group}/{version})", []).append(variable.id)
            for package in variable.entry.packages:
                packages.setdefault(package, []).append(variable.id)
        for verb, found in (("provide", apis), ("originate from package", packages)):
            for key in sorted(found):
                ids = tuple(sorted(found[key]))
                if len(ids) > 1:
                    yield AtMostOne(f"{_listed(ids, ' and ')} {verb} {key}", ids)


def requires(name: str, ids: tuple[str, ...]) -> str:
    """The text of a Subscription's choice."""
    if not ids:
        return f"no operators found matching the criteria of subscription {name}"
    if len(ids) == 1:
        return f"subscription {name} requires {ids[0]}"
    return f"subscription {name} requires at least one of {_listed(ids, ' or ')}"


def _listed(ids: tuple[str, ...], last: str) -> str:
    return f"{', '.join(ids[:-1])}{last}{ids[-1]}"


def _place(entry: Entry) -> tuple[SourceKey, str, str]:
    return (entry.source, entry.package or entry.name, entry.channel)
