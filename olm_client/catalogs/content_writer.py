"""Writes the content of a catalog as `content.py` reads it."""

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import Any

import orjson
import zstandard

from olm_client.catalogs.content import blobs_in
from olm_client.catalogs.summarising import choices_of, icon_of, summary_of
from olm_content.fbc.packages import package_of
from olm_runtime.cli.progress import Progress
from olm_runtime.plurals import counted

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE packages (
    name TEXT PRIMARY KEY, display TEXT NOT NULL, digest BLOB NOT NULL,
    entry BLOB NOT NULL, choices BLOB NOT NULL, media TEXT NOT NULL, icon TEXT NOT NULL
);
CREATE TABLE blobs (package TEXT NOT NULL, data BLOB NOT NULL);
"""
_LEVEL = 1


class ContentWriter:
    """Writes blobs one by one, so that a catalog is never in memory as a whole."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._pack = zstandard.ZstdCompressor(level=_LEVEL)
        self._progress = Progress()
        self._size = 0
        db.executescript(_SCHEMA)

    def add(self, blob: bytes) -> None:
        """One JSON object. What belongs to no package is left out. ValueError if it is none."""
        self._size += len(blob)
        self._progress.show(f"reading a catalog: {self._size / (1 << 20):.1f} MiB")
        value = orjson.loads(blob)
        if not isinstance(value, dict):
            raise ValueError("it is no JSON object")  # noqa: TRY004 - of the data, not of the code
        package = package_of(value)
        if isinstance(package, str) and package:
            row = package, self._pack.compress(blob)
            self._db.execute("INSERT INTO blobs VALUES (?, ?)", row)

    def finish(self) -> None:
        """Makes the list."""
        db = self._db
        db.execute("CREATE INDEX of_package ON blobs (package)")
        names = db.execute("SELECT DISTINCT package FROM blobs").fetchall()
        for number, (name,) in enumerate(names):
            self._progress.show(f"reading a catalog: {number} of {counted(len(names), 'package')}")
            values = [orjson.loads(blob) for blob in blobs_in(db, name)]
            summary = summary_of(name, values)
            documents = (orjson.dumps(each.to_json()) for each in (summary, choices_of(values)))
            row = (name, summary.display_name, _digest(values), *documents, *icon_of(values))
            db.execute("INSERT INTO packages VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        db.commit()

    def end(self) -> None:
        """Clears what is shown of the work."""
        self._progress.end()


def _digest(values: Iterable[dict[str, Any]]) -> bytes:
    """Of a package, whatever the order of its blobs and of the properties of its bundles."""
    found = sorted(hashlib.sha256(normal(value)).digest() for value in values)
    return hashlib.sha256(b"".join(found)).digest()


def normal(blob: dict[str, Any]) -> bytes:
    """A blob without what does not count: the order of keys, properties and related images."""
    value = dict(blob)
    for field in ("properties", "relatedImages"):
        if isinstance(value.get(field), list):
            value[field] = sorted(value[field], key=_sorted_json)
    return _sorted_json(value)


def _sorted_json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
