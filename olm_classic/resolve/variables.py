"""The variables of a namespace and their constraints: what the solver is given."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from olm_classic.dialect import Dialect
from olm_classic.resolve.constraints import All, Either, Forbid, Formula, Need, requirements
from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.errors import Limit, ResolutionError
from olm_classic.resolve.order import by_source
from olm_classic.resolve.predicates import Predicate
from olm_classic.resolve.readers import Catalog, Place, Reader, places_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the variable is true one of `of` is: the first that can be, in this order."""

    text: str
    of: tuple[str, ...]


@dataclass(slots=True)
class Variable:
    """Something that a solution has or has not.

    `mandatory` and `prohibited` are the texts of those constraints, empty without. `conflicts` are
    variables that it excludes. `updates` are the Subscriptions whose installed CSV it updates.
    """

    id: str
    entry: Entry | None = None
    mandatory: str = ""
    prohibited: str = ""
    choices: list[Choice] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    replaces: str = ""
    updates: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class AtMostOne:
    """Of these, with repetitions, one at most is true."""

    text: str
    of: tuple[str, ...]


class Universe:
    """All entries that may be chosen, and the variables made so far."""

    def __init__(
        self,
        catalogs: Iterable[Catalog],
        installed: Iterable[Entry],
        namespace: str,
        limit: Limit,
        dialect: Dialect,
    ) -> None:
        self.catalogs = {each.key: each for each in catalogs}
        self.installed = tuple(installed)
        self.namespace = namespace
        self.limit = limit
        self.dialect = dialect
        self.variables: dict[str, Variable] = {}
        self.adopted: dict[str, Entry] = {}
        """The installed CSVs that Subscriptions without one go on from, by Subscription."""
        self.missing: dict[str, tuple[Entry, Predicate]] = {}
        """Requirements that nothing meets, by their text."""
        self._met: dict[tuple[str, SourceKey], list[Entry]] = {}
        self._forbidden: list[tuple[Variable, str, Predicate]] = []

    def add(self, entries: Iterable[Entry]) -> None:
        """Makes variables of the entries, and of all that can meet what they require."""
        open_entries = deque(entries)
        while open_entries:
            self.limit.check(len(self.variables))
            entry = open_entries.popleft()
            if entry.id not in self.variables:
                open_entries.extend(self._expand(entry))

    def rank(self, source: SourceKey, dependent: SourceKey | None = None) -> tuple[object, ...]:
        """A key that sorts sources, preferred first: for a dependent its own catalog."""
        catalog = self.catalogs.get(source)
        priority = -catalog.priority if catalog else 0
        elsewhere = source.namespace != self.namespace
        return (not source.virtual, source != dependent, priority, elsewhere)

    def _expand(self, entry: Entry) -> list[Entry]:
        variable = self.variables[entry.id] = Variable(entry.id, entry)
        if any(each.get("type") == "olm.deprecated" for each in entry.properties):
            variable.prohibited = f"bundle {entry.id} is deprecated"
        found: dict[str, Entry] = {}
        try:
            for formula in requirements(entry.properties, self.dialect):
                self._demand(variable, entry, formula, found)
        except ResolutionError as error:
            error.bundle = error.bundle or entry.id
            raise
        except RecursionError as error:
            deep = ResolutionError(f"a property of bundle {entry.name} is nested too deep")
            deep.bundle = entry.id
            raise deep from error
        return list(found.values())

    def _demand(
        self, variable: Variable, entry: Entry, formula: Formula, found: dict[str, Entry]
    ) -> None:
        """Where the variable is true, the formula holds; `found` gets what may meet it."""
        match formula:
            case Need(met):
                candidates = self._meeting(met, entry.source)
                text = f"bundle {entry.name} requires an operator {met.text}"
                if not candidates:
                    self.missing[text] = (entry, met)
                variable.choices.append(Choice(text, tuple(each.id for each in candidates)))
                found.update((each.id, each) for each in candidates)
            case Forbid(met):
                text = f"bundle {entry.name} requires that there is no operator {met.text}"
                self._forbidden.append((variable, text, met))
            case All(parts):
                for part in parts:
                    self._demand(variable, entry, part, found)
            case Either(parts, shown):
                ways: list[str] = []
                for part in parts:
                    way = Variable(f"{variable.id}#{len(variable.choices)}.{len(ways)}")
                    self.variables[way.id] = way
                    ways.append(way.id)
                    self._demand(way, entry, part, found)
                text = f"bundle {entry.name} requires an operator {shown}"
                variable.choices.append(Choice(text, tuple(ways)))

    def forbid(self) -> None:
        """Lets what is forbidden exclude all that it names; to be done when all is added."""
        for variable, text, met in self._forbidden:
            for other in self._with_entries():
                if other.entry is not None and met.holds(other.entry):
                    variable.conflicts[other.id] = text

    def _with_entries(self) -> Iterator[Variable]:
        for number, variable in enumerate(self.variables.values()):
            if not number % 256:
                self.limit.check()
            if variable.entry is not None:
                yield variable

    def _meeting(self, predicate: Predicate, dependent: SourceKey) -> list[Entry]:
        """The entries that meet it, preferred first: of all channels that have one, in order."""
        found = self._met.get((predicate.id, dependent))
        if found is None:
            found = self._met[predicate.id, dependent] = self._search(predicate, dependent)
        return found

    def _search(self, predicate: Predicate, dependent: SourceKey) -> list[Entry]:
        entries = [entry for entry in self.installed if predicate.holds(entry)]
        for catalog in self.catalogs.values():
            entries += self._channels(catalog.content, predicate)
        found = by_source(entries, lambda source: self.rank(source, dependent))
        return [entry for entry in found if predicate.holds(entry)]

    def _channels(self, content: Reader, predicate: Predicate) -> list[Entry]:
        """All entries of the channels that have one which meets it."""
        places = self._places(content, predicate)
        packages = sorted({package for package, _ in places})
        return [
            entry
            for package in packages
            for entry in content.packages(package)
            if (package, entry.channel) in places
        ]

    def _places(self, content: Reader, predicate: Predicate) -> frozenset[Place]:
        """The channels that have an entry which meets it."""

        def holds(entry: Entry) -> bool:
            self.limit.check()
            return predicate.holds(entry)

        if predicate.keys is None:
            return content.search(predicate.id, holds)
        entries = (entry for key in sorted(predicate.keys) for entry in content.having(key))
        return places_of(filter(holds, entries))

    def invariants(self) -> Iterator[AtMostOne]:
        """One provider of each API, one operator of each package, of all variables."""
        apis: dict[str, list[str]] = {}
        packages: dict[str, list[str]] = {}
        for variable in self._with_entries():
            entry = variable.entry
            if entry is None:
                continue
            for group, version, kind in self._counted(entry.apis):
                apis.setdefault(f"{kind} ({group}/{version})", []).append(variable.id)
            for package in self._counted(entry.packages):
                packages.setdefault(package, []).append(variable.id)
        for verb, found in (("provide", apis), ("originate from package", packages)):
            for key in sorted(found):
                ids = tuple(sorted(found[key]))
                if len(ids) > 1:
                    yield AtMostOne(f"{_listed(ids, ' and ')} {verb} {key}", ids)

    def _counted(self, listed: tuple[T, ...]) -> Iterable[T]:
        """What is listed twice counts twice for upstream, which then refuses the bundle."""
        return listed if self.dialect is Dialect.UPSTREAM else dict.fromkeys(listed)


def requires(name: str, ids: tuple[str, ...]) -> str:
    """The text of a Subscription's choice."""
    if not ids:
        return f"no operators found matching the criteria of subscription {name}"
    if len(ids) == 1:
        return f"subscription {name} requires {ids[0]}"
    return f"subscription {name} requires at least one of {_listed(ids, ' or ')}"


def _listed(ids: tuple[str, ...], last: str) -> str:
    return f"{', '.join(ids[:-1])}{last}{ids[-1]}"
