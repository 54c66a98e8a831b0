import gzip
from datetime import UTC, datetime

import orjson
import pytest

from olm_classic.package_manifests import documents
from olm_classic.package_manifests.ages import age
from olm_classic.package_manifests.manifests import Catalog
from olm_classic.package_manifests.selection import Page
from olm_classic.package_manifests.shelf import Shelf
from olm_runtime.gzip_parts import member
from tests.unit.olm_classic.package_manifests.catalog import packed

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_a_list_shows_everything_where_it_was_asked_for() -> None:
    packages = [packed("a"), packed("b")]
    parts = list(documents.listed(Page(packages, "more", 3), "team"))
    found = orjson.loads(documents.plain(parts))
    assert orjson.loads(gzip.decompress(member(parts))) == found
    assert found["metadata"] == {"resourceVersion": "", "continue": "more", "remainingItemCount": 3}
    assert [each["metadata"]["namespace"] for each in found["items"]] == ["team", "team"]
    assert [each["metadata"]["name"] for each in found["items"]] == ["a", "b"]
    everywhere = orjson.loads(documents.plain(list(documents.listed(Page(packages), ""))))
    assert {each["metadata"]["namespace"] for each in everywhere["items"]} == {"olm"}
    single = orjson.loads(documents.plain(documents.single(packages[0], "team")))
    assert single == found["items"][0]


@pytest.mark.parametrize(
    ("include", "kind"),
    [("None", None), ("Metadata", "PartialObjectMetadata"), ("Object", "PackageManifest")],
)
def test_tables(include: str, kind: str | None) -> None:
    table = orjson.loads(documents.table(Page([packed("a")]), "team", include, NOW))
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Catalog", "Age"]
    (row,) = table["rows"]
    assert row["cells"] == ["a", "All Operators", "24h"]
    assert row.get("object", {}).get("kind") == kind


def test_metadata_alone() -> None:
    found = orjson.loads(documents.metadata_list(Page([packed("a")]), "team"))
    assert found["kind"] == "PartialObjectMetadataList"
    assert found["items"][0]["metadata"]["namespace"] == "team"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "<invalid>"), (-1, "0s"), (0, "0s"), (93, "93s"), (120, "2m"), (303, "5m3s"),
     (600, "10m"), (10800, "3h"), (11400, "3h10m"), (28800, "8h"), (172799, "47h"),
     (187200, "2d4h"), (691200, "8d"), (63072000, "2y"), (66528000, "2y40d"), (252288000, "8y")],
)  # fmt: skip
def test_ages_are_as_kubectl_shows_them(seconds: int, text: str) -> None:
    since = datetime.fromtimestamp(NOW.timestamp() - seconds, UTC)
    assert age(since, NOW) == text


def test_what_is_near_comes_first() -> None:
    shelf = Shelf("olm")
    for namespace, name, priority in (
        ("olm", "z", 0), ("olm", "b", 5), ("team", "y", -10), ("other", "x", 100),
    ):  # fmt: skip
        catalog = Catalog(namespace, name, priority=priority)
        shelf.put((namespace, name), [packed("p", catalog), packed(name, catalog)])
    seen = [(each.name, each.catalog.name) for each in shelf.seen("team")]
    assert seen == [("b", "b"), ("p", "y"), ("p", "b"), ("p", "z"), ("y", "y"), ("z", "z")]
    nearest = shelf.find("team", "p")
    assert nearest is not None
    assert nearest.catalog.name == "y"
    assert len(shelf.seen("")) == 8
    shelf.drop(("team", "y"))
    found = shelf.find("team", "p")
    assert found is not None
    assert found.catalog.name == "b"
    assert shelf.find("team", "nothing") is None
