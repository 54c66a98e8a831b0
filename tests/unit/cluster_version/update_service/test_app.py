"""The application, asked as a server would ask it."""

import asyncio
import gzip
import threading
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import httpx
import pytest
import pytest_asyncio

from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.update_service.app import PIECE_BYTES, graph_app
from cluster_version.update_service.counts import Counts
from cluster_version.update_service.graphs import ServedGraphs

STABLE = {"channel": "stable-4.1", "arch": "amd64", "id": "x", "version": "4.1.0"}
PATH = "/api/upgrades_info/v1/graph"


def graphs(*versions: str) -> UpdateGraphs:
    releases = [GraphRelease(each, "amd64", f"r.test/r:{each}") for each in versions]
    return UpdateGraphs(releases, {"stable-4.1": versions}, ())


@pytest.fixture
def served() -> ServedGraphs:
    return ServedGraphs()


@pytest.fixture
def counts() -> Counts:
    return Counts()


@pytest_asyncio.fixture
async def client(served: ServedGraphs, counts: Counts) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(graph_app(served, counts, "/api/upgrades_info"))
    async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
        yield client


@pytest.mark.parametrize("path", ["/graph", "/v1/graph", "/api/upgrades_info/graph", PATH])
async def test_the_graph_is_at_all_paths(
    client: httpx.AsyncClient, served: ServedGraphs, path: str
) -> None:
    await served.replace(lambda: graphs("4.1.0"))
    answer = await client.get(path, params=STABLE)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert [each["version"] for each in answer.json()["nodes"]] == ["4.1.0"]
    assert (await client.head(path, params=STABLE)).headers["content-length"] == str(
        len(answer.content)
    )


@pytest.mark.parametrize(
    ("params", "kind", "value"),
    [
        ({}, "missing_params", "mandatory client parameters missing: channel"),
        (
            {"channel": "Stable"},
            "invalid_params",
            "invalid client parameters: channel 'Stable' does not match regex '^[0-9a-z\\-\\.]+$'",
        ),
        ({"channel": ""}, "invalid_params", None),
        ({"channel": "a\n"}, "invalid_params", None),
        (
            {"channel": "a", "arch": "arm-64"},
            "invalid_params",
            "invalid client parameters: arch 'arm-64' does not match regex '^[0-9a-z]+$'",
        ),
    ],
)
async def test_bad_parameters_are_refused(
    client: httpx.AsyncClient,
    counts: Counts,
    params: dict[str, str],
    kind: str,
    value: str | None,
) -> None:
    answer = await client.get(PATH, params=params)
    assert (answer.status_code, answer.json()["kind"]) == (400, kind)
    assert value is None or answer.json()["value"] == value
    assert counts.refused == {(400, kind): 1}
    assert counts.requests == 1


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("application/*;q=0.5", "application/json"),
        ("text/html, application/json;q=0.9", "application/json"),
        ("application/vnd.redhat.cincinnati.v1+json", "application/vnd.redhat.cincinnati.v1+json"),
        ("text/html", None),
        ("application/json;q=0", None),
        ("application/vnd.redhat.cincinnati.v2+json", None),
    ],
)
async def test_the_media_type_is_the_one_accepted(
    client: httpx.AsyncClient, served: ServedGraphs, accept: str, media_type: str | None
) -> None:
    await served.replace(lambda: graphs("4.1.0"))
    answer = await client.get(PATH, params=STABLE, headers={"accept": accept})
    if media_type is None:
        assert answer.status_code == 406
        assert answer.json() == {
            "kind": "invalid_content_type",
            "value": "invalid Content-Type requested",
        }
    else:
        assert answer.headers["content-type"] == media_type


async def test_before_the_first_graph_there_is_none(client: httpx.AsyncClient) -> None:
    answer = await client.get(PATH, params=STABLE)
    assert (answer.status_code, answer.json()["kind"]) == (503, "graph_not_ready")


async def test_other_pages_and_methods_are_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/other")
    assert (answer.status_code, answer.json()["kind"]) == (404, "does_not_exist")
    answer = await client.post(PATH, params=STABLE)
    assert (answer.status_code, answer.json()["kind"]) == (405, "method_not_allowed")


async def test_a_fault_of_the_service_has_the_form_of_an_error(
    served: ServedGraphs, counts: Counts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(served, "answer", fail)
    transport = httpx.ASGITransport(graph_app(served, counts, ""), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service.test") as client:
        answer = await client.get("/graph", params=STABLE)
    assert (answer.status_code, answer.json()["kind"]) == (500, "internal_error")
    assert counts.refused == {(500, "internal_error"): 1}


async def test_a_known_graph_is_not_sent_again(
    client: httpx.AsyncClient, served: ServedGraphs
) -> None:
    await served.replace(lambda: graphs("4.1.0"))
    tag = (await client.get(PATH, params=STABLE)).headers["etag"]
    known = {"if-none-match": tag}
    assert (await client.get(PATH, params=STABLE, headers=known)).status_code == 304
    await served.replace(lambda: graphs("4.1.0", "4.1.1"))
    assert (await client.get(PATH, params=STABLE, headers=known)).status_code == 200
    other = {"if-match": tag}
    assert (await client.get(PATH, params=STABLE, headers=other)).status_code == 412


async def test_a_large_graph_is_compressed(client: httpx.AsyncClient, served: ServedGraphs) -> None:
    await served.replace(lambda: graphs(*(f"4.1.{number}" for number in range(100))))
    plain = await client.get(PATH, params=STABLE, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    async with client.stream("GET", PATH, params=STABLE) as answer:
        sent = b"".join([piece async for piece in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(sent) == plain.content
    assert answer.headers["etag"] != plain.headers["etag"]


async def test_the_old_graph_is_served_until_the_new_is_there(
    client: httpx.AsyncClient, served: ServedGraphs
) -> None:
    await served.replace(lambda: graphs("4.1.0"))
    begun, go_on = threading.Event(), threading.Event()

    def build() -> UpdateGraphs:
        begun.set()
        assert go_on.wait(60)
        return graphs("4.1.0", "4.1.1")

    replacing = asyncio.ensure_future(served.replace(build))
    await asyncio.to_thread(begun.wait, 60)
    assert len((await client.get(PATH, params=STABLE)).json()["nodes"]) == 1
    go_on.set()
    await replacing
    assert len((await client.get(PATH, params=STABLE)).json()["nodes"]) == 2


async def test_many_who_ask_at_once_have_one_answer_made(served: ServedGraphs) -> None:
    await served.replace(lambda: graphs("4.1.0"))
    answers = await asyncio.gather(*(served.answer(("stable-4.1", "amd64")) for _ in range(20)))
    assert len({id(each) for each in answers}) == 1


async def test_the_interface_is_described(client: httpx.AsyncClient) -> None:
    paths = (await client.get("/openapi")).json()["paths"]
    assert set(paths) == {"/graph", "/v1/graph"}
    names = [each["name"] for each in paths["/graph"]["get"]["parameters"]]
    assert names == ["channel", "arch", "version", "id"]


async def test_a_large_graph_is_sent_in_pieces(served: ServedGraphs, counts: Counts) -> None:
    """So that a client that does not read holds up little."""
    await served.replace(lambda: graphs(*(f"4.1.{number}" for number in range(3000))))
    app, sent = graph_app(served, counts, ""), []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(len(message.get("body", b"")))

    query = "&".join(f"{name}={value}" for name, value in STABLE.items()).encode()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/graph",
        "query_string": query,
        "headers": [],
    }
    await app(scope, receive, send)
    assert max(sent) <= PIECE_BYTES < sum(sent)
