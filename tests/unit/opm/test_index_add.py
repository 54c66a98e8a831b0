"""Bundles added to an SQLite index: what is written, and what is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from olm_content.fbc.records import properties
from olm_runtime.errors import OLMError, TerminalError
from opm.bundle import read_bundle, to_record
from opm.index.graph import REPLACES, SEMVER
from opm.index.insertion import Addition, Known, overwritten
from opm.index.records import to_records
from opm.io.database import read_database
from opm.io.database_add import add_bundles, create
from opm.io.database_edit import remove_packages
from tests.unit.opm.bundles import ANNOTATIONS, CSV, files
from tests.unit.opm.databases import OLDEST, Database

PREFIX = "operators.operatorframework.io.bundle."


def addition(
    version: str, *, package: str = "hello", channels: str = "stable", image: str = "",
    annotations: dict[str, str] | None = None, **spec: Any
) -> Addition:  # fmt: skip
    """A bundle hello.vVERSION with these fields in its ClusterServiceVersion."""
    csv = {
        **CSV,
        "metadata": {"name": f"{package}.v{version}", "annotations": annotations or {}},
        "spec": {**CSV["spec"], "version": version, **spec},
    }
    said = {
        **ANNOTATIONS["annotations"],
        f"{PREFIX}package.v1": package,
        f"{PREFIX}channels.v1": channels,
    }
    dependencies = [{"type": "olm.package", "value": {"packageName": "db", "version": ">1.0.0"}}]
    changes = {
        "manifests/csv.yaml": csv,
        "metadata/annotations.yaml": {"annotations": said},
        "metadata/dependencies.yaml": {"dependencies": dependencies},
        "metadata/properties.yaml": {"properties": [{"type": "color", "value": "<red>"}]},
    }
    found = read_bundle(files(changes))
    return Addition(image or f"example.com/{package}:v{version}", found)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.db"
    create(path)
    return path


def add(path: Path, *additions: Addition, mode: str = REPLACES) -> list[str]:
    """Adds them; the remarks."""
    remarks: list[str] = []
    add_bundles(path, additions, mode, remarks.append)
    return remarks


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def by_name(path: Path) -> dict[str, Any]:
    return {each.name: each for each in to_records(read_database(path))}


def test_an_index_has_of_a_bundle_what_its_image_has(index: Path) -> None:
    given = addition("1.0.0", annotations={"olm.skipRange": "<1.0.0"})
    assert add(index, given) == []
    found = by_name(index)
    assert found["hello"].value["defaultChannel"] == "stable"
    assert found["stable"].value["entries"] == [{"name": "hello.v1.0.0", "skipRange": "<1.0.0"}]
    indexed, expected = found["hello.v1.0.0"], to_record(given.bundle, given.image)
    assert indexed.value["image"] == given.image

    def plain(record: Any) -> set[str]:
        return {json.dumps(each, sort_keys=True) for each in properties(record)}

    assert {each for each in plain(expected) if "bundle.object" not in each} <= plain(indexed)
    assert len(plain(indexed)) == len(plain(expected))
    images = {each["image"] for each in expected.value["relatedImages"]}
    assert {each["image"] for each in indexed.value["relatedImages"]} == images
    assert rows(index, "PRAGMA foreign_key_check") == []
    assert rows(index, "SELECT plural FROM api ORDER BY plural") == [("hellos",), ("others",)]


def test_updates_are_added_and_what_they_leave_out_is_reported(index: Path) -> None:
    add(index, addition("1.0.0"), addition("1.1.0", replaces="hello.v1.0.0"))
    add(index, addition("1.0.0", package="other"))
    entries = by_name(index)["stable"].value["entries"]
    remarks = add(index, addition("2.0.0", skips=["hello.v1.1.0"]))
    assert remarks == ["package hello: channel stable no longer has hello.v1.0.0"]
    found = {each.name: each for each in to_records(read_database(index)) if each.package}
    assert {"other", "other.v1.0.0", "hello.v2.0.0"} <= found.keys()
    heads = rows(index, "SELECT package_name, head_operatorbundle_name FROM channel")
    assert sorted(heads) == [("hello", "hello.v2.0.0"), ("other", "other.v1.0.0")]
    assert len(entries) == 1, "the channel of the other package"


def test_by_version_only_heads_keep_their_manifests(index: Path) -> None:
    add(index, addition("1.1.0"), addition("1.0.0"), mode=SEMVER)
    remaining = rows(index, "SELECT name FROM operatorbundle WHERE csv IS NOT NULL")
    assert remaining == [("hello.v1.1.0",)]
    add(index, addition("1.2.0"), mode=SEMVER)
    entries = by_name(index)["stable"].value["entries"]
    assert [each.get("replaces") for each in entries] == [None, "hello.v1.0.0", "hello.v1.1.0"]


def test_a_bundle_that_was_deprecated_stays_so(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("INSERT INTO deprecated VALUES ('hello.v1.0.0')")
    add(index, addition("1.0.0"), addition("1.1.0", replaces="hello.v1.0.0"))
    found = by_name(index)
    assert [each["name"] for each in found["stable"].value["entries"]] == ["hello.v1.1.0"]
    assert "hello.v1.0.0" not in found


def test_what_is_removed_leaves_nothing_behind(index: Path) -> None:
    add(index, addition("1.0.0"), addition("2.0.0", package="other"))
    remove_packages(index, ["hello"])
    with closing(sqlite3.connect(index)) as connection, connection:  # as upstream's tool does
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM operatorbundle")
    for table in ("channel", "package", "properties", "related_image", "api_provider", "api"):
        assert rows(index, f"SELECT * FROM {table}") == [], table


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ([addition("1.0.0")], "Bundle example.com/hello:v1.0.0 already exists"),
        ([addition("1.0.0", image="x")], "Bundle already added that provides .*: hello.v1.0.0"),
        ([addition("2.0.0"), addition("2.0.0", image="x")], "hello.v2.0.0 is given twice"),
        ([addition("2.0.0", channels=" ,")], "names no channel in its annotations"),
        ([addition("2.0.0", package="")], "names no package in its annotations"),
        (
            [addition("2.0.0", annotations={"olm.substitutesFor": "hello.v1.0.0"})],
            "olm.substitutesFor is an alpha feature",
        ),
        (
            [addition("1.0.0", package="other", replaces="hello.v1.0.0")],
            "hello.v1.0.0 belongs to package hello on index, .* for package other",
        ),
        (
            [addition("2.0.0", skips=["x"]), addition("1.0.0", package="other", skips=["x"])],
            r"bundle x must belong to exactly one package, found on: \['hello', 'other'\]",
        ),
        ([addition("0.9.0")], "nothing in channel stable, .* updates hello.v0.9.0"),
        ([addition("2.0.0", customresourcedefinitions={"required": [{"name": "x"}]})], "crd name"),
    ],
)
def test_all_or_nothing(index: Path, added: list[Addition], fault: str) -> None:
    add(index, addition("1.0.0"))
    before = by_name(index)
    with pytest.raises(OLMError, match=fault):
        add(index, addition("1.0.0", package="fine"), *added)
    assert by_name(index) == before


@pytest.mark.parametrize("script", [OLDEST, "UPDATE schema_migrations SET version = 12"])
def test_an_older_schema(tmp_path: Path, script: str) -> None:
    path = tmp_path / "old.db"
    if script != OLDEST:
        create(path)
    Database(path, script)
    with pytest.raises(TerminalError, match="no SQLite index of schema 13"):
        add(path, addition("1.0.0"))


def test_no_database_can_be_made_there(tmp_path: Path) -> None:
    with pytest.raises(TerminalError, match="cannot be made"):
        create(tmp_path / "nowhere" / "index.db")


def overwrite(path: Path, *additions: Addition, mode: str = REPLACES) -> None:
    add_bundles(path, additions, mode, lambda _: None, overwrite_latest=True)


def test_a_bundle_comes_in_place_of_one_that_leads(index: Path) -> None:
    add(index, addition("1.0.0"), addition("2.0.0", replaces="hello.v1.0.0"))
    other = addition("2.0.0", image="example.com/hello:other", skips=["hello.v0.9.0"])
    overwrite(index, other, addition("3.0.0", package="new", channels="newer"))
    found = by_name(index)
    assert found["hello.v2.0.0"].value["image"] == "example.com/hello:other"
    assert {"name": "hello.v2.0.0", "skips": ["hello.v0.9.0"]} in found["stable"].value["entries"]
    assert "new.v3.0.0" in found
    for table in ("properties", "related_image", "dependencies", "api_provider"):
        query = f"SELECT count(*) FROM {table} WHERE operatorbundle_name = 'hello.v2.0.0'"
        fresh = f"SELECT count(*) FROM {table} WHERE operatorbundle_name = 'new.v3.0.0'"
        assert rows(index, query) == rows(index, fresh)


def test_what_leads_is_not_overwritten_unasked(index: Path) -> None:
    add(index, addition("1.0.0"))
    with pytest.raises(TerminalError, match="Bundle already added"):
        add(index, addition("1.0.0", image="example.com/hello:other"))


def test_what_does_not_lead_is_not_overwritten(index: Path) -> None:
    add(index, addition("1.0.0"), addition("2.0.0", replaces="hello.v1.0.0"))
    with pytest.raises(TerminalError, match="does not lead its channels"):
        overwrite(index, addition("1.0.0", image="example.com/hello:other"))
    with pytest.raises(TerminalError, match="only with the mode replaces"):
        overwrite(index, addition("2.0.0", image="example.com/hello:other"), mode=SEMVER)


@pytest.mark.parametrize(
    ("images", "fault"),
    [
        (["a:1", "a:2"], "only one bundle can be overwritten at a time"),
        (["", ""], "hello.v1.0.0 is from no image"),
    ],
)
def test_what_is_not_overwritten(images: list[str], fault: str) -> None:
    known = Known(dict(zip(("hello.v1.0.0", "hello.v2.0.0"), images, strict=True)), {})
    with pytest.raises(TerminalError, match=fault):
        overwritten([addition("1.0.0"), addition("2.0.0")], known)
