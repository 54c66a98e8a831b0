"""From what a namespace has and asks to what its plan is to contain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from api.objects import KubeObject, name_of
from olm_classic.dialect import Dialect
from olm_classic.resolve.entries import Entry
from olm_classic.resolve.errors import Limit, ResolutionError
from olm_classic.resolve.installed import installed_entries
from olm_classic.resolve.readers import Catalog
from olm_classic.resolve.solve import solve
from olm_classic.resolve.subscriptions import add_freestanding, add_subscription, left_over
from olm_classic.resolve.variables import Universe
from olm_classic.resolve.wanted import Wanted, add_wanted

EXCLUDE_GLOBAL = "olm.operatorframework.io/exclude-global-namespace-resolution"


@dataclass(frozen=True, slots=True)
class Namespace:
    """What is resolved together; objects are of the cluster's, catalogs of every namespace.

    `wanted` is what an InstallPlan names, where that is resolved: then there are no Subscriptions.
    """

    name: str
    global_namespace: str
    groups: tuple[KubeObject, ...]
    subscriptions: tuple[KubeObject, ...]
    csvs: tuple[KubeObject, ...]
    catalogs: tuple[Catalog, ...]
    wanted: Wanted = field(default_factory=Wanted)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A bundle of the solution, and the CSV that it replaces: installed, or by its channel.

    `updates` are the Subscriptions whose installed CSV it updates.
    """

    entry: Entry
    replaces: str
    updates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Resolution:
    """`chosen` are the solution's bundles of catalogs, `planned` those of them that are new.

    `generated` are the Subscriptions that the plan makes: name and spec. `updated` has the new
    `currentCSV` of Subscriptions by name; without any there is no plan. `adopted` has the installed
    CSV that a Subscription without one goes on from (not in upstream's dialect).
    """

    chosen: tuple[Chosen, ...]
    planned: tuple[Chosen, ...]
    generated: tuple[tuple[str, dict[str, Any]], ...]
    updated: tuple[tuple[str, str], ...]
    adopted: tuple[tuple[str, str], ...] = ()


def resolve(namespace: Namespace, limit: Limit, dialect: Dialect = Dialect.DOCUMENTS) -> Resolution:
    """The preferred solution. Raises UnsatisfiableError, or ResolutionError."""
    universe = pose(namespace, limit, dialect)
    chosen = []
    for id_ in sorted(solve(universe.variables, universe.invariants(), limit)):
        variable = universe.variables[id_]
        if variable.entry is not None and not variable.entry.source.virtual:
            replaces = variable.replaces or variable.entry.replaces
            chosen.append(Chosen(variable.entry, replaces, frozenset(variable.updates)))
    subscriptions = sorted(namespace.subscriptions, key=name_of)
    found = _outcome(chosen, subscriptions, {name_of(csv) for csv in namespace.csvs})
    adopted = ((name, csv.name) for name, csv in sorted(universe.adopted.items()))
    return replace(found, adopted=tuple(adopted))


def pose(namespace: Namespace, limit: Limit, dialect: Dialect) -> Universe:
    """All variables of the namespace with their constraints. Raises ResolutionError."""
    if len(namespace.groups) != 1:
        count = len(namespace.groups)
        raise ResolutionError(f"expected 1 OperatorGroup in the namespace, found {count}")
    subscriptions = sorted(namespace.subscriptions, key=name_of)
    installed = installed_entries(namespace.name, namespace.csvs, subscriptions, namespace.groups)
    universe = Universe(visible(namespace), installed, namespace.name, limit, dialect)
    universe.adopted = left_over(universe, subscriptions)
    add_freestanding(universe, subscriptions, universe.adopted)
    _refuse_unhealthy(universe.catalogs.values())
    _add_all(universe, subscriptions, universe.adopted)
    add_wanted(universe, namespace.wanted)
    universe.forbid()
    return universe


def visible(namespace: Namespace) -> list[Catalog]:
    """The catalogs that the namespace may install from."""
    annotations = namespace.groups[0]["metadata"].get("annotations") or {}
    seen = {namespace.name}
    if annotations.get(EXCLUDE_GLOBAL) != "true":
        seen.add(namespace.global_namespace)
    return [each for each in namespace.catalogs if each.key.namespace in seen]


def _refuse_unhealthy(catalogs: Iterable[Catalog]) -> None:
    _raise_all(
        f"error using catalogsource {each.key.namespace}/{each.key.name}: {each.problem}"
        for each in sorted(catalogs, key=lambda each: each.key)
        if each.problem
    )


def _add_all(
    universe: Universe, subscriptions: Iterable[KubeObject], adopted: Mapping[str, Entry]
) -> None:
    problems: list[ResolutionError] = []
    for subscription in subscriptions:
        try:
            add_subscription(universe, subscription, adopted.get(name_of(subscription)))
        except ResolutionError as error:
            problems.append(error)
    if len({each.message for each in problems}) == 1:
        raise problems[0]
    _raise_all(each.message for each in problems)


def _raise_all(problems: Iterable[str]) -> None:
    """Raises ResolutionError with the distinct problems, as Kubernetes joins errors."""
    distinct = list(dict.fromkeys(problems))
    if distinct:
        raise ResolutionError(distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]")


def _outcome(
    chosen: list[Chosen], subscriptions: list[KubeObject], existing: set[str]
) -> Resolution:
    planned, generated, updated = [], [], []
    for each in chosen:
        entry = each.entry
        matching = [
            sub for sub in subscriptions if _matches(sub, entry) or name_of(sub) in each.updates
        ]
        stale = [sub for sub in matching if _current(sub) != entry.name]
        if matching and not stale and entry.name in existing:
            continue
        planned.append(each)
        updated += [(name_of(sub), entry.name) for sub in stale]
        if not matching:
            generated.append(_subscription(entry))
    return Resolution(tuple(chosen), tuple(planned), tuple(generated), tuple(sorted(updated)))


def _matches(subscription: KubeObject, entry: Entry) -> bool:
    spec = subscription["spec"]
    return (
        spec.get("name") == entry.package
        and spec.get("channel") in {None, "", entry.channel}
        and spec.get("source") in {None, "", entry.source.name}
        and spec.get("sourceNamespace") in {None, "", entry.source.namespace}
    )


def _current(subscription: KubeObject) -> str:
    return str((subscription.get("status") or {}).get("currentCSV") or "")


def _subscription(entry: Entry) -> tuple[str, dict[str, Any]]:
    """The Subscription of a dependency."""
    name = f"{entry.package}-{entry.channel}-{entry.source.name}-{entry.source.namespace}"
    return name, {
        "channel": entry.channel,
        "installPlanApproval": "Automatic",
        "name": entry.package,
        "source": entry.source.name,
        "sourceNamespace": entry.source.namespace,
        "startingCSV": entry.name,
    }
