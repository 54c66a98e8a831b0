"""`opm registry`: index files on disk."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from olm_runtime.errors import TerminalError
from opm.__main__ import cli
from opm.commands.databases import names_of
from opm.index.records import to_records
from opm.io.database import read_database
from tests.unit.opm.databases import Database, catalog


def opm(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, ["registry", *map(str, arguments)])


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """bundles.db with the packages hello and empty, and a bundle that no channel has."""
    monkeypatch.chdir(tmp_path)
    made = catalog(tmp_path / "bundles.db")
    made.add("package", name="empty", default_channel="a")
    made.add_bundle("stranded.v1", "1.0.0")
    return made


def packages(path: Path) -> set[str]:
    return {each.package for each in to_records(read_database(path))}


@pytest.mark.parametrize(
    ("arguments", "left", "bundles"),
    [
        (("prune", "-p", "hello", "--debug=true"), {"hello"}, 3),
        (("prune", "--packages=nowhere", "--permissive"), set(), 0),
        (("rm", "-o", "hello"), {"empty"}, 0),
        (("prune-stranded",), {"hello", "empty"}, 3),
        (("add",), {"hello", "empty"}, 4),
    ],
)
def test_files_are_changed_in_place(
    two: Database, arguments: tuple[str, ...], left: set[str], bundles: int
) -> None:
    result = opm(*arguments)
    assert result.exit_code == 0, result.exception
    assert "deprecated" in result.stderr
    assert packages(two.path) == left
    assert len(read_database(two.path).bundles) == bundles


@pytest.mark.parametrize("command", [("prune", "-p", "x"), ("rm", "-o", "x"), ("serve",)])
def test_a_file_that_is_not_there(command: tuple[str, ...], tmp_path: Path) -> None:
    log, database = tmp_path / "log", tmp_path / "no.db"
    words = ("-t", log) if command == ("serve",) else ()
    result = opm(*command, "-d", database, *words)
    assert isinstance(result.exception, TerminalError)
    assert "no such file" in result.exception.message
    assert log.exists() == (command == ("serve",)), "only servers have a kubelet to report to"
    assert not database.exists()


@pytest.mark.parametrize(
    "command", [("prune", "-p", "x"), ("rm", "-o", "x"), ("prune-stranded",), ("serve",)]
)
def test_a_file_that_is_no_database(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "index.yaml"
    file.write_text("schema: olm.package\n")
    result = opm(*command, "-d", file, *(("-t", tmp_path / "log") if command == ("serve",) else ()))
    assert isinstance(result.exception, TerminalError)
    assert str(file) in result.exception.message
    assert "SQLite database" in result.exception.message
    assert result.exception.hint
    assert file.read_text() == "schema: olm.package\n"


def test_a_package_that_is_nearly_right_is_suggested(two: Database) -> None:
    result = opm("rm", "-o", "helo", "-d", two.path)
    assert isinstance(result.exception, TerminalError)
    assert result.exception.hint == "did you mean hello?"


def test_a_new_file_is_an_index_without_packages(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    assert opm("add", "-d", path).exit_code == 0
    assert packages(path) == set()


def test_names_between_commas() -> None:
    assert names_of(" a, b,,c ") == ["a", "b", "c"]
    assert names_of("") == []
