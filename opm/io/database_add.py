"""Adds bundles to an SQLite index: to the file given, all of them or none."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from olm_runtime.errors import TerminalError
from opm.index import graph as graphs
from opm.index.graph import REPLACES, Graph, Member, Update
from opm.index.insertion import Addition, Known, Row, check_additions, overwritten, rows
from opm.index.schema import TABLES, VERSION
from opm.index.tables import EntryRow
from opm.io.database_edit import opened, remove_bundles

Remark = Callable[[str], None]


def create(path: Path) -> None:
    """Makes an index without packages. Raises TerminalError."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
    except sqlite3.Error as error:
        raise TerminalError(f"{path}: the database cannot be made: {error}") from error


def add_bundles(
    path: Path,
    additions: Sequence[Addition],
    mode: str,
    remark: Remark,
    *,
    overwrite_latest: bool = False,
) -> None:
    """Adds bundles and makes the graphs of their packages anew; `remark` gets what that drops.

    `mode` is one of `graph.MODES`. With `overwrite_latest` a bundle may come in place of one that
    leads its channels. Raises TerminalError for a database of an older schema, for bundles that
    are there already and those that fit no graph.
    """
    if overwrite_latest and mode != REPLACES:
        raise TerminalError(f"only with the mode {REPLACES} can bundles be overwritten")
    with opened(path) as connection:
        index = _Index(connection)
        index.check_schema(path)
        known = index.known()
        replaced = overwritten(additions, known) if overwrite_latest else frozenset()
        check_additions(additions, known, replaced)
        remove_bundles(connection, replaced)
        for each in additions:
            index.insert_bundle(each)
        for package in sorted({each.package for each in additions}):
            added = [each.member for each in additions if each.package == package]
            _update(index, package, added, mode, remark)
        if mode != REPLACES:
            index.clear_all_but_heads()


def _update(
    index: "_Index", package: str, added: Sequence[Member], mode: str, remark: Remark
) -> None:
    members, entries = index.members(package), index.entries(package)
    versions = {member.name: member.version for member in members}
    before = Graph(index.default_channel(package), graphs.read_chains(entries, versions))
    if mode == REPLACES:
        joined = {member.name: member for member in (*members, *index.marked(added))}
        after = graphs.by_replaces(package, joined.values())
    else:
        versions |= {member.name: member.version for member in added}
        after = graphs.by_version(package, before, added, versions, mode)
    graphs.check_reached(after, added)
    for channel, names in graphs.dropped(before, after).items():
        remark(f"package {package}: channel {channel} no longer has {', '.join(names)}")
    index.replace_graph(package, after)


class _Index:
    """Questions to the tables, and changes of them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def _all(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        return [
            tuple(_text(each) for each in row) for row in self._connection.execute(query, values)
        ]

    def check_schema(self, path: Path) -> None:
        """Raises TerminalError for all but the newest."""
        try:
            ((version,),) = self._all("SELECT max(version) FROM schema_migrations")
        except sqlite3.Error:
            version = None
        if version != VERSION:
            raise TerminalError(
                f"{path} is no SQLite index of schema {VERSION}, which `opm` has made since 2021",
                hint="make a file-based catalog of it with `opm migrate`",
            )

    def known(self) -> Known:
        """What bundles must not collide with."""
        bundles = self._all("SELECT name, bundlepath FROM operatorbundle")
        updated = self._all(
            "SELECT old.operatorbundle_name FROM channel_entry new"
            " JOIN channel_entry old ON new.replaces = old.entry_id"
        )
        return Known(
            {name: image or "" for name, image in bundles},
            dict(self._all("SELECT operatorbundle_name, package_name FROM channel_entry")),
            frozenset(name for (name,) in updated),
        )

    def insert_bundle(self, addition: Addition) -> None:
        """Writes all that belongs to the bundle itself."""
        gone = bool(self._gone([addition.bundle.name]))
        for table, found in rows(addition, deprecated=gone).items():
            self._insert(table, found)

    def _insert(self, table: str, found: Iterable[Row]) -> None:
        known = "OR IGNORE " if table == "api" else ""  # several bundles may have one
        for row in found:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            self._connection.execute(
                f"INSERT {known}INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - names of ours
                tuple(row.values()),
            )

    def _gone(self, names: Iterable[str]) -> set[str]:
        found = {name for (name,) in self._all("SELECT operatorbundle_name FROM deprecated")}
        return found.intersection(names)

    def marked(self, members: Sequence[Member]) -> list[Member]:
        """The members, those marked that were deprecated once."""
        gone = self._gone(member.name for member in members)
        return [replace(each, deprecated=each.name in gone) for each in members]

    def members(self, package: str) -> list[Member]:
        """The bundles that the package's channels have."""
        default = self.default_channel(package)
        channels: dict[str, list[str]] = {}
        query = (
            "SELECT DISTINCT operatorbundle_name, channel_name FROM channel_entry"
            " WHERE package_name = ?"
        )
        for name, channel in self._all(query, package):
            channels.setdefault(name, []).append(channel)
        found = [
            Member(
                name,
                version or "",
                tuple(channels[name]),
                default,
                Update(replaces or "", tuple(skips.split(",")) if skips else ()),
            )
            for name, version, replaces, skips in self._all(
                "SELECT name, version, replaces, skips FROM operatorbundle"
            )
            if name in channels
        ]
        return self.marked(found)

    def entries(self, package: str) -> list[EntryRow]:
        """The entries of the package's channels in their order."""
        query = (
            "SELECT entry_id, package_name, channel_name, operatorbundle_name, replaces, depth"
            " FROM channel_entry WHERE package_name = ? ORDER BY entry_id"
        )
        return [EntryRow(*row) for row in self._all(query, package)]

    def default_channel(self, package: str) -> str:
        """Empty for a package that is not there."""
        query = "SELECT default_channel FROM package WHERE name = ?"
        return next((name or "" for (name,) in self._all(query, package)), "")

    def replace_graph(self, package: str, graph: Graph) -> None:
        """Writes package, channels and entries in place of those that are there."""
        for table, column in (
            ("channel_entry", "package_name"),
            ("channel", "package_name"),
            ("package", "name"),
        ):
            self._connection.execute(
                f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608 - names of ours
                (package,),
            )
        self._insert("package", [{"name": package, "default_channel": graph.default_channel}])
        self._insert(
            "channel",
            (
                {"name": name, "package_name": package, "head_operatorbundle_name": chain.head}
                for name, chain in graph.channels.items()
            ),
        )
        ((highest,),) = self._all("SELECT coalesce(max(entry_id), 0) FROM channel_entry")
        self._insert(
            "channel_entry",
            (
                {
                    "entry_id": row.number,
                    "channel_name": row.channel,
                    "package_name": row.package,
                    "operatorbundle_name": row.bundle,
                    "replaces": row.replaces,
                    "depth": row.depth,
                }
                for row in graphs.entries(package, graph, highest + 1)
            ),
        )

    def clear_all_but_heads(self) -> None:
        """Takes out the manifests of bundles that lead no channel: their images have them."""
        self._connection.execute(
            "UPDATE operatorbundle SET bundle = NULL, csv = NULL WHERE bundlepath != ''"
            " AND name NOT IN (SELECT head_operatorbundle_name FROM channel"
            " WHERE head_operatorbundle_name IS NOT NULL)"
        )


def _text(value: Any) -> Any:
    """Text is text, also where a Go program stored it as a blob."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
