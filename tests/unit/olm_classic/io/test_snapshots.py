"""The index of a catalog, written from its server, holds what the catalog's files say."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from olm_catalogs.io.cache import make_cache, open_cache
from olm_catalogs.io.server import make_server
from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.io.registry import RegistryConnection, RegistryError, Target
from olm_classic.io.snapshots import Snapshots
from olm_classic.resolve import Deprecations, Entry, MemoryReader, SourceKey
from olm_classic.resolve.readers import api_key, keys_of, package_key
from olm_classic.resolve.registry_entries import MAX_PROPERTIES_BYTES
from olm_runtime.clocks import utc_now
from tests.oracle.classic import entries_of_text
from tests.unit.opm.test_serve import CATALOG, write

KEY = SourceKey("cat", "olm")


def shown(entries: Iterable[Entry]) -> list[tuple[object, ...]]:
    return sorted(
        (
            entry.id,
            entry.package,
            entry.replaces,
            entry.skips,
            entry.skip_range,
            str(entry.version),
            entry.image,
            entry.default_channel,
            sorted(map(str, entry.properties)),
        )
        for entry in entries
    )


@asynccontextmanager
async def served(source: Path, cache: Path) -> AsyncIterator[RegistryConnection]:
    make_cache(cache, source)
    server = make_server(open_cache(cache, source))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    connection = RegistryConnection(Target(f"127.0.0.1:{port}"), lambda: None, clock=utc_now)
    try:
        yield connection
    finally:
        await connection.close()
        await server.stop(None)


async def test_an_index_holds_what_the_files_of_the_catalog_say(tmp_path: Path) -> None:
    folder = write(tmp_path / "catalog")
    snapshots = Snapshots(tmp_path / "snapshots")
    async with served(folder, tmp_path / "cache") as connection:
        await snapshots.refresh(KEY, connection)
    expected = MemoryReader(entries_of_text((folder / "catalog.json").read_bytes(), KEY))
    found = snapshots.reader(KEY)
    assert found is not None
    assert not found.empty
    assert shown(found.scan()) == shown(expected.scan())
    for key in {key for entry in expected.scan() for key in keys_of(entry)}:
        assert shown(found.having(key)) == shown(expected.having(key))
    assert shown(found.packages("hello")) == shown(expected.packages("hello"))
    assert not found.having(api_key(("no", "such", "Api")))
    assert not found.packages("other")
    assert found.package_names() == ["hello"]
    assert found.deprecations("hello") == Deprecations(
        "package is old", {"candidate": "use stable"}, {"hello.v0.2.0": "bug"}
    )


async def test_a_catalog_that_fails_keeps_its_last_content(tmp_path: Path) -> None:
    folder = write(tmp_path / "catalog")
    snapshots = Snapshots(tmp_path / "snapshots")
    async with served(folder, tmp_path / "cache") as connection:
        await snapshots.refresh(KEY, connection)
    with pytest.raises(RegistryError, match="went away"):
        await snapshots.refresh(
            KEY, FixedServer(messages.Bundle(csvName="x", packageName="x"), fails=True)
        )
    catalog = snapshots.catalog(KEY, 3)
    assert not catalog.problem
    assert len(catalog.content.packages("hello")) == 4
    assert len(list((tmp_path / "snapshots").iterdir())) == 1


class FixedServer:
    """A server of fixed content."""

    def __init__(self, *bundles: messages.Bundle, fails: bool = False) -> None:
        self._bundles = bundles
        self._fails = fails

    async def list_bundles(self) -> AsyncGenerator[messages.Bundle, None]:
        for bundle in self._bundles:
            await asyncio.sleep(0)
            yield bundle
        if self._fails:
            raise RegistryError("the server went away")

    async def get_package(self, name: str) -> messages.Package:
        return messages.Package(name=name, defaultChannelName="stable")


async def test_a_server_of_old_that_knows_no_properties(tmp_path: Path) -> None:
    api = messages.GroupVersionKind(group="g", version="v1", kind="K")
    needed = messages.GroupVersionKind(group="h", version="v1", kind="L")
    old = messages.Bundle(
        csvName="a.v1", packageName="a", channelName="stable", version="1.0.0",
        providedApis=[api], requiredApis=[needed],
    )  # fmt: skip
    snapshots = Snapshots(tmp_path / "snapshots")
    await snapshots.refresh(KEY, FixedServer(old))
    reader = snapshots.reader(KEY)
    assert reader is not None
    (entry,) = reader.having(api_key(("g", "v1", "K")))
    assert entry.in_default_channel
    assert [each["type"] for each in entry.properties] == [
        "olm.gvk",
        "olm.gvk.required",
        "olm.package",
    ]
    assert entry.properties[2]["value"] == {"packageName": "a", "version": "1.0.0"}


async def test_bundles_that_cannot_be_read_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def bundle(name: str, kind: str, value: str) -> messages.Bundle:
        given = messages.Property(type=kind, value=value)
        return messages.Bundle(csvName=name, packageName="a", properties=[given])

    unknown = messages.Bundle(
        csvName="c", packageName="a", dependencies=[messages.Dependency(type="x", value="{}")]
    )
    giant = f'"{"x" * MAX_PROPERTIES_BYTES}"'
    deep = "[" * 250 + "]" * 250
    snapshots = Snapshots(tmp_path / "snapshots")
    broken = bundle("a", "x", "{"), bundle("b", "x", giant), unknown, bundle("e", "x", deep)
    server = FixedServer(*broken, bundle("d", "x", "1"))
    await snapshots.refresh(KEY, server)
    reader = snapshots.reader(KEY)
    assert reader is not None
    assert [entry.name for entry in reader.having(package_key("a"))] == ["d"]
    for name in (
        "bundle a is left out",
        "bundle b is left out",
        "bundle c is left out",
        "bundle e is left out",
    ):
        assert name in caplog.text


async def test_an_index_that_is_read_outlives_the_next_one(tmp_path: Path) -> None:
    def named(name: str) -> FixedServer:
        return FixedServer(messages.Bundle(csvName=name, packageName="a"))

    snapshots = Snapshots(tmp_path / "snapshots")
    await snapshots.refresh(KEY, named("first"))
    first = snapshots.reader(KEY)
    await snapshots.refresh(KEY, named("second"))
    second = snapshots.reader(KEY)
    assert first is not None
    assert second is not None
    assert [entry.name for entry in first.packages("a")] == ["first"]
    assert [entry.name for entry in second.packages("a")] == ["second"]
    await snapshots.refresh(KEY, named("third"))
    assert len(list((tmp_path / "snapshots").iterdir())) == 2
    snapshots.forget(KEY)
    assert not list((tmp_path / "snapshots").iterdir())
    assert snapshots.catalog(KEY).problem == (
        "no registry client established for catalogsource olm/cat"
    )


def test_the_catalog_of_these_tests_has_requirements() -> None:
    kinds = {p["type"] for each in CATALOG for p in each.get("properties", ())}
    assert {"olm.gvk.required", "olm.package.required"} <= kinds
