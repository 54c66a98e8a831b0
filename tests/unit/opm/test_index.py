"""`opm index`: what is taken out of a database, and what is written."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from opm.__main__ import cli
from opm.index.records import to_records
from opm.io.database import read_database
from tests.unit.opm.databases import Database, catalog


def opm(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, ["index", *map(str, arguments)])


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database with the packages hello and other, and a bundle that no channel has."""
    made = catalog(tmp_path / "index.db")
    made.add("package", name="other", default_channel="a")
    made.add("channel", name="a", package_name="other", head_operatorbundle_name="other.v1")
    made.add_bundle("other.v1", "1.0.0", "other")
    made.add(
        "channel_entry",
        entry_id=20,
        channel_name="a",
        package_name="other",
        operatorbundle_name="other.v1",
        depth=0,
    )
    made.add_bundle("stranded.v1", "1.0.0", "other")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return made


def names(path: Path) -> list[str]:
    return [each.name for each in to_records(read_database(path))]


def column(path: Path, table: str, name: str) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {value for (value,) in connection.execute(f"SELECT {name} FROM {table}")}


@pytest.mark.parametrize(
    "arguments",
    [("prune", "-p", "other,nowhere"), ("rm", "-o", "hello", "--pull-tool", "podman")],
)
def test_packages_are_taken_out_of_a_copy(two: Database, arguments: tuple[str, ...]) -> None:
    before = two.path.read_bytes()
    result = opm(*arguments, "-f", two.path, "--generate", "-i", "example.com/opm:v1")
    assert result.exit_code == 0, result.exception
    assert "deprecated" in result.stderr
    made = Path("database/index.db")
    assert names(made) == ["other", "a", "other.v1"]
    assert column(made, "operatorbundle", "name") == {"other.v1"}
    assert column(made, "properties", "operatorbundle_name") == {"other.v1"}
    assert column(made, "related_image", "image") == set()
    assert two.path.read_bytes() == before
    text = Path("index.Dockerfile").read_text()
    assert text.startswith("FROM example.com/opm:v1\nLABEL operators.operatorframework.io.index.")
    assert "\nADD database/index.db /database/index.db\n" in text


def test_stranded_bundles_go_and_deprecated_ones_stay(two: Database) -> None:
    two.add_bundle("old.v1", "0.1.0")
    two.add("deprecated", operatorbundle_name="old.v1")
    result = opm("prune-stranded", "-f", two.path, "--generate=true", "-d", "x.Dockerfile")
    assert result.exit_code == 0, result.exception
    left = column(Path("database/index.db"), "operatorbundle", "name")
    assert left == {"hello.v1", "hello.v2", "hello.v3", "other.v1", "old.v1"}
    assert Path("x.Dockerfile").exists()


def test_an_index_is_published_anew_as_it_is(two: Database) -> None:
    result = opm("add", "--bundles", "", "--from-index", two.path, "--generate")
    assert result.exit_code == 0, result.exception
    assert names(Path("database/index.db")) == names(two.path)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("add", "-b", "a:b:c", "--generate"), "a:b:c"),
        (("add", "-b", "", "--mode", "replaces"), "would go nowhere"),
        (("rm", "-o", "nowhere", "--generate"), "no package found for packagename nowhere"),
        (("rm", "-o", "hello"), "would go nowhere"),
    ],
)
def test_refusals(two: Database, arguments: tuple[str, ...], fault: str) -> None:
    result = opm(*arguments, "-f", two.path)
    assert fault in str(result.exception)
    assert not Path("database").exists()
