"""Migrations of records to newer forms, as `--migrate-level` names them. Pure."""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from olm_content.fbc.records import Record, properties, with_properties
from olm_content.fbc.shapes import ShapeError, read
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import BUNDLE, BUNDLE_OBJECT, CSV_KIND, CSV_METADATA
from olm_runtime.errors import TerminalError

NONE = "none"
_TAKEN = {
    **{
        name.casefold(): name
        for name in (
            *("description", "displayName", "installModes", "keywords", "links", "maintainers"),
            *("maturity", "minKubeVersion", "nativeAPIs", "provider"),
        )
    },
    "apiservicedefinitions": "apiServiceDefinitions",
    "customresourcedefinitions": "crdDescriptions",
}
"""What is taken of a spec, and its name there. In Go the case of a key does not count."""


def _to_csv_metadata(each: Record) -> Record:
    """Replaces embedded objects of a bundle by what clients read of its ClusterServiceVersion.

    Bundles without an image keep theirs: nothing else has their content. Raises TerminalError
    where a type does not fit.
    """
    items = properties(each)
    csv = embedded_csv(items)
    if each.schema != BUNDLE or not each.value["image"] or csv is None:
        return each
    if any(item["type"] == CSV_METADATA for item in items):
        return each
    others = [item for item in items if item["type"] != BUNDLE_OBJECT]
    try:
        metadata = csv_metadata(csv)
    except ShapeError as error:
        raise TerminalError(f'bundle "{each.name}": its {CSV_KIND}: {error}') from error
    return with_properties(each, [*others, {"type": CSV_METADATA, "value": metadata}])


def embedded_csv(items: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The ClusterServiceVersion among a bundle's properties that hold objects, None without."""
    for item in items:
        if item["type"] != BUNDLE_OBJECT or not isinstance(item["value"], Mapping):
            continue
        try:
            found = next(iter(load_all(base64.b64decode(item["value"].get("data") or ""))), None)
        except (YamlError, binascii.Error, TypeError):
            continue  # not this one; `opm validate` finds it
        if isinstance(found, dict) and found.get("kind") == CSV_KIND:
            return found
    return None


def csv_metadata(csv: Mapping[str, Any]) -> dict[str, Any]:
    """The value of an `olm.csv.metadata` property. Raises ShapeError."""
    metadata, spec = csv.get("metadata") or {}, csv.get("spec") or {}
    taken = {_TAKEN[key.casefold()]: spec[key] for key in spec if key.casefold() in _TAKEN}
    described = {"annotations": metadata.get("annotations"), "labels": metadata.get("labels")}
    return read("CSVMetadata", {**taken, **described})


MIGRATIONS: Mapping[str, Callable[[Record], Record]] = MappingProxyType(
    {NONE: lambda each: each, "bundle-object-to-csv-metadata": _to_csv_metadata}
)
"""By name, in the order in which they are run."""


def migrate(records: Iterable[Record], level: str) -> Iterator[Record]:
    """The records after all migrations up to `level`. Raises TerminalError for an unknown level."""
    if level not in MIGRATIONS:
        known = ", ".join(MIGRATIONS)
        raise TerminalError(f'unknown migration level "{level}"', hint=f"one of: {known}")
    names = list(MIGRATIONS)
    chosen = [MIGRATIONS[name] for name in names[: names.index(level) + 1]]
    for each in records:
        migrated = each
        for step in chosen:
            migrated = step(migrated)
        yield migrated
