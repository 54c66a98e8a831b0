"""Bundles that a plan is to be made of, and what becomes of them."""

from dataclasses import dataclass

import orjson

from api.objects import KubeObject
from olm_classic.resolve import Chosen, SourceKey


@dataclass(frozen=True, slots=True)
class BundleLookup:
    """A bundle to unpack.

    identifier  the name of its ClusterServiceVersion
    image       where it is pulled from; empty for one that stands in the catalog itself
    package     where the catalog has it, with `channel`
    replaces    what its ClusterServiceVersion is to replace
    catalog     where it was found
    properties  those of the catalog, as JSON: what the ClusterServiceVersion is annotated with
    """

    identifier: str
    image: str
    replaces: str
    catalog: SourceKey
    properties: str
    package: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The objects of a bundle, and namespace and name of the ConfigMap that holds them.

    There is none for a bundle that stands in the catalog itself.
    """

    lookup: BundleLookup
    objects: tuple[KubeObject, ...]
    config_map: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Unpacking:
    """It is under way; a message says what keeps it."""

    message: str = ""


@dataclass(frozen=True, slots=True)
class UnpackFailed:
    """It is given up for now: reason and message of the condition BundleUnpackFailed."""

    reason: str
    message: str


def lookup_of(chosen: Chosen) -> BundleLookup:
    """The look-up of a bundle that was chosen."""
    entry = chosen.entry
    properties = orjson.dumps({"properties": [dict(each) for each in entry.properties]}).decode()
    place = entry.package, entry.channel
    return BundleLookup(entry.name, entry.image, chosen.replaces, entry.source, properties, *place)
