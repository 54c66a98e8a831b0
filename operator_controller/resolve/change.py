"""A change of `spec.source.catalog` as data, and the bundle that it gives."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from api.olm.v1 import names
from api.olm.v1.clusterextension import CatalogFilter
from api.olm.v1.common import SUBDOMAIN
from api.olm.v1.versions import VERSION_RANGE

MAX_RANGE_LENGTH = 64
MAX_NAME_LENGTH = 253


class Field(StrEnum):
    """The fields of `spec.source.catalog` that decide the choice, least risky first."""

    VERSION = "version"
    CHANNELS = "channels"
    SELECTOR = "selector"
    POLICY = "upgradeConstraintPolicy"


class NoChange(StrEnum):
    """Why no change of the spec helps, or none was found."""

    NO_CATALOG = "NoCatalog"
    PACKAGE_ABSENT = "PackageAbsent"
    CATALOG_UNAVAILABLE = "CatalogUnavailable"
    NOT_INSTALLABLE = "NotInstallable"
    NOT_TOLD_APART = "NotToldApart"
    NOT_ALL_TRIED = "NotAllTried"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The catalog filter before and after the change, and the bundle that `after` gives."""

    before: CatalogFilter
    after: CatalogFilter
    catalog: str
    bundle: str
    version: str

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that differ, in the order of Field."""
        return tuple(f for f in Field if value_of(self.before, f) != value_of(self.after, f))

    def patch(self) -> dict[str, Any]:
        """The change as a merge patch of the ClusterExtension."""
        changes = {f.value: _patch_of(self.before, self.after, f) for f in self.fields}
        return {"spec": {"source": {"catalog": changes}}}


def value_of(desired: CatalogFilter, field: Field) -> object:
    """The value of a field."""
    match field:
        case Field.VERSION:
            return desired.version
        case Field.CHANNELS:
            return desired.channels
        case Field.SELECTOR:
            return desired.selector
        case Field.POLICY:
            return desired.upgrade_constraint_policy


def is_range(version: str) -> bool:
    """Whether the API server takes it as a version range."""
    return len(version) <= MAX_RANGE_LENGTH and re.search(VERSION_RANGE, version) is not None


def is_channel(name: str) -> bool:
    """Whether the API server takes it as the name of a channel."""
    return len(name) <= MAX_NAME_LENGTH and re.search(SUBDOMAIN, name) is not None


def named(catalog: str) -> Mapping[str, str]:
    """The label by which a selector names one catalog."""
    return {names.LABEL_METADATA_NAME: names.label_value(catalog)}


def _patch_of(before: CatalogFilter, after: CatalogFilter, field: Field) -> Any:
    match field:
        case Field.VERSION:
            return after.version or None
        case Field.CHANNELS:
            return list(after.channels) or None
        case Field.SELECTOR:
            gone = dict.fromkeys(before.selector.match_labels)
            return {
                "matchLabels": gone | dict(after.selector.match_labels),
                "matchExpressions": None,
            }
        case Field.POLICY:
            return after.upgrade_constraint_policy.value
