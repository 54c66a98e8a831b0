"""The update graph of a package in an SQLite index, made anew when bundles are added. Pure.

Two ways, as upstream's tool has them. By `replaces`, the bundle of the highest version leads each
of its channels, and what it updates is what its ClusterServiceVersion says, and so on down. By
version, a bundle is put between its neighbours, and what it says itself does not count.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from olm_content.versions import Identifier, Key, VersionError, comparable, parse_version
from olm_runtime.errors import TerminalError
from opm.index.tables import EntryRow

REPLACES, SEMVER, SKIP_PATCH = "replaces", "semver", "semver-skippatch"
MODES = (REPLACES, SEMVER, SKIP_PATCH)
_UNVERSIONED = "0.0.0-z"
"""Stands for no version: below every one that is given."""


class GraphError(TerminalError):
    """Bundles of which no graph can be made."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a bundle updates: it replaces one, and skips others."""

    replaces: str = ""
    skips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A bundle of a package. `update` is what it says itself."""

    name: str
    version: str
    channels: tuple[str, ...]
    default_channel: str = ""
    update: Update = Update()
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """A channel: the bundle that leads it, and what each of its bundles updates."""

    head: str
    updates: Mapping[str, Update]


@dataclass(frozen=True, slots=True)
class Graph:
    """The channels of a package by name."""

    default_channel: str
    channels: Mapping[str, Chain]


def by_replaces(package: str, members: Iterable[Member]) -> Graph:
    """The graph of all bundles of a package, old and new. Raises GraphError."""
    ordered = sorted(members, key=_order)
    heads = _heads(ordered)
    updates = {each.name: each.update for each in ordered}
    deprecated = {each.name for each in ordered if each.deprecated}
    channels = {
        channel: Chain(head, _followed(head, updates, deprecated))
        for channel, head in heads.items()
        if head not in deprecated
    }
    default = _default_channel(ordered, heads)
    if default not in channels:
        raise GraphError(f"no default channel specified for {package}")
    return Graph(default, channels)


Order = tuple[Key, int, tuple[Identifier, ...]]


def _order(member: Member) -> Order:
    """By version; of equal ones that with more build metadata is the higher."""
    try:
        version = parse_version(member.version or _UNVERSIONED)
    except VersionError as error:
        raise GraphError(
            f"error parsing bundle {member.name} version {member.version}: {error.message}"
        ) from error
    build = tuple(map(comparable, version.build))
    return version.key, 1 if build else 0, build


def _heads(ordered: Sequence[Member]) -> dict[str, str]:
    if _contested(ordered):
        raise GraphError(f"more than one bundle with maximum version {ordered[-1].version}")
    found = {}
    for channel in sorted({channel for member in ordered for channel in member.channels}):
        listed = [member for member in ordered if channel in member.channels]
        if _contested(listed):
            raise GraphError(f"more than one potential channel head for {channel}")
        found[channel] = listed[-1].name
    return found


def _contested(ordered: Sequence[Member]) -> bool:
    return len(ordered) > 1 and _order(ordered[-2]) == _order(ordered[-1])


def _default_channel(ordered: Iterable[Member], heads: Mapping[str, str]) -> str:
    """What the highest version names that names one; the only channel, if none does."""
    named = [each.default_channel for each in ordered if each.default_channel]
    if not named and len(heads) == 1:
        return next(iter(heads))
    if not named or named[-1] not in heads:
        raise GraphError(
            f"unable to determine default channel among channel heads: {', '.join(heads)}",
            hint="name one of the channels as default channel in metadata/annotations.yaml",
        )
    return named[-1]


def _followed(head: str, updates: Mapping[str, Update], deprecated: set[str]) -> dict[str, Update]:
    """What is reached from the head; below a deprecated bundle nothing counts."""
    found: dict[str, Update] = {}
    name = head
    while name:
        if name in deprecated:
            found[name] = Update()
            break
        found[name] = updates[name]
        following = updates[name].replaces
        if following in found:
            raise GraphError(f"Cycle detected, {name} replaces {following}")
        if following and following not in updates:
            raise GraphError(
                f"Invalid bundle {name}, replaces nonexistent bundle {following}",
                hint="add that bundle first, or in the same command",
            )
        name = following
    return found


def by_version(
    package: str, graph: Graph, added: Iterable[Member], versions: Mapping[str, str], mode: str
) -> Graph:
    """The graph with bundles put in, the lowest first; `versions` are those of all bundles.

    Raises GraphError.
    """
    for member in sorted(added, key=_order):
        if not member.version:
            raise GraphError(f"bundle {member.name} of package {package} has no version")
        channels = dict(graph.channels)
        for name in member.channels:
            chain = channels.get(name)
            channels[name] = _put(member, chain, versions, mode) if chain else _alone(member)
        default = member.default_channel or graph.default_channel
        if not default and len(member.channels) == 1:
            default = member.channels[0]
        if default not in channels:
            raise GraphError(
                f"bundle {member.name}: the default channel "
                + (f'"{default}" does not exist' if default else "is missing"),
                hint="name one of the channels as default channel in metadata/annotations.yaml",
            )
        graph = Graph(default, channels)
    return graph


def _alone(member: Member) -> Chain:
    return Chain(member.name, {member.name: Update()})


def _put(member: Member, chain: Chain, versions: Mapping[str, str], mode: str) -> Chain:
    new = _order(member)
    orders = {name: _order(Member(name, versions[name], ())) for name in chain.updates}
    if any(order[0] == new[0] for order in orders.values()):
        raise GraphError(f"Bundle version {member.version} already added to index")
    passed = sorted(
        (name for name, order in orders.items() if _earlier_patch(order, new)),
        key=orders.__getitem__,
        reverse=True,
    )
    passed = passed if mode == SKIP_PATCH else []
    line = [name for name in _line(chain) if name in orders]
    if any(orders[one] < orders[other] for one, other in pairwise(line)):
        raise GraphError(
            f"bundle {member.name} has no place: {', '.join(line)} are not in order of versions",
            hint="use --mode=replaces",
        )
    ahead = [name for name in line if orders[name] > new]
    behind = [name for name in line if orders[name] < new and name not in passed]
    skips = [*passed, *(name for each in passed for name in chain.updates[each].skips)]
    updates = {name: update for name, update in chain.updates.items() if name not in passed}
    updates[member.name] = Update(behind[0] if behind else "", tuple(dict.fromkeys(skips)))
    if ahead:
        updates[ahead[-1]] = replace(updates[ahead[-1]], replaces=member.name)
    return Chain(chain.head if ahead else member.name, updates)


def _line(chain: Chain) -> list[str]:
    """The bundles that replace each other, from the head on."""
    found: dict[str, None] = {}
    name = chain.head
    while name and name not in found:
        found[name] = None
        name = chain.updates.get(name, Update()).replaces
    return list(found)


def _earlier_patch(one: Order, other: Order) -> bool:
    return one < other and one[0][:2] == other[0][:2]


def read_chains(entries: Iterable[EntryRow], versions: Mapping[str, str]) -> dict[str, Chain]:
    """The channels of a package as they are in an index, without bundles that it does not hold."""
    by_channel: dict[str, list[EntryRow]] = {}
    for row in entries:
        by_channel.setdefault(row.channel, []).append(row)
    return {name: _read_chain(rows, versions) for name, rows in sorted(by_channel.items())}


def _read_chain(rows: Sequence[EntryRow], versions: Mapping[str, str]) -> Chain:
    numbered = {row.number: row for row in rows}
    first = min(rows, key=lambda row: row.depth)
    updates = {row.bundle: Update() for row in rows if row.bundle in versions}
    row: EntryRow | None = first
    walked: set[int] = set()
    while row is not None and row.number not in walked:
        walked.add(row.number)
        following = numbered.get(row.replaces) if row.replaces is not None else None
        if following is not None and row.bundle in updates:
            updates[row.bundle] = Update(following.bundle)
        row = following
    for row in rows:
        skipped = numbered.get(row.replaces) if row.replaces is not None else None
        if row.number in walked or skipped is None or row.bundle not in updates:
            continue
        known = updates[row.bundle]
        updates[row.bundle] = replace(known, skips=(*known.skips, skipped.bundle))
    return Chain(first.bundle, {name: _led_on(each, updates) for name, each in updates.items()})


def _led_on(update: Update, known: Mapping[str, Update]) -> Update:
    """What replaces nothing and skips a bundle that is there, replaces that one from now on.

    Else what is below would not be reached any more.
    """
    skipped = [name for name in update.skips if name in known]
    if update.replaces or not skipped:
        return update
    return Update(skipped[0], tuple(name for name in update.skips if name != skipped[0]))


def entries(package: str, graph: Graph, first: int) -> Iterator[EntryRow]:
    """The rows that say the graph, numbered from `first`."""
    numbers = count(first)
    for channel, chain in graph.channels.items():
        yield from _channel_entries(package, channel, chain, numbers)


def _channel_entries(
    package: str, channel: str, chain: Chain, numbers: Iterator[int]
) -> Iterator[EntryRow]:
    depths = count()
    name, number, depth = chain.head, next(numbers), next(depths)
    while True:
        update = chain.updates.get(name, Update())
        for skipped in update.skips:
            below, skipper = next(numbers), next(numbers)
            level = next(depths)
            yield EntryRow(below, package, channel, skipped, None, level)
            yield EntryRow(skipper, package, channel, name, below, level)
        following = next(numbers) if update.replaces else None
        yield EntryRow(number, package, channel, name, following, depth)
        if following is None:
            return
        name, number, depth = update.replaces, following, next(depths)


def check_reached(graph: Graph, added: Iterable[Member]) -> None:
    """Raises GraphError for a bundle that is in none of its channels, for all that are."""
    faults = []
    for member in added:
        for channel in member.channels:
            chain = graph.channels.get(channel)
            if chain is None or member.name not in _reached(chain):
                led = f"which {chain.head} leads" if chain else "whose head is deprecated"
                faults.append(f"nothing in channel {channel}, {led}, updates {member.name}")
    if faults:
        raise GraphError(
            "; ".join(faults),
            hint="the highest version leads a channel: let its ClusterServiceVersion replace or "
            "skip the others, or use --mode=semver",
        )


def _reached(chain: Chain) -> set[str]:
    found = {chain.head}
    for update in chain.updates.values():
        found |= {update.replaces, *update.skips}
    return found


def dropped(before: Graph, after: Graph) -> dict[str, list[str]]:
    """Bundles by channel that the channel had and has no more."""
    found = {}
    for channel, chain in before.channels.items():
        reached = _reached(after.channels[channel]) if channel in after.channels else set()
        if missing := sorted(set(chain.updates) - reached):
            found[channel] = missing
    return found
