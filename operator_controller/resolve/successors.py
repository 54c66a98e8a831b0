"""Which bundles may follow the installed one, by the edges in the channels of a catalog."""

from collections.abc import Iterable
from typing import NamedTuple

from api.olm.v1.clusterextension import BundleMetadata
from olm_content.fbc.model import Bundle, Entry
from olm_content.versions import BundleVersion, Version, parse_bundle_version, parse_version


class Installed(NamedTuple):
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
        entry.leads_from(installed.name, installed.version) for entry in entries
    )
