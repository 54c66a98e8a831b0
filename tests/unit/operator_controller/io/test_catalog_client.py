"""The catalog client over a server on loopback that answers as catalogd, or as upstream's, does."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest

from api.objects import KubeObject
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import NotSyncedError
from operator_controller.io import replicas
from operator_controller.io.catalog_addresses import CatalogBehindError
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogs import CatalogClient
from operator_controller.resolve import CatalogContent

CATALOGS = PackedStore()


def bundle(package: str, version: str) -> dict[str, Any]:
    properties = [
        {"type": "olm.csv.metadata", "value": {"description": "x" * 10_000}},
        {"type": "olm.package", "value": {"packageName": package, "version": version}},
    ]
    name = f"{package}.v{version}"
    return {"schema": "olm.bundle", "package": package, "name": name, "properties": properties}


def package(name: str, *versions: str) -> list[dict[str, Any]]:
    head = {"schema": "olm.package", "name": name, "icon": {"base64data": "y" * 5000}}
    return [head, *(bundle(name, version) for version in versions)]


@dataclass
class Served:
    """A catalog as a catalogd serves it, and what it was asked."""

    blobs: list[dict[str, Any]] = field(default_factory=list)
    etag: str = '"one"'
    metas: bool = True
    status: int = 200
    asked: list[str] = field(default_factory=list)
    base: str = ""
    source: str = ""
    """The digit of the source that answers name; empty for upstream's, which name none."""
    behind: list["Served"] = field(default_factory=list)
    """Replicas that answer the next requests in place of this one."""
    closed: int = 0
    """Requests after which the client wants another connection."""

    def answer(self, target: str, condition: str | None) -> tuple[int, bytes]:
        url = urlsplit(target)
        endpoint = url.path.rpartition("/")[2]
        self.asked.append(endpoint if condition is None else f"{endpoint} if not {condition}")
        if self.status != 200:
            return self.status, b"404 Not Found\n"
        if endpoint == "metas" and not self.metas:
            return 404, b"404 page not found\n"
        if condition == self.etag:
            return 304, b""
        wanted = parse_qs(url.query).get("package")
        found = [b for b in self.blobs if not wanted or b.get("package", b["name"]) in wanted]
        return 200, b"\n".join(map(orjson.dumps, found))


@pytest.fixture
def served() -> Iterator[Served]:
    catalog = Served(blobs=[*package("p", "1.0.0", "2.0.0"), *package("q", "1.0.0")])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            catalog.closed += self.headers.get("Connection") == "close"
            replica = catalog.behind.pop(0) if catalog.behind else catalog
            status, body = replica.answer(self.path, self.headers.get("If-None-Match"))
            self.send_response(status)
            self.send_header("ETag", replica.etag)
            if replica.source and status in (200, 304):
                self.send_header("Olm-Resolved-Source", reference(replica.source))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        catalog.base = f"http://127.0.0.1:{server.server_port}/catalogs/c"
        yield catalog
        server.shutdown()


def reference(digit: str) -> str:
    return f"registry/catalog@sha256:{digit * 64}"


