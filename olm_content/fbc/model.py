"""What a file-based catalog says of a package, as far as decisions are made by it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from olm_content.names import BUNDLE
from olm_content.versions import BundleVersion, Version

if TYPE_CHECKING:  # `olm search` reads no ranges, and is to start fast
    from olm_content.ranges import RangeError, SkipRange


class Entry(Struct, frozen=True):
    """A bundle in a channel, and the installed bundles it may follow. Empty means not given."""

    name: str
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""

    @property
    def has_edges(self) -> bool:
        """Whether it updates anything."""
        return bool(self.replaces or self.skips or self.skip_range)

    @property
    def accepted(self) -> "SkipRange | None":
        """The versions that it skips; None without a range, or for one that cannot be read."""
        found = read_skip_range(self.skip_range) if self.skip_range else None
        return None if isinstance(found, Exception) else found

    def updates(self, name: str) -> bool:
        """Whether it replaces or skips the named bundle."""
        return name == self.replaces or name in self.skips

    def leads_from(self, name: str, version: Version) -> bool:
        """Whether it updates the bundle of this name and version: by name, or by its range."""
        if self.updates(name):
            return True
        accepted = self.accepted
        return accepted is not None and accepted.matches(version)


@lru_cache(maxsize=4096)
def read_skip_range(text: str) -> "SkipRange | RangeError":
    """The range of a `skipRange`, or what is wrong with it: such a range is no edge.

    Remembered, because the same few hundred ranges are asked in every resolution.
    """
    from olm_content.ranges import RangeError, parse_skip_range

    try:
        return parse_skip_range(text)
    except RangeError as error:
        return error.with_traceback(None)


class Channel(Struct, frozen=True):
    """A channel and its entries, in the catalog's order."""

    name: str
    entries: tuple[Entry, ...] = ()

    @property
    def heads(self) -> tuple[str, ...]:
        """The entries that no other replaces or skips; a valid channel has one."""
        updated = {name for entry in self.entries for name in (entry.replaces, *entry.skips)}
        updated.discard("")
        return tuple(entry.name for entry in self.entries if entry.name not in updated)


class Edge(NamedTuple):
    """An entry in its channel: what a bundle may follow there."""

    channel: str
    entry: Entry


class Bundle(NamedTuple):
    """A bundle that can be chosen.

    `version` is None when its first `olm.package` property says none that can be read;
    `version_fault` says why, in upstream's words. `dependencies` are the types of those of its
    properties, in order, that ask for other content to be installed.
    """

    name: str
    image: str
    version: BundleVersion | None
    version_fault: str = ""
    dependencies: tuple[str, ...] = ()


class Deprecation(NamedTuple):
    """What a catalog says of a package (`name` empty), a channel or a bundle going away."""

    schema: str
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Package:
    """All of a package in one catalog, in the catalog's order.

    A package is built once and asked often, so what every question needs is found once: `edges`
    has the entries of a bundle by its name, `deprecated_bundles` those deprecated themselves.
    """

    name: str
    default_channel: str = ""
    channels: tuple[Channel, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    deprecations: tuple[Deprecation, ...] = ()
    edges: Mapping[str, tuple[Edge, ...]] = field(init=False, repr=False, compare=False)
    deprecated_bundles: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        deprecated = (each.name for each in self.deprecations if each.schema == BUNDLE)
        object.__setattr__(self, "edges", _edges_by_bundle(self.channels))
        object.__setattr__(self, "deprecated_bundles", frozenset(deprecated))


def _edges_by_bundle(channels: Iterable[Channel]) -> Mapping[str, tuple[Edge, ...]]:
    edges: dict[str, list[Edge]] = {}
    for channel in channels:
        for entry in channel.entries:
            edges.setdefault(entry.name, []).append(Edge(channel.name, entry))
    return {name: tuple(found) for name, found in edges.items()}
