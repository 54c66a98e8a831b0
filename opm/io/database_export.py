"""Writes the bundles of an SQLite index as folders of manifests, the format before indexes."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from olm_content.bundle.files import MANIFESTS
from olm_content.formats.yaml_text import dump_all
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm.index.tables import BundleRow, Tables
from opm.io.database import read_database
from opm.io.layout import files_below
from opm.io.references import Reading, bundle_image


def export_packages(path: Path, names: Iterable[str], folder: Path, how: Reading) -> None:
    """Writes packages, all if none is named, to FOLDER/PACKAGE. Raises OLMError."""
    tables = read_database(path)
    there = sorted(row.name for row in tables.packages)
    wanted = list(dict.fromkeys(names)) or there
    if missing := sorted(set(wanted) - set(there)):
        raise TerminalError(
            f"the index has no package {', '.join(missing)}",
            hint=suggestion_or_all(missing[0], there, none="it has none"),
        )
    for package in wanted:
        place = folder / _name(package)
        for bundle in _bundles(tables, package):
            _export_bundle(bundle, place / _name(bundle.version or bundle.name), how)
        _write(place / "package.yaml", dump_all([_manifest(tables, package)]).encode())


def _bundles(tables: Tables, package: str) -> list[BundleRow]:
    listed = {row.bundle for row in tables.entries if row.package == package}
    return [row for row in tables.bundles if row.name in listed]


def _export_bundle(bundle: BundleRow, target: Path, how: Reading) -> None:
    if not bundle.image:
        raise TerminalError(
            f"bundle {bundle.name} has no image to take its manifests from",
            hint="`opm migrate` writes what the index has of it",
        )
    with bundle_image(bundle.image, how) as (_, root):
        for name, source in files_below(root / MANIFESTS, "").items():
            _write(target / name, source)


def _manifest(tables: Tables, package: str) -> Mapping[str, Any]:
    (default,) = (row.default_channel for row in tables.packages if row.name == package)
    channels = sorted(
        (row for row in tables.channels if row.package == package), key=lambda row: row.name
    )
    return {
        "packageName": package,
        "channels": [{"name": row.name, "currentCSV": row.head} for row in channels],
        "defaultChannel": default,
    }


def _write(target: Path, content: bytes | Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            shutil.copyfile(content, target)
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error


def _name(text: str) -> str:
    """Raises TerminalError for what is no name of a folder."""
    if "/" in text or "\0" in text or text in {"", ".", ".."}:
        raise TerminalError(f'"{text}" is no name of a folder')
    return text
