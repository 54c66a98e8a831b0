"""The entries of one catalog in an SQLite file, found by package and by what they provide.

A file is written once and never changed. Packages are read whole, because the order of a channel
needs all of it; those read last are cached, of all catalogs together within `CACHED_BYTES`.
"""

import hashlib
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import orjson

from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.readers import Deprecations, Holds, Place, keys_of, places_of
from olm_classic.resolve.stored import entry_of_row, row_of

CACHED_BYTES = 4 << 20
"""Of JSON; as objects it is about eight times as much."""

SEARCHES = 64
"""Searches through all of a file whose results are cached."""

_SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE packages (
    name TEXT PRIMARY KEY, default_channel TEXT NOT NULL, deprecations BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE properties (digest BLOB PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, package TEXT NOT NULL, name TEXT NOT NULL, channel TEXT NOT NULL,
    data BLOB NOT NULL, digest BLOB NOT NULL, deprecation TEXT
);
CREATE TABLE keys (
    key TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)
) WITHOUT ROWID;
"""
_INDEX = "CREATE INDEX entries_of_packages ON entries (package)"
_READ = """
SELECT number, entries.data, digest, properties.data FROM entries JOIN properties USING (digest)
WHERE package = ? ORDER BY name, channel, number
"""


class IndexWriter:
    """Writes the file of a catalog: entries, then packages, then `finish`."""

    def __init__(self, file: Path) -> None:
        # Batches are written by one thread after another, never by two at once.
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")

    def add(self, entries: Iterable[tuple[Entry, str | None]]) -> None:
        """Entries, each with the message of its deprecation or None."""
        for entry, deprecation in entries:
            properties = orjson.dumps(entry.properties)
            digest = hashlib.sha256(properties).digest()
            self._db.execute("INSERT OR IGNORE INTO properties VALUES (?, ?)", (digest, properties))
            row = orjson.dumps(row_of(entry))
            values = (entry.package, entry.name, entry.channel, row, digest, deprecation)
            number = self._db.execute(
                "INSERT INTO entries VALUES (NULL, ?, ?, ?, ?, ?, ?)", values
            ).lastrowid
            keys = ((key, number) for key in keys_of(entry))
            self._db.executemany("INSERT INTO keys VALUES (?, ?)", keys)

    def add_package(self, name: str, default_channel: str, deprecated: Deprecations) -> None:
        """What holds for all entries of a package."""
        data = orjson.dumps([deprecated.package, dict(deprecated.channels)])
        self._db.execute("INSERT INTO packages VALUES (?, ?, ?)", (name, default_channel, data))

    def packages(self) -> list[str]:
        """The packages of the entries so far."""
        rows = self._db.execute("SELECT DISTINCT package FROM entries ORDER BY package")
        return [name for (name,) in rows]

    def finish(self) -> None:
        """The file is whole."""
        self._db.execute(_INDEX)
        self._db.execute("COMMIT")
        self._db.close()

    def abandon(self) -> None:
        """The file is left as it is, to be removed."""
        self._db.close()


class IndexReader:
    """Looks into the file of a catalog; opened with the first question.

    Raises sqlite3.Error for a file that is gone or none of these.
    """

    def __init__(self, file: Path, key: SourceKey) -> None:
        self.file = file
        self.key = key
        self._connection: sqlite3.Connection | None = None
        self._searched: dict[str, frozenset[Place]] = {}

    @property
    def empty(self) -> bool:
        """Whether it has no entry at all."""
        return self._db().execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None

    def packages(self, name: str) -> Sequence[Entry]:
        """The entries whose place is in the package."""
        return list(self._package(name).values())

    def having(self, key: str) -> Sequence[Entry]:
        """The entries with a key of `keys_of`."""
        query = "SELECT package, number FROM keys JOIN entries USING (number) WHERE key = ?"
        rows = self._db().execute(f"{query} ORDER BY package, number", (key,)).fetchall()
        packages = {name: self._package(name) for name in dict.fromkeys(name for name, _ in rows)}
        return [packages[name][number] for name, number in rows]

    def scan(self) -> Iterator[Entry]:
        """All entries; those of one package at a time are in memory."""
        rows = self._db().execute("SELECT DISTINCT package FROM entries ORDER BY package")
        for (name,) in rows.fetchall():
            cached = _packages.get(self, name)
            yield from (self._read(name)[0] if cached is None else cached).values()

    def search(self, id_: str, holds: Holds) -> frozenset[Place]:
        """The places of entries for which a test holds; found once, since the file stays."""
        found = self._searched.get(id_)
        if found is None:
            found = places_of(filter(holds, self.scan()))
            if len(self._searched) >= SEARCHES:
                self._searched.clear()
            self._searched[id_] = found
        return found

    def deprecations(self, package: str) -> Deprecations:
        """What goes away of a package."""
        query = "SELECT deprecations FROM packages WHERE name = ?"
        found = self._db().execute(query, (package,)).fetchone()
        if found is None:
            return Deprecations()
        of_package, channels = orjson.loads(found[0])
        rows = self._db().execute(
            "SELECT DISTINCT name, deprecation FROM entries WHERE package = ? "
            "AND deprecation IS NOT NULL ORDER BY name",
            (package,),
        )
        return Deprecations(of_package, channels, dict(rows.fetchall()))

    def package_names(self) -> list[str]:
        """The names of all packages, sorted."""
        rows = self._db().execute("SELECT name FROM packages ORDER BY name")
        return [name for (name,) in rows]

    def close(self) -> None:
        """Closes the file; the next question opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            uri = f"{self.file.absolute().as_uri()}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        return self._connection

    def _package(self, name: str) -> dict[int, Entry]:
        found = _packages.get(self, name)
        if found is None:
            entries, size = self._read(name)
            found = _packages.put(self, name, entries, size)
        return found

    def _read(self, name: str) -> tuple[dict[int, Entry], int]:
        """The entries by number, and the bytes of their JSON."""
        query = "SELECT default_channel FROM packages WHERE name = ?"
        default = self._db().execute(query, (name,)).fetchone()
        known: dict[bytes, list[dict[str, object]]] = {}
        entries, size = {}, 0
        for number, data, digest, properties in self._db().execute(_READ, (name,)):
            if digest not in known:
                known[digest] = orjson.loads(properties)
                size += len(properties)
            size += len(data)
            row, channel = orjson.loads(data), default[0] if default else ""
            entries[number] = entry_of_row(row, self.key, channel, known[digest])
        return entries, size


