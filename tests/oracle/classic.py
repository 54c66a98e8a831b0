"""A golden case of OLM Classic to its answer, in the format of the goldens."""

import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from olm_catalogs.validate import check
from olm_classic.dialect import Dialect
from olm_classic.resolve import (
    Catalog,
    Chosen,
    Limit,
    MemoryReader,
    Namespace,
    Resolution,
    ResolutionError,
    SourceKey,
    UnsatisfiableError,
    resolve,
)
from olm_classic.resolve.entries import Entry
from olm_classic.resolve.fbc_entries import entries_of_blobs
from olm_content.fbc.documents import FbcError, parse
from olm_content.fbc.records import RecordError, record
from olm_content.names import PACKAGE
from tests.oracle.classic_kinds import KINDS

Json = dict[str, Any]


class InvalidCatalogError(Exception):
    """A catalog that is refused whole."""


def answer(line: Json, catalogs: Path | None, dialect: Dialect = Dialect.UPSTREAM) -> Json:
    """What is written for a line."""
    if "kind" in line:
        return {"id": line["id"], "output": KINDS[line["kind"]](line["input"])}
    try:
        found = resolve(namespace_of(line["case"], catalogs), Limit(time.monotonic), dialect)
    except InvalidCatalogError as error:
        return {"id": line["id"], "class": "catalog-invalid", "error": str(error)}
    except UnsatisfiableError as error:
        return {"id": line["id"], "class": "unsatisfiable", "error": error.message}
    except ResolutionError as error:
        return {"id": line["id"], "class": "error", "error": error.message}
    return {"id": line["id"], **_result(found)}


def namespace_of(case: Json, catalogs: Path | None) -> Namespace:
    """What a case is about. Raises InvalidCatalogError."""
    return Namespace(
        case["namespace"],
        case["globalNamespace"],
        tuple(case.get("operatorGroups") or ()),
        tuple(case.get("subscriptions") or ()),
        tuple(case.get("csvs") or ()),
        tuple(_catalog(each, catalogs) for each in case.get("catalogs") or ()),
    )


def _catalog(given: Json, catalogs: Path | None) -> Catalog:
    key = SourceKey(given["name"], given["namespace"])
    priority = given.get("priority") or 0
    if given.get("unhealthy"):
        problem = f"no registry client established for catalogsource {key.namespace}/{key.name}"
        return Catalog(key, priority, problem=problem)
    if "ref" in given:
        if catalogs is None:
            raise ResolutionError("the case refers to a catalog: give --catalogs")
        folder = catalogs / given["ref"]["catalog"]
        packages = given["ref"]["packages"]
        entries = [e for name in packages for e in _from_file(folder / name / "catalog.yaml", key)]
    else:
        lines = b"\n".join(orjson.dumps(each) for each in given.get("fbc") or ())
        entries = list(entries_of_text(lines, key))
    return Catalog(key, priority, MemoryReader(entries))


@lru_cache(maxsize=256)
def _from_file(path: Path, key: SourceKey) -> tuple[Entry, ...]:
    return entries_of_text(path.read_bytes(), key) if path.exists() else ()


def entries_of_text(data: bytes, key: SourceKey) -> tuple[Entry, ...]:
    """The entries of a catalog. Raises InvalidCatalogError."""
    try:
        blobs = list(parse(data, path="catalog")) if data else []
        faults = [str(fault) for fault in check(map(record, blobs)) if not fault.warning]
    except (FbcError, RecordError) as error:
        raise InvalidCatalogError(error.message) from error
    if faults:
        raise InvalidCatalogError("\n".join(faults))
    values = [orjson.loads(blob.raw) for blob in blobs]
    names = [each["name"] for each in values if each["schema"] == PACKAGE]
    return tuple(entry for name in names for entry in entries_of_blobs(name, values, key))


def _result(found: Resolution) -> Json:
    generated = {spec["startingCSV"] for _, spec in found.generated}
    return {
        "class": "resolved" if found.planned else "no-change",
        "selected": [_selected(each, generated) for each in found.chosen],
        "steps": [
            {"resolving": spec["startingCSV"], "kind": "Subscription", "name": name, "spec": spec}
            for name, spec in found.generated
        ],
        "updatedSubscriptions": [
            {"name": name, "currentCSV": current} for name, current in found.updated
        ],
    }


def _selected(each: Chosen, generated: set[str]) -> Json:
    entry = each.entry
    value: Json = {
        "name": entry.name,
        "package": entry.package,
        "channel": entry.channel,
        "catalog": entry.source.name,
        "catalogNamespace": entry.source.namespace,
    }
    if entry.in_default_channel:
        value["defaultChannel"] = True
    if each.replaces:
        value["replaces"] = each.replaces
    if entry.name in generated:
        value["startingCSV"] = entry.name
    return value
