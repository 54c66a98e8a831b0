"""Bundles that a plan is to be made of, and what becomes of them."""

from dataclasses import dataclass, replace

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


LOOK_AGAIN_SECONDS = 0.5
RETRY_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Unpacking:
    """It is under way; a message says what keeps it. Looked at again after `again` seconds."""

    message: str = ""
    again: float = LOOK_AGAIN_SECONDS


@dataclass(frozen=True, slots=True)
class UnpackFailed:
    """It is given up for now: reason and message of the condition BundleUnpackFailed.

    Tried again after `again` seconds, and whenever the namespace is resolved anew.
    """

    reason: str
    message: str
    again: float = RETRY_SECONDS


@dataclass(frozen=True, slots=True)
class Patience:
    """In `seconds` an unpacking is given up, 0 for never; `retry_seconds` later it is tried again.

    Without the second the way of unpacking decides when.
    """

    seconds: float
    retry_seconds: float = 0.0

    def after(self, failed: UnpackFailed) -> UnpackFailed:
        """The failure, to be tried again in time."""
        return replace(failed, again=self.retry_seconds or RETRY_SECONDS)


def lookup_of(chosen: Chosen) -> BundleLookup:
    """The look-up of a bundle that was chosen."""
    entry = chosen.entry
    properties = orjson.dumps({"properties": [dict(each) for each in entry.properties]}).decode()
    place = entry.package, entry.channel
    return BundleLookup(entry.name, entry.image, chosen.replaces, entry.source, properties, *place)