class _Packages:
    """The packages read last, of all files."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._cached: OrderedDict[tuple[Path, str], tuple[dict[int, Entry], int]] = OrderedDict()

    def get(self, reader: IndexReader, name: str) -> dict[int, Entry] | None:
        """The package; None for one that is not cached."""
        found = self._cached.get((reader.file, name))
        if found is None:
            return None
        self._cached.move_to_end((reader.file, name))
        return found[0]

    def put(
        self, reader: IndexReader, name: str, entries: dict[int, Entry], size: int
    ) -> dict[int, Entry]:
        """Caches the package, and of the others those for which there is room."""
        self._cached[reader.file, name] = (entries, size)
        self._bytes += size
        while self._bytes > self._max_bytes and len(self._cached) > 1:
            _, (_, freed) = self._cached.popitem(last=False)
            self._bytes -= freed
        return entries


_packages = _Packages(CACHED_BYTES)


@lru_cache(maxsize=64)
def open_index(file: str, key: SourceKey) -> IndexReader:
    """The reader of a file; the same for the same file, so that its packages stay read."""
    return IndexReader(Path(file), key)


def write_index(
    file: Path, entries: Iterable[Entry], deprecated: dict[str, Deprecations] | None = None
) -> None:
    """The file of a catalog that is at hand as a whole."""
    writer = IndexWriter(file)
    defaults: dict[str, str] = {}
    for entry in entries:
        said = (deprecated or {}).get(entry.package, Deprecations())
        writer.add([(entry, said.bundles.get(entry.name))])
        defaults[entry.package] = entry.default_channel
    for name, channel in defaults.items():
        writer.add_package(name, channel, (deprecated or {}).get(name, Deprecations()))
    writer.finish()
