"""Which bundles may follow the installed one, by the edges in the channels of a catalog."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from api.olm.v1.clusterextension import BundleMetadata
from olm_content.ranges import RangeError, SkipRange, parse_skip_range
from operator_controller.catalog import (
    Bundle,
    BundleVersion,
    Entry,
    Version,
    parse_bundle_version,
    parse_version,
)


@dataclass(frozen=True, slots=True)
class Installed:
    """The installed bundle: its name and version, as edges name them."""

    name: str
    version: Version
    released: BundleVersion


def read_installed(bundle: BundleMetadata) -> Installed:
    """Raises VersionError."""
    released = parse_bundle_version(bundle.version, bundle.release)
    return Installed(bundle.name, parse_version(bundle.version), released)


def may_follow(bundle: Bundle, entries: Iterable[Entry], installed: Installed) -> bool:
    """Whether the bundle is a successor of the installed one, or the same version and release.

    Any entry suffices whose `replaces` or `skips` name the installed bundle or whose `skipRange`
    contains its version; chains of `replaces` are not followed, nor need the entry be at a head.
    """
    if bundle.version is None:
        return False
    return bundle.version.key == installed.released.key or any(
        _has_edge(entry, installed) for entry in entries
    )


def _has_edge(entry: Entry, installed: Installed) -> bool:
    if installed.name in (entry.replaces, *entry.skips):
        return True
    if not entry.skip_range:
        return False
    skips = read_skip_range(entry.skip_range)
    return isinstance(skips, SkipRange) and skips.matches(installed.version)


@lru_cache(maxsize=4096)
def read_skip_range(text: str) -> SkipRange | RangeError:
    """The range, or its error: an invalid range is no edge.

    Cached, because every resolution parses the same few hundred ranges.
    """
    try:
        return parse_skip_range(text)
    except RangeError as error:
        return error.with_traceback(None)
