"""SQLite catalogs: what is read of them, whatever their version, and what is refused."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_runtime.errors import TerminalError
from opm.__main__ import cli
from opm.index.records import to_records
from opm.io import database
from opm.io.database import read_database
from tests.unit.opm.databases import OLDEST, Database, catalog

WIDGET = {"group": "example.com", "kind": "Widget", "version": "v1"}


def opm(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)])


def values(path: Path) -> dict[str, dict[str, Any]]:
    """The records by name; channel and package have different ones here."""
    return {each.name: each.value for each in to_records(read_database(path))}


def test_graph_icon_properties_and_images(tmp_path: Path) -> None:
    found = values(catalog(tmp_path / "index.db").path)
    assert list(found) == ["hello", "stable", "hello.v1", "hello.v2", "hello.v3"]
    assert found["hello"]["icon"] == {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}
    assert found["stable"]["entries"] == [
        {"name": "hello.v1"},
        {"name": "hello.v2", "replaces": "hello.v1"},
        {
            "name": "hello.v3",
            "replaces": "hello.v2",
            "skips": ["hello.v1"],
            "skipRange": "<3.0.0",
        },
    ]
    bundle = found["hello.v3"]
    assert bundle["image"] == "example.com/hello.v3"
    assert [each["image"] for each in bundle["relatedImages"]] == [
        "example.com/a",
        "example.com/b",
        "example.com/z",
    ]
    by_type: dict[str, list[Any]] = {}
    for each in bundle["properties"]:
        by_type.setdefault(each["type"], []).append(each["value"])
    objects = sorted(base64.b64decode(each["data"]) for each in by_type.pop("olm.bundle.object"))
    # As it was written, escapes and all.
    assert objects[1] == b'{"kind":"Secret","note":"\\u003c"}'
    assert by_type == {
        "olm.gvk": [WIDGET],
        "olm.gvk.required": [WIDGET],
        "olm.package": [{"packageName": "hello", "version": "3.0.0"}],
        "olm.package.required": [{"packageName": "db", "versionRange": ">1"}],
    }
    assert found["hello.v2"].get("relatedImages") is None


def test_deprecated_and_half_written_bundles_are_left_out(tmp_path: Path) -> None:
    made = catalog(tmp_path / "index.db")
    made.add_property("hello.v1", "olm.deprecated", {})
    made.add("operatorbundle", name="hello.v0", bundlepath="x")
    made.add_entry(9, "stable", "hello.v0", None, 3)
    made.add_entry(10, "stable", "nowhere", None, 3)
    found = values(made.path)
    assert [entry["name"] for entry in found["stable"]["entries"]] == ["hello.v2", "hello.v3"]
    assert not {"hello.v0", "hello.v1", "nowhere"} & found.keys()


def test_the_oldest_schema_has_versions_and_apis_elsewhere(tmp_path: Path) -> None:
    made = Database(tmp_path / "old.db", OLDEST)
    made.add("package", name="hello", default_channel="a")
    made.add("channel", name="a", package_name="hello", head_operatorbundle_name="hello.v1")
    csv = {
        "kind": "ClusterServiceVersion",
        "metadata": {"annotations": {"olm.skipRange": "<1.0.0"}},
        "spec": {"version": "1.0.0"},
    }
    made.add("operatorbundle", name="hello.v1", csv=json.dumps(csv))
    made.add_entry(1, "a", "hello.v1")
    made.add(
        "api_provider", group_name="example.com", version="v1", kind="Widget", channel_entry_id=1
    )
    found = values(made.path)
    assert found["a"]["entries"] == [{"name": "hello.v1", "skipRange": "<1.0.0"}]
    assert found["hello.v1"]["properties"] == [
        {"type": "olm.gvk", "value": WIDGET},
        {"type": "olm.package", "value": {"packageName": "hello", "version": "1.0.0"}},
    ]


def test_a_circle_of_entries_ends(tmp_path: Path) -> None:
    made = catalog(tmp_path / "index.db")
    made.run("UPDATE channel_entry SET replaces = 1 WHERE entry_id = 3")
    assert values(made.path)["stable"]["entries"][0]["replaces"] == "hello.v3"


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("DROP TABLE package", "no table package"),
        ("DROP TABLE package; CREATE VIEW package AS SELECT 1 AS name", "no table package"),
        (
            "DROP TABLE package; CREATE VIRTUAL TABLE package USING fts5(name)",
            "no table package",
        ),
        ("UPDATE operatorbundle SET bundle = '{'", "its objects are no JSON"),
        ("UPDATE operatorbundle SET bundle = '{}{\"a\"'", "its objects are no JSON"),
        ("UPDATE properties SET value = 'x'", 'bundle "hello.v'),
        ("UPDATE properties SET type = 'olm.gvk', value = '[]'", "expected an object"),
        ("UPDATE operatorbundle SET csv = '3', bundle = ''", "expected an object"),
    ],
)
def test_databases_that_are_no_catalog(tmp_path: Path, script: str, fault: str) -> None:
    made = catalog(tmp_path / "index.db")
    made.run(script)
    with pytest.raises(TerminalError, match=fault):
        to_records(read_database(made.path))


def test_more_rows_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_ROWS", 10)
    with pytest.raises(TerminalError, match="more than 10 rows"):
        read_database(catalog(tmp_path / "index.db").path)


def test_a_value_larger_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = catalog(tmp_path / "index.db")
    made.run("UPDATE operatorbundle SET csv = zeroblob(100000)")
    monkeypatch.setattr(database, "MAX_VALUE_BYTES", 50_000)
    with pytest.raises(TerminalError, match="cannot be read"):
        read_database(made.path)


@pytest.mark.parametrize("length", [100, 3000, 20_000])
def test_a_damaged_file(tmp_path: Path, length: int) -> None:
    made = catalog(tmp_path / "index.db")
    made.path.write_bytes(made.path.read_bytes()[:length])
    result = opm("render", made.path)
    assert isinstance(result.exception, TerminalError)


def test_render_leaves_the_file_alone(tmp_path: Path) -> None:
    made = catalog(tmp_path / "index.db")
    before = made.path.read_bytes()
    made.path.chmod(0o444)
    result = opm("render", made.path)
    assert result.exit_code == 0, result.exception
    assert "deprecated" in result.stderr
    assert (made.path.read_bytes(), [*tmp_path.iterdir()]) == (before, [made.path])


@pytest.mark.parametrize(
    ("options", "output"), [(["-o", "yaml"], "yaml"), (["-o", "json"], "json"), ([], "json")]
)
def test_migrate_writes_a_folder_for_each_package(
    tmp_path: Path, options: list[str], output: str
) -> None:
    made = catalog(tmp_path / "index.db")
    result = opm("migrate", made.path, tmp_path / "catalog", *options)
    assert result.exit_code == 0, result.exception
    (file,) = (tmp_path / "catalog").rglob("*.*")
    assert file.relative_to(tmp_path).as_posix() == f"catalog/hello/catalog.{output}"
    assert opm("validate", tmp_path / "catalog").exit_code == 0
    assert opm("render", tmp_path / "catalog").stdout == opm("render", made.path).stdout
    again = opm("migrate", made.path, tmp_path / "catalog")
    assert "must be empty" in str(again.exception)


def test_migrate_to_a_level(tmp_path: Path) -> None:
    made = catalog(tmp_path / "index.db")
    level = "bundle-object-to-csv-metadata"
    to_level = opm("migrate", made.path, tmp_path / "c", "-o", "yaml", f"--migrate-level={level}")
    assert to_level.exit_code == 0
    records = yaml.safe_load_all((tmp_path / "c/hello/catalog.yaml").read_text())
    kinds = {item["type"] for each in records for item in each.get("properties", ())}
    assert "olm.csv.metadata" in kinds
    assert "olm.bundle.object" not in kinds
