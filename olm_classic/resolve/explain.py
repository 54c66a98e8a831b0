"""Why a namespace does not resolve, in plain words, and the smallest change with which it does.

The change is searched for: each that is named was tried, and the namespace resolved with it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from api.objects import name_of
from olm_classic.dialect import Dialect
from olm_classic.resolve.change import Change, both, called, changes
from olm_classic.resolve.entries import Entry
from olm_classic.resolve.errors import Limit, LimitError, ResolutionError, UnsatisfiableError
from olm_classic.resolve.predicates import Predicate
from olm_classic.resolve.resolver import Namespace, pose, resolve
from olm_classic.resolve.solve import solve
from olm_classic.resolve.variables import Choice, Universe, Variable, requires
from olm_runtime.plurals import counted

MAX_TRIES = 300
"""Resolutions that one search may take; pairs of changes are many."""
SHOWN = 3
"""Bundles of a list that are named."""
MAX_CAUSES = 4
"""Causes on one line."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`causes` are plain sentences without full stop; `change` is None where none was found."""

    causes: tuple[str, ...]
    change: Change | None

    def text(self) -> str:
        """All on one line, as a hint."""
        more = len(self.causes) - MAX_CAUSES
        parts = [
            *self.causes[:MAX_CAUSES],
            f"and {more} more like these" if more > 0 else "",
            f"to resolve: {self.change.text}" if self.change else "",
        ]
        return "; ".join(filter(None, parts))


def explain(
    namespace: Namespace, error: ResolutionError, limit: Limit, dialect: Dialect
) -> Explanation:
    """Why resolving failed so. It ends at the limit with what was found until then."""
    try:
        universe = pose(namespace, limit, dialect)
    except ResolutionError as raised:
        place = f"the requirement that cannot be read is of bundle {raised.bundle}"
        change = _search(namespace, (), (), limit, dialect)
        return Explanation((place,) if raised.bundle else (), change)
    texts: tuple[str, ...] = error.texts if isinstance(error, UnsatisfiableError) else ()
    plain = dict(_plain(universe))
    causes = [*_lacking(universe, texts), *(plain[text] for text in texts if plain.get(text))]
    named = [
        name
        for name in map(name_of, namespace.subscriptions)
        if any(f"subscription {name} " in f"{text} " for text in texts)
    ]
    change = _search(namespace, named, _missing(universe, texts), limit, dialect)
    return Explanation(tuple(dict.fromkeys(causes)), change)


def _lacking(universe: Universe, texts: Iterable[str]) -> Iterator[str]:
    """What bundles need that nothing meets: each thing once, with the newest that needs it."""
    needed: dict[str, list[Entry]] = {}
    for text in texts:
        if text in universe.missing:
            entry, predicate = universe.missing[text]
            needed.setdefault(called(predicate), []).append(entry)
    for thing, entries in needed.items():
        entries.sort(key=lambda each: each.version.key if each.version else (), reverse=True)
        names = list(dict.fromkeys(each.name for each in entries))
        if len(names) == 1:
            yield f"{names[0]} needs {thing}, which no visible catalog has"
        else:
            others = counted(len(names) - 1, "other bundle")
            yield f"{names[0]} and {others} need {thing}, which no visible catalog has"


def _missing(universe: Universe, texts: Iterable[str]) -> list[list[Predicate]]:
    """All that a bundle lacks, for each in question and each that a Subscription prefers."""
    preferred = {
        choice.of[0]
        for variable in universe.variables.values()
        if variable.id.startswith("subscription:")
        for choice in variable.choices
        if choice.of
    }
    in_question = [universe.missing[text][0] for text in texts if text in universe.missing]
    wanted = [entry for entry, _ in universe.missing.values() if entry.id in preferred]
    return [
        [predicate for entry, predicate in universe.missing.values() if entry is each]
        for each in dict.fromkeys((*in_question, *wanted))
    ]