class Client:
    """A client over one cache folder; `restart` loses what is in memory."""

    def __init__(self, folder: Path, served: Served) -> None:
        self._folder = folder
        self._served = served
        self._catalogd = Catalogd(None, allow_http=True)
        self.restart()

    def restart(self) -> None:
        cache = CatalogCache(self._folder)
        self.client = CatalogClient(CATALOGS, self._catalogd, cache)

    def raw(self, digest: str, *, serving: bool = True) -> KubeObject:
        image = {"ref": reference(digest)}
        return {
            "apiVersion": "olm.operatorframework.io/v1",
            "kind": "ClusterCatalog",
            "metadata": {"name": "c"},
            "spec": {"source": {"type": "Image", "image": {"ref": "registry/catalog:latest"}}},
            "status": {
                "conditions": [
                    {
                        "type": "Serving",
                        "status": "True" if serving else "False",
                        "reason": "x",
                        "message": "",
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ],
                "resolvedSource": {"type": "Image", "image": image},
                "urls": {"base": self._served.base},
            },
        }

    async def content(
        self, digest: str = "1", *, package: str = "p", serving: bool = True
    ) -> CatalogContent:
        (found,) = await self.client.contents([self.raw(digest, serving=serving)], package)
        return found

    async def changed(self, digest: str) -> bool:
        """Whether the content of that digest is the first with the package as it is."""
        found = await self.client.compare(self.raw(digest), "p")
        return found.is_there and digest * 64 in found.changed_in


@pytest.fixture
async def client(tmp_path: Path, served: Served) -> AsyncIterator[Client]:
    running = Client(tmp_path / "catalogs", served)
    yield running
    await running.client.close()


def versions(content: CatalogContent) -> list[str]:
    assert content.unavailable is None, content.unavailable
    return [str(b.version) for b in content.package.bundles] if content.package else []


async def test_one_request_for_many_that_wait_and_none_while_the_digest_is_the_same(
    client: Client, served: Served
) -> None:
    found = await asyncio.gather(*(client.content() for _ in range(50)))
    assert [versions(each) for each in found] == [["1.0.0", "2.0.0"]] * 50
    assert versions(await client.content()) == ["1.0.0", "2.0.0"]
    assert served.asked == ["metas"]


async def test_a_catalog_that_cannot_be_read_concerns_only_who_selects_it(client: Client) -> None:
    broken = client.raw("1")
    broken["metadata"] = {"name": "broken", "labels": {"a": "b"}}
    del broken["spec"]
    unreadable, good = await client.client.contents([broken, client.raw("1")], "p")
    assert (unreadable.name, unreadable.labels) == ("broken", {"a": "b"})
    assert unreadable.unavailable is not None
    assert 'ClusterCatalog "broken" cannot be read' in unreadable.unavailable.message
    assert versions(good) == ["1.0.0", "2.0.0"]


async def test_what_is_known_of_the_digest_survives_restarts_and_outages(
    client: Client, served: Served
) -> None:
    await client.content()
    served.status = 503
    client.restart()
    assert versions(await client.content(serving=False)) == ["1.0.0", "2.0.0"]
    assert served.asked == ["metas"]
    unknown = await client.content("2", serving=False)
    assert unknown.unavailable
    assert unknown.unavailable.message == 'catalog "c" is not being served'
    failing = await client.content("2")
    assert failing.unavailable
    assert "received unexpected response status code 503" in failing.unavailable.message


async def test_an_image_made_anew_of_the_same_content_costs_no_content(
    client: Client, served: Served
) -> None:
    await client.content()
    assert versions(await client.content("2")) == ["1.0.0", "2.0.0"]
    assert served.asked == ["metas", 'metas if not "one"']
    assert not await client.changed("2")


async def test_content_shows_in_which_digest_a_package_changed(
    client: Client, served: Served
) -> None:
    await client.content()
    served.blobs, served.etag = served.blobs[::-1], '"two"'
    assert not await client.changed("2"), "another order is no change"
    served.blobs, served.etag = package("p", "3.0.0"), '"three"'
    assert await client.changed("3")
    client.restart()
    assert await client.changed("3")
    assert versions(await client.content("3")) == ["3.0.0"]


async def test_a_comparison_shows_whether_this_very_content_was_known(client: Client) -> None:
    assert not (await client.client.compare(client.raw("1"), "p")).was_known
    client.restart()
    assert (await client.client.compare(client.raw("1"), "p")).was_known
    assert not (await client.client.compare(client.raw("2"), "p")).was_known


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicas, "PAUSE_SECONDS", 0.0)


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize("known", [True, False])
async def test_a_replica_that_is_behind_is_asked_again_over_another_connection(
    client: Client, served: Served, known: bool
) -> None:
    served.source = "1"
    if known:  # so that a replica that is behind answers that nothing changed
        await client.content("1")
    stale = Served(source="1", etag=served.etag, blobs=served.blobs)
    empty = Served(status=404)
    served.source, served.etag, served.blobs = "2", '"two"', package("p", "3.0.0")
    served.behind = [stale, empty, stale]
    assert versions(await client.content("2")) == ["3.0.0"]
    assert served.closed == 3
    client.restart()
    assert versions(await client.content("2")) == ["3.0.0"]


@pytest.mark.usefixtures("no_pause")
async def test_what_is_not_of_the_content_that_is_wanted_is_never_kept(
    client: Client, served: Served
) -> None:
    served.source = "1"
    await client.content("1")
    fault = (await client.content("2")).unavailable
    assert isinstance(fault, CatalogBehindError)
    assert f"its replicas serve sha256:{'1' * 64} and not yet sha256:{'2' * 64}" in fault.message
    assert len(served.asked) < 20
    assert versions(await client.content("1", serving=False)) == ["1.0.0", "2.0.0"]
    served.source, served.etag, served.blobs = "2", '"two"', package("p", "3.0.0")
    assert versions(await client.content("2")) == ["3.0.0"]


async def test_an_image_of_the_same_digest_elsewhere_is_the_same_content(
    client: Client, served: Served
) -> None:
    served.source = "1"
    raw = client.raw("1")
    raw["status"]["resolvedSource"]["image"]["ref"] = f"mirror/of@sha256:{'1' * 64}"
    (found,) = await client.client.contents([raw], "p")
    assert versions(found) == ["1.0.0", "2.0.0"]


async def test_upstreams_catalogd_without_metas_is_read_through_all(
    client: Client, served: Served
) -> None:
    served.metas = False
    assert versions(await client.content()) == ["1.0.0", "2.0.0"]
    assert served.asked == ["metas", "all"]
    assert versions(await client.content("2")) == ["1.0.0", "2.0.0"]
    assert served.asked[2:] == ['metas if not "one"', 'all if not "one"']


@pytest.mark.usefixtures("no_pause")
async def test_a_catalog_that_is_not_there_is_no_reason_to_read_all(
    client: Client, served: Served
) -> None:
    served.status = 404
    fault = (await client.content()).unavailable
    assert fault
    assert "its replicas serve nothing" in fault.message
    assert set(served.asked) == {"metas"}


