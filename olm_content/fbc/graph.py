"""The update graph of a catalog: channels, entries by version, and the edges between them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from msgspec import structs

from olm_content.fbc.model import Channel, Entry
from olm_content.fbc.records import Record, channel_of, deprecations_of, package_value
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE
from olm_content.versions import Version, VersionError, parse_version
from olm_runtime.errors import TerminalError

NO_VERSION = Version(0, 0, 0)


class GraphEntry(Entry, frozen=True):
    """An entry with the version of its bundle; `deprecated` is the bundle's own deprecation."""

    version: Version = NO_VERSION
    deprecated: bool = False


class GraphChannel(Channel, frozen=True):
    """A channel of a package."""

    entries: tuple[GraphEntry, ...] = ()
    package: str = ""
    deprecated: bool = False

    def newest_first(self) -> list[GraphEntry]:
        """The entries by decreasing version."""
        return sorted(self.entries, key=lambda entry: entry.version.key, reverse=True)

    def newest_heads(self) -> list[str]:
        """The heads by decreasing version."""
        heads = set(self.heads)
        return [entry.name for entry in self.newest_first() if entry.name in heads]


@dataclass(frozen=True, slots=True)
class Graph:
    """All channels by package and name, and the packages that are deprecated as a whole."""

    channels: tuple[GraphChannel, ...]
    deprecated: frozenset[str] = frozenset()


def graph(records: Iterable[Record]) -> Graph:
    """The update graph. Raises TerminalError for a bundle whose version cannot be read."""
    given = list(records)
    versions = {(r.package, r.name): _version(r) for r in given if r.schema == BUNDLE}
    deprecated = {
        (r.package, each.schema, each.name)
        for r in given
        if r.schema == DEPRECATIONS
        for each in deprecations_of(r)
    }
    channels = (_channel(r, versions, deprecated) for r in given if r.schema == CHANNEL)
    return Graph(
        tuple(sorted(channels, key=lambda channel: (channel.package, channel.name))),
        frozenset(package for package, schema, _ in deprecated if schema == PACKAGE),
    )


Reference = tuple[str, str, str]
"""Package, schema and name of what is deprecated."""


def _version(bundle: Record) -> Version:
    text = package_value(bundle).get("version")
    try:
        return parse_version(text if isinstance(text, str) else "")
    except VersionError as error:
        message = f"bundle {quote(bundle.name)} has invalid version {quote(str(text))}"
        raise TerminalError(f"{message}: {error.message}", hint=error.hint) from error


def _channel(
    each: Record, versions: Mapping[tuple[str, str], Version], deprecated: set[Reference]
) -> GraphChannel:
    package, entries = each.package, channel_of(each).entries
    return GraphChannel(
        each.name,
        tuple(
            GraphEntry(
                entry.name,
                entry.replaces,
                entry.skips,
                entry.skip_range,
                versions.get((package, entry.name), NO_VERSION),
                deprecated=(package, BUNDLE, entry.name) in deprecated,
            )
            for entry in entries
        ),
        package,
        deprecated=(package, CHANNEL, each.name) in deprecated,
    )


class UpdateKind(StrEnum):
    """How an entry says what it updates."""

    REPLACES = "replaces"
    SKIPS = "skips"
    RANGE = "skipRange"


@dataclass(frozen=True, slots=True)
class Update:
    """A step that users may take, from the older entry to the newer."""

    older: str
    newer: str
    kind: UpdateKind


def updates(channel: GraphChannel) -> Iterator[Update]:
    """All steps of a channel, also from entries that it does not have, by newer entry."""
    ordered = channel.newest_first()
    for entry in ordered:
        if entry.replaces:
            yield Update(entry.replaces, entry.name, UpdateKind.REPLACES)
        for skip in entry.skips:
            yield Update(skip, entry.name, UpdateKind.SKIPS)
        accepted = entry.accepted
        if accepted is not None:
            for other in ordered:
                if other.name != entry.name and accepted.matches(other.version):
                    yield Update(other.name, entry.name, UpdateKind.RANGE)


def of_package(whole: Graph, package: str) -> Graph:
    """What belongs to one package."""
    return replace(whole, channels=tuple(c for c in whole.channels if c.package == package))


def from_edge(whole: Graph, name: str) -> Graph:
    """What leads on from an entry: its package without versions below, and edges among the rest.

    Raises TerminalError when no channel has the entry.
    """
    found = [(c, entry) for c in whole.channels for entry in c.entries if entry.name == name]
    if not found:
        raise TerminalError(f"unknown minimum edge name: {quote(name)}")
    package, floor = found[0][0].package, found[0][1].version
    channels = (_above(c, name, floor) for c in whole.channels if c.package == package)
    return replace(whole, channels=tuple(c for c in channels if c.entries))


def _above(channel: GraphChannel, name: str, floor: Version) -> GraphChannel:
    versions = {entry.name: entry.version for entry in channel.entries}

    def reaches(other: str) -> bool:
        return versions.get(other, NO_VERSION).key >= floor.key

    found: list[GraphEntry] = []
    for entry in channel.entries:
        if entry.name == name:
            found.append(structs.replace(entry, replaces="", skips=(), skip_range=""))
            continue
        accepted = entry.accepted
        cut = structs.replace(
            entry,
            replaces=entry.replaces if entry.replaces and reaches(entry.replaces) else "",
            skips=tuple(skip for skip in entry.skips if reaches(skip)),
            skip_range=entry.skip_range if accepted and accepted.matches(floor) else "",
        )
        if cut.has_edges or (not entry.has_edges and reaches(entry.name)):
            found.append(cut)
    return structs.replace(channel, entries=tuple(found))
