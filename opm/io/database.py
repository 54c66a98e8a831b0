"""Reads SQLite catalogs of any version, never writing to them.

The file is a stranger's: nothing of it is executed. Only plain tables are read, row by row, each
value and their number bounded.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import orjson

from olm_content.names import ANNOTATION_SKIP_RANGE, GVK
from olm_runtime.errors import TerminalError
from opm.index.tables import BundleRow, ChannelRow, EntryRow, PackageRow, Tables, TypedRow

MAX_VALUE_BYTES = 64 << 20
MAX_ROWS = 1_000_000

NEEDED = ("package", "channel", "channel_entry", "operatorbundle")
Row = TypeVar("Row")


def read_database(path: Path) -> Tables:
    """What the tables hold. Raises TerminalError for files that are no catalog or past a limit."""
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.text_factory = bytes
            return _Reader(connection, path).tables()
    except sqlite3.Error as error:
        raise TerminalError(
            f"{path}: the database cannot be read: {error}",
            hint="an SQLite catalog is wanted, such as /database/index.db of an index image",
        ) from error


class _Reader:
    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._rows = 0
        self._columns = {
            name: {_text(row[1]) for row in connection.execute(f'PRAGMA table_info("{name}")')}
            for name in self._plain_tables()
        }

    def _plain_tables(self) -> list[str]:
        """The tables by name, without views and what modules compute."""
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        found = [(_text(name), _text(sql)) for name, sql in self._connection.execute(query)]
        known = {*NEEDED, "properties", "dependencies", "related_image"}
        known |= {"api_provider", "api_requirer"}
        return [name for name, sql in found if name in known and "VIRTUAL" not in sql[:20].upper()]

    def tables(self) -> Tables:
        missing = [name for name in NEEDED if name not in self._columns]
        if missing:
            raise TerminalError(
                f"{self._path} is no SQLite catalog: it has no table {', '.join(missing)}"
            )
        entries = self._read("channel_entry", EntryRow, _ENTRY, _entry)
        bundles = self._read("operatorbundle", BundleRow, _BUNDLE, self._bundle)
        return Tables(
            packages=self._read("package", PackageRow, ("name", "default_channel")),
            channels=self._read(
                "channel", ChannelRow, ("package_name", "name", "head_operatorbundle_name")
            ),
            entries=entries,
            bundles=bundles,
            properties=self._typed("properties", "api_provider", entries),
            dependencies=self._typed("dependencies", "api_requirer", entries),
            related_images=tuple(
                (_text(name), _text(image))
                for name, image in self._select("related_image", ("operatorbundle_name", "image"))
                if name is not None and image is not None
            ),
        )

    def _read(
        self,
        table: str,
        make: Callable[..., Row],
        columns: tuple[str, ...],
        convert: Callable[[list[Any]], list[Any] | None] | None = None,
    ) -> tuple[Row, ...]:
        rows = []
        for row in self._select(table, columns):
            values = convert(list(row)) if convert else [_text(value) for value in row]
            if values is not None:
                rows.append(make(*values))
        return tuple(rows)

    def _select(self, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The columns of all rows; a column or table that is not there yet is NULL or empty."""
        there = self._columns.get(table)
        if there is None:
            return
        wanted = ", ".join(f'"{name}"' if name in there else "NULL" for name in columns)
        for row in self._connection.execute(f'SELECT {wanted} FROM "{table}"'):  # noqa: S608 - names of ours
            self._rows += 1
            if self._rows > MAX_ROWS:
                raise TerminalError(f"{self._path}: more than {MAX_ROWS} rows")
            yield row

    def _bundle(self, row: list[Any]) -> list[Any] | None:
        """None for one half written: without version or image, where there are such columns."""
        there = self._columns["operatorbundle"]
        name, objects, csv, image, version, skip_range = row
        for column, value in (("name", name), ("version", version), ("bundlepath", image)):
            if column in there and value is None:
                return None
        values = [_text(each) for each in (name, objects, csv, image, version, skip_range)]
        if "version" not in there:
            values[4:] = _versioning(values[2])
        return values

    def _typed(self, table: str, apis: str, entries: tuple[EntryRow, ...]) -> tuple[TypedRow, ...]:
        """Properties or dependencies; of databases older than both, the APIs that they list."""
        columns = ("operatorbundle_name", "type", "value")
        if table in self._columns:
            return self._read(table, TypedRow, columns)
        by_bundle = "operatorbundle_name" in self._columns.get(apis, ())
        owner = "operatorbundle_name" if by_bundle else "channel_entry_id"
        names = {row.number: row.bundle for row in entries}
        rows = []
        for key, group, version, kind in self._select(
            apis, (owner, "group_name", "version", "kind")
        ):
            bundle = _text(key) if by_bundle else names.get(key, "")
            value = {"group": _text(group), "kind": _text(kind), "version": _text(version)}
            rows.append(TypedRow(bundle, GVK, orjson.dumps(value).decode()))
        return tuple(rows)


_ENTRY = (
    *("entry_id", "package_name", "channel_name", "operatorbundle_name", "replaces", "depth"),
)
_BUNDLE = ("name", "bundle", "csv", "bundlepath", "version", "skiprange")


def _entry(row: list[Any]) -> list[Any] | None:
    number, package, channel, bundle, replaces, depth = row
    if channel is None or bundle is None:
        return None
    replaced = replaces if isinstance(replaces, int) else None
    least = depth if isinstance(depth, int) else 0
    return [number, _text(package), _text(channel), _text(bundle), replaced, least]


def _versioning(csv: str) -> list[str]:
    """Version and skipped range, from the ClusterServiceVersion."""
    try:
        value = orjson.loads(csv) if csv else {}
        annotations = value.get("metadata", {}).get("annotations") or {}
        version = value.get("spec", {}).get("version") or ""
        return [str(version), str(annotations.get(ANNOTATION_SKIP_RANGE) or "")]
    except (orjson.JSONDecodeError, AttributeError):
        return ["", ""]


def _text(value: Any) -> str:
    """Text, which Go programs also store as a blob; numbers as they are written."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return str(value)
