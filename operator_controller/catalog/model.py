"""A package as one catalog offers it. Only what choosing a bundle needs is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from olm_content.versions import BundleVersion


class Schema(StrEnum):
    """The schemas of a file-based catalog that make up a package."""

    PACKAGE = "olm.package"
    CHANNEL = "olm.channel"
    BUNDLE = "olm.bundle"
    DEPRECATIONS = "olm.deprecations"


UNSUPPORTED_DEPENDENCIES = frozenset({"olm.package.required", "olm.gvk.required", "olm.constraint"})
"""Property types that ask for other content to be installed, which OLM v1 does not do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A bundle in a channel, and the installed bundles it may follow. Empty means not given."""

    name: str
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel and its entries, in the catalog's order."""

    name: str
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """An entry in its channel: what a bundle may follow there."""

    channel: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that can be chosen.

    `version` is None when its first `olm.package` property says none that can be read;
    `version_fault` tells why, in upstream's words. `dependencies` are the property types, in
    order, for which it cannot be installed.
    """

    name: str
    image: str
    version: BundleVersion | None
    version_fault: str = ""
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deprecation:
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
        deprecated = (d.name for d in self.deprecations if d.schema == Schema.BUNDLE)
        object.__setattr__(self, "edges", _edges_by_bundle(self.channels))
        object.__setattr__(self, "deprecated_bundles", frozenset(deprecated))


def _edges_by_bundle(channels: Iterable[Channel]) -> Mapping[str, tuple[Edge, ...]]:
    edges: dict[str, list[Edge]] = {}
    for channel in channels:
        for entry in channel.entries:
            edges.setdefault(entry.name, []).append(Edge(channel.name, entry))
    return {name: tuple(found) for name, found in edges.items()}