def _search(
    namespace: Namespace,
    named: Iterable[str],
    missing: Iterable[Sequence[Predicate]],
    limit: Limit,
    dialect: Dialect,
) -> Change | None:
    singles = changes(namespace, named, missing)
    pairs = (both(first, second) for first, second in combinations(singles, 2))
    for tried, change in enumerate((*singles, *pairs)):
        if tried == MAX_TRIES:
            break
        try:
            limit.check()
        except LimitError:
            break
        if _resolves(change.after(namespace), limit, dialect):
            return change
    return None


def _resolves(namespace: Namespace, limit: Limit, dialect: Dialect) -> bool:
    try:
        resolve(namespace, limit, dialect)
    except ResolutionError:
        return False
    return True


def _plain(universe: Universe) -> Iterator[tuple[str, str]]:
    """Plain words for the texts of constraints."""
    for variable in universe.variables.values():
        entry = variable.entry
        if variable.mandatory and entry is not None:
            yield (
                variable.mandatory,
                (
                    f"{entry.name} is installed, and no subscription has it as its own, "
                    "so that it has to stay as it is"
                ),
            )
        if variable.prohibited:
            yield variable.prohibited, _refused(variable)
        for choice in variable.choices:
            yield choice.text, _choice(universe, variable, choice.text, choice.of)
        for text in variable.conflicts.values():
            if entry is None or not text.endswith(f"conflicts with {entry.id}"):
                yield text, ""
    for rule in universe.invariants():
        names = _bundles(universe, rule.of)
        if " originate from package " in rule.text:
            package = rule.text.rpartition(" originate from package ")[2]
            yield rule.text, f"only one of the bundles of package {package} may be installed"
        else:
            api = rule.text.rpartition(" provide ")[2]
            yield rule.text, f"{names} provide API {api}, and only one of them may"


def _refused(variable: Variable) -> str:
    if variable.entry is not None:
        entry = variable.entry
        installed = " It is installed." if entry.source.virtual else ""
        return f"{entry.name} has the property olm.deprecated and cannot be installed{installed}"
    return variable.prohibited


def _choice(universe: Universe, variable: Variable, text: str, of: tuple[str, ...]) -> str:
    if text in universe.missing:
        return ""  # reported by `_lacking`
    if variable.entry is not None:
        needs = text.partition(" requires an operator ")[2]
        ways = [each for each in of if universe.variables[each].entry is not None]
        met = f", which {_bundles(universe, ways)} would be" if ways else ""
        return f"{variable.entry.name} needs an operator {needs}{met}"
    if not variable.id.startswith("subscription:"):
        return ""
    name = variable.id.partition(":")[2]
    if not of:
        return text
    return f"subscription {name} may have {_bundles(universe, of)}"


def _bundles(universe: Universe, ids: Iterable[str]) -> str:
    """The bundles of variables, each once, with their catalogs."""
    entries = [found for id_ in ids if (found := universe.variables[id_].entry) is not None]
    names = list(dict.fromkeys(map(_placed, entries)))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _placed(entry: Entry) -> str:
    if entry.source.virtual:
        return f"{entry.name} (installed)"
    return f"{entry.name} (catalog {entry.source.namespace}/{entry.source.name})"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A bundle that a Subscription would have, and why it cannot."""

    bundle: str
    causes: tuple[str, ...]


def held_back(
    namespace: Namespace, subscription: str, limit: Limit, dialect: Dialect
) -> HeldBack | None:
    """Why the Subscription of a namespace that resolves does not have what it prefers.

    None if it has. Raises ResolutionError for a Subscription that is not there, or at the limit.
    """
    universe = pose(namespace, limit, dialect)
    variable = universe.variables.get(f"subscription:{subscription}")
    if variable is None:
        raise ResolutionError(f"there is no subscription {subscription}")
    first = variable.choices[0].of[0]
    text = requires(subscription, (first,))
    variable.choices = [Choice(text, (first,))]
    try:
        solve(universe.variables, universe.invariants(), limit)
    except UnsatisfiableError as error:
        plain = dict(_plain(universe))
        causes = [*_lacking(universe, error.texts)]
        causes += [plain[each] for each in error.texts if plain.get(each) and each != text]
        entry = universe.variables[first].entry
        return HeldBack(entry.name if entry else first, tuple(dict.fromkeys(causes)))
    return None
