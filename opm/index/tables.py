"""What the tables of an SQLite catalog hold, whatever its version. Pure.

Source: the schema of upstream's operator-registry, up to its migration 13.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackageRow:
    """A package and the name of its default channel."""

    name: str
    default_channel: str


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """A channel and the name of the bundle that leads it."""

    package: str
    name: str
    head: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """A bundle in a channel and the number of an entry that it updates.

    A bundle that updates several has an entry for each. Those reached from an entry of depth 0 are
    replaced, others are skipped.
    """

    number: int
    package: str
    channel: str
    bundle: str
    replaces: int | None
    depth: int


@dataclass(frozen=True, slots=True)
class TypedRow:
    """A property or dependency of a bundle; `value` is JSON."""

    bundle: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class BundleRow:
    """A bundle: `objects` is its manifests as JSON, one after the other, or empty."""

    name: str
    objects: str
    csv: str
    image: str
    version: str
    skip_range: str


@dataclass(frozen=True, slots=True)
class Tables:
    """A whole catalog."""

    packages: tuple[PackageRow, ...]
    channels: tuple[ChannelRow, ...]
    entries: tuple[EntryRow, ...]
    bundles: tuple[BundleRow, ...]
    properties: tuple[TypedRow, ...]
    dependencies: tuple[TypedRow, ...]
    related_images: tuple[tuple[str, str], ...]
    """Name of the bundle, and image."""
