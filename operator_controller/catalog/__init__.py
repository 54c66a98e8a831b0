"""Blobs of a catalog to packages, channels, bundles, deprecations. Pure."""

from olm_content.versions import (
    BundleVersion,
    Version,
    VersionError,
    parse_bundle_version,
    parse_version,
)
from operator_controller.catalog.build import BrokenPackageError, build_package
from operator_controller.catalog.model import (
    Bundle,
    Channel,
    Deprecation,
    Edge,
    Entry,
    Package,
    Schema,
)
from operator_controller.catalog.needed import needed

__all__ = [
    "BrokenPackageError",
    "Bundle",
    "BundleVersion",
    "Channel",
    "Deprecation",
    "Edge",
    "Entry",
    "Package",
    "Schema",
    "Version",
    "VersionError",
    "build_package",
    "needed",
    "parse_bundle_version",
    "parse_version",
]
