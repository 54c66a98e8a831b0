"""File-based catalogs made from bundle folders, for tests and the demo."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from e2e.harness.images import read_folder
from olm_content.bundle.reader import load
from olm_content.formats.kube_yaml import load_all
from olm_content.names import CSV_KIND, CSV_METADATA, PACKAGE
from opm.migrate import csv_metadata


@dataclass(frozen=True, slots=True)
class PublishedBundle:
    """A bundle in a registry, as a catalog names it."""

    package: str
    name: str
    version: str
    image: str
    csv_metadata: Mapping[str, Any] | None = None
    """What people read of it, if the catalog has it."""


def bundle_facts(folder: Path, image: str) -> PublishedBundle:
    """A bundle folder as catalogs describe it. Raises BundleError if it is none."""
    bundle, csv = load(read_folder(folder)), _csv(folder)
    version = str(csv["spec"]["version"])
    return PublishedBundle(bundle.package_name, bundle.csv.name, version, image, csv_metadata(csv))


def version_of(folder: Path) -> str:
    """The version in a bundle folder's CSV. ValueError if it has none."""
    return str(_csv(folder)["spec"]["version"])


def _csv(folder: Path) -> dict[str, Any]:
    for path in sorted((folder / "manifests").iterdir()):
        for document in load_all(path.read_bytes()):
            if document.get("kind") == CSV_KIND:
                return dict(document)
    raise ValueError(f"no {CSV_KIND} in {folder}")


def package_blobs(bundles: Iterable[PublishedBundle]) -> list[Mapping[str, Any]]:
    """One package with one channel, `stable`, in which each bundle replaces the one before it."""
    ordered = list(bundles)
    package = ordered[0].package
    entries = [
        {"name": bundle.name} | ({"replaces": before.name} if before else {})
        for before, bundle in zip([None, *ordered], ordered, strict=False)
    ]
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": entries},
        *(_bundle_blob(bundle) for bundle in ordered),
    ]


def _bundle_blob(bundle: PublishedBundle) -> Mapping[str, Any]:
    value = {"packageName": bundle.package, "version": bundle.version}
    properties: list[Mapping[str, Any]] = [{"type": PACKAGE, "value": value}]
    if bundle.csv_metadata:
        properties.append({"type": CSV_METADATA, "value": bundle.csv_metadata})
    return {
        "schema": "olm.bundle",
        "package": bundle.package,
        "name": bundle.name,
        "image": bundle.image,
        "properties": properties,
    }


def catalog_files(packages: Iterable[Iterable[Mapping[str, Any]]]) -> dict[str, bytes]:
    """The files of a catalog: a folder a package, as the documents recommend."""
    files = {}
    for blobs in packages:
        lines = list(blobs)
        files[f"{lines[0]['name']}/catalog.json"] = b"\n".join(orjson.dumps(b) for b in lines)
    return files
