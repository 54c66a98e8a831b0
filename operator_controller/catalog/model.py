"""A package as one catalog offers it. Only what choosing a bundle needs is kept."""

from dataclasses import dataclass
from enum import StrEnum

from operator_controller.catalog.version import BundleVersion


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
class Bundle:
    """A bundle that can be chosen.

    `version` is None when its first `olm.package` property says none that can be read;
    `version_fault` tells why. `dependencies` are the property types, in order, for which it
    cannot be installed.
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
    """All of a package in one catalog, in the catalog's order."""

    name: str
    default_channel: str = ""
    channels: tuple[Channel, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    deprecations: tuple[Deprecation, ...] = ()

    @property
    def deprecated_bundles(self) -> frozenset[str]:
        """The names of the bundles that are deprecated themselves."""
        return frozenset(d.name for d in self.deprecations if d.schema == Schema.BUNDLE)
