"""The documents that answer a request: lists, tables and single manifests.

A list is made of parts that are compressed already; nothing of it is read or compressed again.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from olm_classic.package_manifests.ages import age
from olm_classic.package_manifests.manifests import API_VERSION, KIND
from olm_classic.package_manifests.packed import Packed, opening
from olm_classic.package_manifests.selection import Page
from olm_runtime.gzip_parts import Part, part

META_VERSION = "meta.k8s.io/v1"
_COLUMNS = (
    ("Name", "name", "The name of the package."),
    ("Catalog", "", "The display name of the catalog that has it."),
    ("Age", "", "Time since the CatalogSource was made."),
)


def shown_in(package: Packed, namespace: str) -> str:
    """Whose it is to who asks: its own in all namespaces, else the one that was asked for."""
    return namespace or package.catalog.namespace


def single(package: Packed, namespace: str) -> list[Part]:
    """A manifest."""
    return [part(opening(namespace)), package.rest]


def listed(page: Page, namespace: str) -> Iterator[Part]:
    """A PackageManifestList."""
    yield part(_beginning(f"{KIND}List", page, API_VERSION) + b'"items":[')
    openings: dict[str, tuple[Part, Part]] = {}
    for index, package in enumerate(page.packages):
        where = shown_in(package, namespace)
        if where not in openings:
            text = opening(where)
            openings[where] = part(text), part(b"," + text)
        yield openings[where][index > 0]
        yield package.rest
    yield part(b"]}\n")


def table(page: Page, namespace: str, include: str, now: datetime) -> bytes:
    """A Table, as kubectl prints it; `include` says what of each object goes with its row."""
    columns = [
        {"name": name, "type": "string", "format": form, "description": text, "priority": 0}
        for name, form, text in _COLUMNS
    ]
    rows = b",".join(_row(package, namespace, include, now) for package in page.packages)
    begin = _beginning("Table", page)
    return begin + b'"columnDefinitions":%s,"rows":[%s]}\n' % (orjson.dumps(columns), rows)


def metadata_list(page: Page, namespace: str) -> bytes:
    """A PartialObjectMetadataList."""
    items = b",".join(metadata_of(each, shown_in(each, namespace)) for each in page.packages)
    return _beginning("PartialObjectMetadataList", page) + b'"items":[%s]}\n' % items


def metadata_of(package: Packed, namespace: str) -> bytes:
    """A PartialObjectMetadata."""
    return b'{"kind":"PartialObjectMetadata","apiVersion":"%s","metadata":%s}' % (
        META_VERSION.encode(),
        package.metadata(namespace),
    )


def _row(package: Packed, namespace: str, include: str, now: datetime) -> bytes:
    where = shown_in(package, namespace)
    cells = [package.name, package.catalog.display_name, age(_time(package), now)]
    row = b'{"cells":' + orjson.dumps(cells)
    if include == "None":
        return row + b"}"
    if include == "Object":
        return row + b',"object":' + opening(where) + package.rest.plain() + b"}"
    return row + b',"object":' + metadata_of(package, where) + b"}"


def _time(package: Packed) -> datetime | None:
    try:
        return datetime.fromisoformat(package.catalog.created).astimezone(UTC)
    except ValueError:
        return None


def _beginning(kind: str, page: Page, version: str = META_VERSION) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": ""}
    if page.following:
        metadata |= {"continue": page.following, "remainingItemCount": page.remaining}
    document = {"kind": kind, "apiVersion": version, "metadata": metadata}
    return orjson.dumps(document)[:-1] + b","


def plain(parts: Sequence[Part]) -> bytes:
    """What parts say, uncompressed."""
    return b"".join(each.plain() for each in parts)
