"""The cache of packages: whatever happens to its files, only requests are lost."""

from pathlib import Path

import orjson
import pytest

from operator_controller.io.catalog_addresses import Blobs
from operator_controller.io.catalog_cache import CatalogCache

HEAD = orjson.dumps({"schema": "olm.package", "name": "p", "defaultChannel": "stable"})


def bundle(version: str) -> bytes:
    value = {"packageName": "p", "version": version}
    properties = [{"type": "olm.package", "value": value}]
    name = f"p.v{version[:20]}"
    return orjson.dumps(
        {"schema": "olm.bundle", "package": "p", "name": name, "properties": properties}
    )


LINES = (HEAD, bundle("1.0.0"))


async def written(folder: Path) -> Path:
    """A file that was written."""
    await CatalogCache(folder).put("c", "p", "one", Blobs(LINES, '"etag"'))
    [file] = (folder / "c").iterdir()
    return file


def without(file: Path, key: str) -> bytes:
    first, *lines = file.read_bytes().splitlines()
    header = orjson.loads(first)
    del header[key]
    return b"\n".join([orjson.dumps(header), *lines])


DAMAGES = {
    "empty": lambda _: b"",
    "no JSON": lambda _: b"\xff\x00",
    "no header": lambda _: b"[]",
    "cut short": lambda file: file.read_bytes()[:-5],
    "a header without fingerprint": lambda file: without(file, "fingerprint"),
    "a header without source": lambda file: without(file, "source"),
    "a header without etag": lambda file: without(file, "etag"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_file_that_cannot_be_read_counts_as_absent(damage: object, tmp_path: Path) -> None:
    file = await written(tmp_path)
    file.write_bytes(damage(file))  # type: ignore[operator]
    cache = CatalogCache(tmp_path)
    assert await cache.find("c", "p") is None
    assert await cache.confirm("c", "p", "two") is None
    known = await cache.put("c", "p", "two", Blobs(LINES))
    assert (known.source, known.changed_in) == ("two", "two")
    assert await CatalogCache(tmp_path).find("c", "p") == known


async def test_a_version_of_thousands_of_digits_is_no_obstacle_then_or_later(
    tmp_path: Path,
) -> None:
    lines = (*LINES, bundle(f"1.0.0-{'9' * 5000}"))
    known = await CatalogCache(tmp_path).put("c", "p", "one", Blobs(lines))
    assert known.package is not None
    assert [str(b.version) for b in known.package.bundles if b.version] == ["1.0.0"]
    after = CatalogCache(tmp_path)
    assert await after.find("c", "p") == known
    assert (await after.put("c", "p", "two", Blobs(LINES))).source == "two"


async def test_a_disk_that_cannot_be_written_costs_nothing_but_requests(tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("a file where the folder should be")
    cache = CatalogCache(in_the_way)
    known = await cache.put("c", "p", "one", Blobs(LINES))
    assert await cache.find("c", "p") == known
    cache.forget("c")
    assert await cache.find("c", "p") is None


async def test_a_package_that_is_dropped_leaves_no_file_and_the_others_stay(tmp_path: Path) -> None:
    cache = CatalogCache(tmp_path)
    await cache.put("c", "p", "one", Blobs(LINES))
    [file] = (tmp_path / "c").iterdir()
    other = await cache.put("c", "q", "one", Blobs(()))
    cache.keep_only("c", {"q", "never asked for"})
    cache.keep_only("no such catalog", set())
    assert not file.exists()
    assert await cache.find("c", "p") is None
    assert await cache.find("c", "q") == other
