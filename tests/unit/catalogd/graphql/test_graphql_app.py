"""The GraphQL endpoint: its refusals, in upstream's words, and answers from what is served."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from catalogd.http import graphql as endpoint
from catalogd.http.app import content_app
from catalogd.io.content import Content, open_content
from catalogd.io.store import Serving
from catalogd.io.writer import write_content
from catalogd.metrics import Metrics
from olm_catalogs.io.versions import CorruptContentError, prepare_version, publish_version
from olm_catalogs.stored import Stored
from olm_content.fbc.documents import Blob

PATH = "/catalogs/shop/api/v1/graphql"
SUMMARY = {"query": "{ summary { totalSchemas } }"}


def blob(schema: str, package: str, name: str, **more: Any) -> Blob:
    raw = orjson.dumps({"schema": schema, "package": package, "name": name, **more})
    return Blob(schema, package, name, raw)


BLOBS = [
    blob("olm.package", "", "till", defaultChannel="stable"),
    *(blob("olm.bundle", "till", f"till.v{n}", image=f"registry.test/till:{n}") for n in range(3)),
    blob("olm.bundle", "shop", "shop.v1"),
]


def write(folder: Path, blobs: list[Blob], *, shaped: bool = True) -> Path:
    work = prepare_version(folder)
    manifest = write_content(blobs, work, shaped=shaped)
    publish_version(work, manifest.version)
    return folder / manifest.version


def serving(folder: Path, blobs: list[Blob]) -> Serving:
    content: Content = open_content(write(folder, blobs), verify=True, shaped=True)
    source = f"registry.test/shop@sha256:{'1' * 64}"
    stored = Stored(
        version=content.manifest.version,
        source=source,
        requested=source,
        uid="u",
        generation=1,
        unpacked=1_700_000_000,
        polled=1.0,
    )
    return Serving(stored, content)


class Client:
    """Asks the application as a client would."""

    def __init__(self, served: dict[str, Serving], *, graphql: bool = True) -> None:
        self.metrics = Metrics()
        app = content_app(served.get, self.metrics, metas=True, graphql=graphql)
        self._transport = httpx.ASGITransport(app)

    async def post(self, body: Any, path: str = PATH, method: str = "POST") -> httpx.Response:
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        async with httpx.AsyncClient(
            transport=self._transport, base_url="https://catalogd"
        ) as client:
            return await client.request(method, path, content=content)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client({"shop": serving(tmp_path, BLOBS)})


async def test_queries_are_answered_from_the_catalog(client: Client) -> None:
    found = await client.post(
        {"query": '{ olmbundles(package: "till", offset: 1) { name image } olmpackages { name } }'}
    )
    assert (found.status_code, found.headers["content-type"]) == (200, "application/json")
    assert found.json() == {
        "data": {
            "olmbundles": [
                {"name": "till.v1", "image": "registry.test/till:1"},
                {"name": "till.v2", "image": "registry.test/till:2"},
            ],
            "olmpackages": [{"name": "till"}],
        }
    }


async def test_of_several_operations_the_named_one_is_answered(client: Client) -> None:
    query = (
        "query one { olmpackages { name } } query two($n: Int) { olmbundles(limit: $n) { name } }"
    )
    body = {"query": query, "operationName": "two", "variables": {"n": 1}, "extensions": {}}
    assert (await client.post(body)).json() == {"data": {"olmbundles": [{"name": "till.v0"}]}}


async def test_errors_of_a_query_are_answers(client: Client) -> None:
    found = await client.post({"query": "{ nosuch }"})
    assert found.status_code == 200
    assert found.json()["errors"][0]["message"] == "Cannot query field 'nosuch' on type 'Query'."


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "Invalid request body"),
        (b"{", "Invalid request body"),
        (b"[]", "Invalid request body"),
        (b'{"query": 1}', "Invalid request body"),
        (b'{"query": null}', "Invalid request body"),
        (b'{"query": "{ a }", "variables": []}', "Invalid request body"),
        (b'{"query": "\xff"}', "Invalid request body"),
        (b'{"variables": {"a": ' + b"[" * 9000 + b"]" * 9000 + b"}}", "Invalid request body"),
        (b'{"query": "' + b" " * (1 << 20) + b'"}', "Invalid request body"),
        (b"{}", "Query cannot be empty"),
        (b'{"query": ""}', "Query cannot be empty"),
        (b'{"query": "' + b" " * 100_001 + b'"}', "Query too large"),
    ],
)
async def test_bodies_that_are_no_query_are_refused(client: Client, body: bytes, text: str) -> None:
    found = await client.post(body)
    assert (found.status_code, found.text) == (400, f"{text}\n")
    assert found.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "method", "status", "text"),
    [
        ("/catalogs/none/api/v1/graphql", "POST", 404, "404 Not Found\n"),
        (PATH, "GET", 405, "Method Not Allowed\n"),
        ("/catalogs/shop/api/v2/api/v1/graphql", "POST", 404, "404 page not found\n"),
    ],
)
async def test_other_requests_are_refused_as_the_content_endpoints_do(
    client: Client, path: str, method: str, status: int, text: str
) -> None:
    found = await client.post(SUMMARY, path, method)
    assert (found.status_code, found.text) == (status, text)


async def test_names_that_no_catalog_can_have_are_reported(client: Client) -> None:
    found = await client.post(SUMMARY, "/catalogs/A_b/api/v1/graphql")
    assert found.status_code == 400
    assert found.text.startswith("invalid catalog name: ")


async def test_without_its_gate_there_is_no_such_page(tmp_path: Path) -> None:
    client = Client({"shop": serving(tmp_path, BLOBS)}, graphql=False)
    found = await client.post(SUMMARY)
    assert (found.status_code, found.text) == (404, "404 page not found\n")


async def test_the_content_that_is_served_answers_not_what_was(tmp_path: Path) -> None:
    served = {"shop": serving(tmp_path / "old", BLOBS)}
    client = Client(served)
    asked = {"query": "{ olmbundles { name } }"}
    first = (await client.post(asked)).json()["data"]["olmbundles"]
    assert (await client.post(asked)).json()["data"]["olmbundles"] == first
    served["shop"].content.retire()
    served["shop"] = serving(tmp_path / "new", [blob("olm.bundle", "till", "till.v9")])
    assert (await client.post(asked)).json()["data"]["olmbundles"] == [{"name": "till.v9"}]


async def test_many_queries_at_once_are_all_answered(client: Client) -> None:
    asked = [{"query": f'{{ olmbundles(name: "till.v{n % 3}") {{ name }} }}'} for n in range(30)]
    found = await asyncio.gather(*map(client.post, asked))
    names = [each.json()["data"]["olmbundles"][0]["name"] for each in found]
    assert names == [f"till.v{n % 3}" for n in range(30)]


async def test_what_takes_longer_than_others_may_wait_goes_on_in_a_thread(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    await client.post(SUMMARY)
    monkeypatch.setattr(endpoint, "SHORT_SECONDS", -1.0)
    found = (await client.post({"query": '{ olmbundles(package: "till") { name } }'})).json()
    assert found == {"data": {"olmbundles": [{"name": f"till.v{n}"} for n in range(3)]}}


async def test_objects_that_are_too_large_are_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_OBJECT_BYTES", 70)
    found = (await client.post({"query": "{ olmbundles { name } }"})).json()
    assert found["data"] == {"olmbundles": None}
    assert found["errors"][0]["message"] == "an object of olm.bundle is larger than 70 bytes"


async def test_the_cache_of_answers_is_bounded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_CACHED_BYTES", 1000)
    for n in range(50):
        query = f'{{ olmbundles(name: "till.v{n}") {{ name }} }}'
        found = await client.post({"query": query})
        assert found.json()["data"]["olmbundles"] == ([{"name": f"till.v{n}"}] if n < 3 else [])


async def test_queries_are_counted(client: Client) -> None:
    await client.post(SUMMARY)
    await client.post(b"{")
    assert set(client.metrics.requests) == {200, 400}


def test_content_that_was_written_without_a_shape_is_fetched_again(tmp_path: Path) -> None:
    folder = write(tmp_path, BLOBS, shaped=False)
    open_content(folder, verify=True)
    with pytest.raises(CorruptContentError):
        open_content(folder, verify=True, shaped=True)


def test_a_shape_that_was_changed_is_noticed(tmp_path: Path) -> None:
    folder = write(tmp_path, BLOBS)
    (folder / "graphql-schema.json").write_bytes(b'{"format":1,"schemas":{}}')
    with pytest.raises(CorruptContentError):
        open_content(folder, verify=True, shaped=True)