async def test_an_absent_package_is_known_too(client: Client, served: Served) -> None:
    for _ in range(2):
        found = await client.content(package="nowhere")
        assert (found.package, found.unavailable) == (None, None)
    assert served.asked == ["metas"]


async def test_a_broken_package_is_reported_and_not_asked_for_again(
    client: Client, served: Served
) -> None:
    served.blobs = [{"schema": "olm.bundle", "package": "p", "name": 1}]
    for _ in range(2):
        found = await client.content()
        assert found.unavailable
        assert "expected a string" in found.unavailable.message
    assert served.asked == ["metas"]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"format":0}', b'{"format":1,"fingerprint":"x"}\n{}']
)
async def test_a_damaged_file_counts_as_absent(
    client: Client, served: Served, tmp_path: Path, damage: bytes
) -> None:
    await client.content()
    (file,) = (tmp_path / "catalogs" / "c").iterdir()
    file.write_bytes(damage)
    client.restart()
    assert versions(await client.content()) == ["1.0.0", "2.0.0"]
    assert served.asked == ["metas", "metas"]


async def test_files_hold_what_choosing_needs_and_go_with_the_catalog(
    client: Client, tmp_path: Path
) -> None:
    await client.content()
    (file,) = (tmp_path / "catalogs" / "c").iterdir()
    assert file.stat().st_size < 2000
    await client.client.forget("c")
    assert not (tmp_path / "catalogs" / "c").exists()
    await client.client.forget("c")


async def test_an_unreachable_catalogd_is_named_with_the_cause(
    client: Client, served: Served
) -> None:
    served.base = "http://127.0.0.1:1/catalogs/c"
    fault = (await client.content()).unavailable
    assert fault
    message = 'catalog "c" cannot be read from http://127.0.0.1:1/catalogs/c: connection refused'
    assert fault.message == message
    assert "--catalogd-cas-dir" in fault.hint


@pytest.mark.parametrize(
    ("base", "fault"),
    [
        ("http://evil.test:8080/catalogs/c", "anybody between evil.test:8080 and us"),
        ("ftp://evil.test/catalogs/c", "is no address of HTTPS"),
        ("https:///catalogs/c", "is no address of HTTPS"),
        ("https://h.test:port/catalogs/c", "is no address of HTTPS"),
        ("https://[h.test/catalogs/c", "is no address of HTTPS"),
    ],
)
async def test_what_is_no_https_is_not_asked(
    tmp_path: Path, served: Served, base: str, fault: str
) -> None:
    served.base = base
    asker = Client(tmp_path, served)
    asker.client = CatalogClient(CATALOGS, Catalogd(None), CatalogCache(tmp_path))
    refused = (await asker.content()).unavailable
    assert refused
    assert refused.message.startswith(f'catalog "c" is not read: its status.urls.base, {base}, ')
    assert fault in refused.message
    await asker.client.close()


async def test_who_serves_a_catalog_is_logged_when_that_changes(
    client: Client, served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "operator_controller")
    for package_name in ("p", "q"):
        await client.content(package=package_name)
    host = served.base.split("/")[2]
    assert [r.message for r in caplog.records] == [f'catalog "c" is read from {host}']
    served.base = served.base.replace("127.0.0.1", "localhost")
    await client.content("2")
    moved = f'catalog "c" is read from {host.replace("127.0.0.1", "localhost")}, until now {host}'
    assert (caplog.records[-1].message, caplog.records[-1].levelname) == (moved, "WARNING")


async def test_a_line_that_is_no_json_is_named(client: Client, served: Served) -> None:
    served.blobs = ["p"]  # type: ignore[list-item]
    served.answer = lambda *_: (200, b'{"package": "p"\n')  # type: ignore[method-assign]
    fault = (await client.content()).unavailable
    assert fault
    assert "it sent a line that is no JSON" in fault.message


async def test_memory_is_bounded(tmp_path: Path, served: Served) -> None:
    cache = CatalogCache(tmp_path / "c", max_bytes=1000)
    catalogd = Catalogd(None, allow_http=True)
    client = CatalogClient(CATALOGS, catalogd, cache)
    raw = Client(tmp_path, served).raw("1")
    served.blobs = [b for i in range(20) for b in package(f"p{i}", "1.0.0")]
    for i in range(20):
        (found,) = await client.contents([raw], f"p{i}")
        assert versions(found) == ["1.0.0"]
    assert cache._bytes <= 1000
    assert len(cache._memory) < 5
    (again,) = await client.contents([raw], "p0")
    assert versions(again) == ["1.0.0"]
    assert len(served.asked) == 20, "what left the memory is on disk"
    await client.close()


def test_catalogs_are_those_of_the_store(tmp_path: Path) -> None:
    store = PackedStore()
    client = CatalogClient(store, Catalogd(None), CatalogCache(tmp_path))
    with pytest.raises(NotSyncedError):
        client.list_catalogs()
    with pytest.raises(NotSyncedError):
        client.find_catalog("c")
    raw = {"metadata": {"name": "c", "resourceVersion": "3"}}
    store.replace([raw], "3")
    assert client.list_catalogs() == [raw]
    assert client.find_catalog("c") == raw
    assert client.find_catalog("d") is None
