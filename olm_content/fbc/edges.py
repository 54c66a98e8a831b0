"""The update graph of a catalog: channels, entries by version, and the edges between them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from olm_content.fbc.catalog import Record, properties
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, CHANNEL, DEPRECATIONS, PACKAGE
from olm_content.ranges import RangeError, SkipRange, parse_skip_range
from olm_content.versions import Version, VersionError, parse_version
from olm_runtime.errors import TerminalError

NO_VERSION = Version(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A bundle in a channel and what it updates; `deprecated` is its own deprecation."""

    name: str
    version: Version = NO_VERSION
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""
    deprecated: bool = False

    @property
    def has_edges(self) -> bool:
        """Whether it updates anything."""
        return bool(self.replaces or self.skips or self.skip_range)

    def accepts(self) -> SkipRange | None:
        """The range of versions it skips; None without one, or when it cannot be read."""
        try:
            return parse_skip_range(self.skip_range) if self.skip_range else None
        except RangeError:
            return None


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel's entries, in the catalog's order."""

    package: str
    name: str
    entries: tuple[Entry, ...]
    deprecated: bool = False

    def newest_first(self) -> list[Entry]:
        """The entries by decreasing version."""
        return sorted(self.entries, key=lambda entry: entry.version.key, reverse=True)


@dataclass(frozen=True, slots=True)
class Graph:
    """All channels by package and name, and the packages that are deprecated as a whole."""

    channels: tuple[Channel, ...]
    deprecated: frozenset[str] = frozenset()


def graph(records: Iterable[Record]) -> Graph:
    """The update graph. Raises TerminalError for a bundle whose version cannot be read."""
    given = list(records)
    versions = {(r.package, r.name): _version(r) for r in given if r.schema == BUNDLE}
    gone = {each for r in given if r.schema == DEPRECATIONS for each in _deprecated(r)}
    channels = (_channel(r, versions, gone) for r in given if r.schema == CHANNEL)
    return Graph(
        tuple(sorted(channels, key=lambda channel: (channel.package, channel.name))),
        frozenset(package for package, schema, _ in gone if schema == PACKAGE),
    )


Reference = tuple[str, str, str]
"""Package, schema and name of what is deprecated."""


def _deprecated(blob: Record) -> Iterator[Reference]:
    for entry in blob.value["entries"] or ():
        reference = entry["reference"]
        yield blob.package, reference["schema"], reference.get("name", "")


def _version(bundle: Record) -> Version:
    found = [item["value"] for item in properties(bundle) if item["type"] == PACKAGE]
    if len(found) != 1 or not isinstance(found[0], Mapping):
        raise TerminalError(f'bundle {quote(bundle.name)} must have exactly 1 "{PACKAGE}" property')
    text = found[0].get("version")
    try:
        return parse_version(text if isinstance(text, str) else "")
    except VersionError as error:
        message = f"bundle {quote(bundle.name)} has invalid version {quote(str(text))}"
        raise TerminalError(f"{message}: {error.message}", hint=error.hint) from error


def _channel(
    blob: Record, versions: Mapping[tuple[str, str], Version], gone: set[Reference]
) -> Channel:
    def entry(value: Mapping[str, Any]) -> Entry:
        name = value["name"]
        return Entry(
            name,
            versions.get((blob.package, name), NO_VERSION),
            value.get("replaces", ""),
            tuple(value.get("skips", ())),
            value.get("skipRange", ""),
            deprecated=(blob.package, BUNDLE, name) in gone,
        )

    entries = tuple(entry(value) for value in blob.value["entries"] or ())
    deprecated = (blob.package, CHANNEL, blob.name) in gone
    return Channel(blob.package, blob.name, entries, deprecated)


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


def _above(channel: Channel, name: str, floor: Version) -> Channel:
    versions = {entry.name: entry.version for entry in channel.entries}

    def reaches(other: str) -> bool:
        return versions.get(other, NO_VERSION).key >= floor.key

    kept: list[Entry] = []
    for entry in channel.entries:
        if entry.name == name:
            kept.append(replace(entry, replaces="", skips=(), skip_range=""))
            continue
        accepted = entry.accepts()
        cut = replace(
            entry,
            replaces=entry.replaces if entry.replaces and reaches(entry.replaces) else "",
            skips=tuple(skip for skip in entry.skips if reaches(skip)),
            skip_range=entry.skip_range if accepted and accepted.matches(floor) else "",
        )
        if cut.has_edges or (not entry.has_edges and reaches(entry.name)):
            kept.append(cut)
    return replace(channel, entries=tuple(kept))
