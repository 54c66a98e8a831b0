"""Removes packages from an SQLite catalog. Works on the file given: hand it a copy of your own."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm.io.references import is_database, no_database

# What belongs to a bundle; upstream leaves some of it to foreign keys, which old files lack.
_OF_BUNDLES = ("api_provider", "api_requirer", "properties", "dependencies", "related_image")


def keep_packages(path: Path, names: Iterable[str]) -> None:
    """Removes all packages but the named ones. Raises TerminalError."""
    with opened(path) as connection:
        retained = set(names)
        found = {name for (name,) in connection.execute("SELECT DISTINCT name FROM package")}
        _remove(connection, sorted(found - retained))


def remove_packages(path: Path, names: Iterable[str]) -> None:
    """Removes the named packages. Raises TerminalError for one that is not there."""
    with opened(path) as connection:
        wanted = list(dict.fromkeys(name for name in names if name))
        entries = connection.execute("SELECT DISTINCT package_name FROM channel_entry")
        there = {name for (name,) in entries if name}
        missing = sorted(set(wanted) - there)
        if missing:
            raise TerminalError(
                f"no package found for packagename {', '.join(missing)}",
                hint=suggestion_or_all(missing[0], sorted(there), none="there is none"),
            )
        _remove(connection, wanted)


def remove_stranded(path: Path) -> None:
    """Removes the bundles that no channel has. Raises TerminalError."""
    with opened(path) as connection:
        _remove_stranded(connection)


def remove_bundles(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Removes bundles and what belongs to them; the channels that have them stay as they are."""
    tables = [(table, "operatorbundle_name") for table in (*_OF_BUNDLES, "deprecated")]
    for name in names:
        for table, column in (*tables, ("operatorbundle", "name")):
            connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))  # noqa: S608 - names of ours


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction; then the file is made as small as what is left. Raises TerminalError."""
    if not is_database(path):
        raise no_database(path)
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA foreign_keys = OFF")
            with connection:
                yield connection
            connection.execute("VACUUM")
    except sqlite3.Error as error:
        raise TerminalError(f"{path}: the database cannot be changed: {error}") from error


def _remove(connection: sqlite3.Connection, packages: Iterable[str]) -> None:
    for package in packages:
        connection.execute("DELETE FROM channel_entry WHERE package_name = ?", (package,))
        connection.execute("DELETE FROM channel WHERE package_name = ?", (package,))
        connection.execute("DELETE FROM package WHERE name = ?", (package,))
    _remove_stranded(connection)


def _remove_stranded(connection: sqlite3.Connection) -> None:
    """Deprecated bundles stay, as upstream has it: the deprecation is known by them."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    left = (
        "DELETE FROM operatorbundle WHERE name NOT IN"
        " (SELECT operatorbundle_name FROM channel_entry WHERE operatorbundle_name IS NOT NULL)"
    )
    if "deprecated" in there:
        left += " AND name NOT IN (SELECT operatorbundle_name FROM deprecated)"
    connection.execute(left)
    for table in _OF_BUNDLES:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        if "operatorbundle_name" in columns:
            connection.execute(
                f"DELETE FROM {table}"  # noqa: S608 - names of ours
                " WHERE operatorbundle_name NOT IN (SELECT name FROM operatorbundle)"
            )
