"""The content of a catalog as an SQLite file: a list to search, and the blobs of each package."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import zstandard

from olm_client.catalogs.choices import Choices, choices_of
from olm_client.catalogs.summary import Summary, icon_of, summary_of
from olm_content.fbc.packages import package_of
from olm_runtime.cli.progress import Progress
from olm_runtime.plurals import counted

FORMAT = 5
"""Part of the names of files: those of another format are made anew."""

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


class Content:
    """What a catalog holds, read when it is asked for."""

    def __init__(self, file: Path) -> None:
        """Raises sqlite3.Error for a file that is no content."""
        self._db = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        self._db.execute("SELECT count(*) FROM packages").fetchone()

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def summaries(self) -> list[Summary]:
        """All packages, by name."""
        rows = self._db.execute("SELECT entry FROM packages ORDER BY name")
        return [Summary.from_json(orjson.loads(row)) for (row,) in rows]

    def display_names(self) -> dict[str, str]:
        """What people call the packages, by name."""
        return dict(self._db.execute("SELECT name, display FROM packages ORDER BY name"))

    def choices(self, package: str) -> Choices | None:
        """What there is to choose of a package; None for an unknown package."""
        rows = self._db.execute("SELECT choices FROM packages WHERE name = ?", (package,))
        return next((Choices(**orjson.loads(row)) for (row,) in rows), None)

    def icon(self, package: str) -> tuple[str, str]:
        """Media type and base64 text of an icon, as the package says them; empty without one."""
        rows = self._db.execute("SELECT media, icon FROM packages WHERE name = ?", (package,))
        found: tuple[str, str] = next(rows, ("", ""))
        return found

    def digests(self) -> dict[str, bytes]:
        """The packages by name; equal digests, equal packages."""
        return dict(self._db.execute("SELECT name, digest FROM packages ORDER BY name"))

    def blobs(self, package: str) -> list[bytes]:
        """The blobs of a package as JSON, in the catalog's order; none for an unknown package."""
        return list(_blobs(self._db, package))


def write(file: Path, blobs: Iterable[bytes]) -> None:
    """Writes the content of a catalog; `blobs` are JSON objects. Raises OSError, sqlite3.Error."""
    with closing(sqlite3.connect(file)) as db:
        writer = ContentWriter(db)
        for blob in blobs:
            writer.add(blob)
        writer.finish()
        writer.end()


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
            values = [orjson.loads(blob) for blob in _blobs(db, name)]
            summary = summary_of(name, values)
            told = (orjson.dumps(each.to_json()) for each in (summary, choices_of(values)))
            row = (name, summary.display_name, _digest(values), *told, *icon_of(values))
            db.execute("INSERT INTO packages VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        db.commit()

    def end(self) -> None:
        """Clears what is shown of the work."""
        self._progress.end()


def _blobs(db: sqlite3.Connection, package: str) -> Iterator[bytes]:
    unpack = zstandard.ZstdDecompressor()
    rows = db.execute("SELECT data FROM blobs WHERE package = ? ORDER BY rowid", (package,))
    for (data,) in rows:
        yield unpack.decompress(data)


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
