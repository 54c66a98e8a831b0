"""The content of a catalog as an SQLite file: a list to search, and the blobs of each package.

`content_writer.py` makes it.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import orjson

from olm_client.catalogs.choices import Choices
from olm_client.catalogs.summary import Summary

FORMAT = 5
"""Part of the names of files: those of another format are made anew."""


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
        return list(blobs_in(self._db, package))


def blobs_in(db: sqlite3.Connection, package: str) -> Iterator[bytes]:
    """The blobs of a package, in the catalog's order."""
    from zstandard import ZstdDecompressor  # late: lists need it not

    unpack = ZstdDecompressor()
    rows = db.execute("SELECT data FROM blobs WHERE package = ? ORDER BY rowid", (package,))
    for (data,) in rows:
        yield unpack.decompress(data)
