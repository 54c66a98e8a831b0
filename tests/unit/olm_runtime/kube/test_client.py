"""The client against a server that answers what a test wants: faults a real one rarely shows."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from api.objects import CRD_KIND, GVK
from olm_runtime.kube import transport
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.discovery import Resource, api_version_of
from olm_runtime.kube.errors import (
    ApiError,
    GoneError,
    InvalidError,
    NoMatchError,
    NotFoundError,
)
from tests.cycles import never_looked_for

THING = GVK("example.com", "v1", "Thing")
ROOT = "/apis/example.com/v1"
THINGS = f"{ROOT}/namespaces/ns/things"

Answer = Callable[[web.Request], web.StreamResponse]


class Access(ClusterAccess):
    """Reaches a server without TLS."""

    def tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


def status(code: int, reason: str, message: str = "no") -> web.Response:
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return web.json_response(body, status=code)


def discovery(
    *, plural: str = "things", namespaced: bool = True, kind: str = "Thing"
) -> web.Response:
    resources = [
        {"kind": kind, "name": plural, "namespaced": namespaced},
        {"kind": "Scale", "name": f"{plural}/scale", "namespaced": namespaced},
    ]
    return web.json_response({"kind": "APIResourceList", "resources": resources})


@pytest.fixture(
    params=[KubeClient.connect, KubeClient.briefly],
    ids=["of programs", "of commands"],
    autouse=True,
)
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What both ways to send requests have in common is tested of both."""
    monkeypatch.setattr(KubeClient, "connect", request.param)


@asynccontextmanager
async def served(**answers: Answer) -> AsyncIterator[KubeClient]:
    """A client of a server with answers by method and path (`GET /x`)."""
    app = web.Application()

    async def answer(request: web.Request) -> web.StreamResponse:
        known = answers.get(f"{request.method} {request.path}")
        return known(request) if known is not None else status(404, "NotFound")

    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        access = Access(server=str(server.make_url("")).rstrip("/"))
        async with KubeClient.connect(access) as client:
            yield client


def in_turn(*answers: web.StreamResponse) -> Answer:
    rest = list(answers)
    return lambda _: rest.pop(0)


async def test_too_many_requests_are_sent_again_as_the_server_asks() -> None:
    later = [web.Response(status=429, headers={"Retry-After": "0"}) for _ in range(2)]
    get = in_turn(*later, web.json_response({"metadata": {"name": "a"}}))
    async with served(**{f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}/a": get}) as client:
        found = await client.get(THING, "a", "ns")
    assert found["metadata"]["name"] == "a"


async def test_a_server_that_is_always_too_busy_is_an_error() -> None:
    busy = [web.Response(status=429, headers={"Retry-After": "0"}) for _ in range(transport.TRIES)]
    get = in_turn(*busy)
    async with served(**{f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}/a": get}) as client:
        with pytest.raises(ApiError, match="the API server answered 429"):
            await client.get(THING, "a", "ns")


async def test_an_answer_that_is_no_json_is_an_error_of_ours() -> None:
    def broken(_: web.Request) -> web.Response:
        return web.Response(body=b'{"metadata": ')

    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}/a": broken}
    async with served(**answers) as client:
        with pytest.raises(ApiError, match="the API server's answer cannot be read"):
            await client.get(THING, "a", "ns")


async def test_a_server_that_is_not_there_is_an_error_of_ours() -> None:
    async with KubeClient.connect(Access(server="http://127.0.0.1:1")) as client:
        with pytest.raises(ApiError) as raised:
            await client.get(THING, "a", "ns")
    assert raised.value.message == "cannot reach the API server: 127.0.0.1:1: connection refused"
    assert raised.value.hint.startswith("see that it runs")


async def test_a_list_whose_pages_grew_too_old_is_read_again_in_one_piece() -> None:
    asked: list[dict[str, str]] = []

    def pages(request: web.Request) -> web.Response:
        asked.append(dict(request.query))
        if "continue" in request.query:
            return status(410, "Expired")
        first = "limit" in request.query
        names = ["a"] if first else ["a", "b"]
        meta = {"resourceVersion": "7", **({"continue": "next"} if first else {})}
        items = [{"metadata": {"name": name}} for name in names]
        return web.json_response({"metadata": meta, "items": items})

    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}": pages}
    async with served(**answers) as client:
        items, version = await client.list_all(THING, "ns", labels="x=y")
    assert [item["metadata"]["name"] for item in items] == ["a", "b"]
    assert version == "7"
    assert [q.get("continue") for q in asked] == [None, "next", None]
    assert all(q["labelSelector"] == "x=y" for q in asked)


async def test_a_kind_that_is_served_elsewhere_now_is_discovered_again() -> None:
    """A CRD was deleted and made again with another scope: the old address must be forgotten."""
    found = web.json_response({"metadata": {"name": "a"}})
    answers: dict[str, Answer] = {
        f"GET {ROOT}": in_turn(discovery(), discovery(namespaced=False)),
        f"GET {THINGS}/a": lambda _: web.Response(status=404, text="404 page not found"),
        f"GET {ROOT}/things/a": lambda _: found,
    }
    async with served(**answers) as client:
        with pytest.raises(NotFoundError):
            await client.get(THING, "a", "ns")
        assert (await client.get(THING, "a", "ns"))["metadata"]["name"] == "a"


@pytest.mark.parametrize(
    "body",
    ["well", "[]", '{"resources": [{}]}', '{"resources": 1}', '{"resources": [{"name": 1}]}'],
)
async def test_an_api_service_that_does_not_say_what_it_serves_is_an_error_of_ours(
    body: str,
) -> None:
    """It is anybody's, and its answer comes as it is."""
    async with served(**{f"GET {ROOT}": lambda _: web.Response(text=body)}) as client:
        with pytest.raises(ApiError, match="does not say which kinds it serves"):
            await client.get(THING, "a", "ns")


async def test_a_missing_object_does_not_cost_another_discovery() -> None:
    discoveries: list[str] = []

    def discover(request: web.Request) -> web.Response:
        discoveries.append(request.path)
        return discovery()

    async with served(**{f"GET {ROOT}": discover}) as client:
        for _ in range(3):
            assert await client.find(THING, "a", "ns") is None
    assert discoveries == [ROOT]


async def test_a_command_asks_where_a_kind_lives_only_if_some_server_may_lack_it(
    request: pytest.FixtureRequest,
) -> None:
    asked: list[str] = []

    def answer(path: str, found: object) -> tuple[str, Answer]:
        def noted(request: web.Request) -> web.Response:
            asked.append(request.path)
            return web.json_response(found)

        return f"GET {path}", noted

    maps, pods = "/api/v1/namespaces/ns/configmaps/a", "/api/v1/namespaces/ns/pods/a"
    listed = [
        {"kind": kind, "name": plural, "namespaced": True}
        for kind, plural in (("ConfigMap", "configmaps"), ("Pod", "pods"))
    ]
    answers = dict([answer("/api/v1", {"resources": listed}), answer(maps, {}), answer(pods, {})])
    async with served(**answers) as client:
        for kind in ("ConfigMap", "Pod", "ConfigMap"):
            await client.get(GVK("", "v1", kind), "a", "ns")
    if "of commands" in request.node.name:
        assert asked == [maps, "/api/v1", pods, maps]
    else:
        assert asked == ["/api/v1", maps, pods, maps]


@pytest.mark.parametrize("plural", ["things", "others"])
async def test_many_who_want_to_know_a_kind_discover_it_once(plural: str) -> None:
    """Also where nobody serves it."""
    discoveries: list[str] = []

    def discover(request: web.Request) -> web.Response:
        discoveries.append(request.path)
        return discovery(plural=plural, kind=plural.title().removesuffix("s"))

    async with served(**{f"GET {ROOT}": discover}) as client:
        found = await asyncio.gather(*(client.find(THING, f"a{n}", "ns") for n in range(20)))
    assert found == [None] * 20
    assert discoveries == [ROOT]


async def test_a_group_is_forgotten_with_its_definition_and_when_nobody_serves_it() -> None:
    """Else a program that installs and uninstalls for months would keep each group it has seen."""
    definitions = "/apis/apiextensions.k8s.io/v1"
    crds = {"kind": CRD_KIND, "name": "customresourcedefinitions", "namespaced": False}
    name = {"name": "things.example.com"}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": CRD_KIND, "metadata": name}
    answers: dict[str, Answer] = {
        f"GET {ROOT}": in_turn(discovery(), *[status(404, "NotFound") for _ in range(2)]),
        f"GET {definitions}": lambda _: web.json_response({"resources": [crds]}),
        f"DELETE {definitions}/customresourcedefinitions/things.example.com": lambda _: (
            web.json_response({"kind": "Status"})
        ),
    }
    async with served(**answers) as client:
        await client.resource(THING)
        await client.delete(crd)
        thing = {"apiVersion": THING.api_version, "kind": THING.kind, "metadata": {"name": "a"}}
        assert await client.delete(thing) is None, "it is gone with its kind"
        assert THING.api_version not in client._mapper._discovered
        with pytest.raises(NoMatchError):
            await client.resource(THING)
        assert THING.api_version not in client._mapper._discovered
        assert not client._mapper._asking


async def test_a_kind_that_nobody_serves_is_not_found_by_name() -> None:
    async with served() as client:
        with pytest.raises(NotFoundError, match='no matches for kind "Thing" in version "example'):
            await client.get(THING, "a", "ns")


async def test_an_object_without_the_namespace_of_its_kind_is_refused_with_its_name() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}}
    async with served(**{f"GET {ROOT}": lambda _: discovery()}) as client:
        for call in (
            client.create(obj, field_manager="m"),
            client.apply(obj, field_manager="m"),
            client.delete(obj),
        ):
            with pytest.raises(InvalidError, match='Thing "a" names no namespace'):
                await call


def watching(*lines: bytes) -> Answer:
    return lambda _: web.Response(body=b"".join(lines))


def event(kind: str, **metadata: str) -> bytes:
    obj = {"kind": "PartialObjectMetadata", "metadata": metadata}
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"


async def test_events_of_any_length_in_any_pieces_are_read_whole() -> None:
    long = "x" * 300_000
    stream = event("ADDED", name="a", note=long) + event("MODIFIED", name="a")
    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}": watching(stream)}
    async with served(**answers) as client:
        seen = [e async for e in client.watch(THING, "ns", resource_version="1")]
    assert [e["type"] for e in seen] == ["ADDED", "MODIFIED"]
    assert seen[0]["object"]["metadata"]["note"] == long
    assert seen[0]["object"]["kind"] == "Thing"


async def test_a_bookmark_passes_with_its_version() -> None:
    stream = event("BOOKMARK", resourceVersion="9")
    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}": watching(stream)}
    async with served(**answers) as client:
        [seen] = [e async for e in client.watch(THING, "ns", resource_version="1")]
    assert (seen["type"], seen["object"]["metadata"]) == ("BOOKMARK", {"resourceVersion": "9"})


async def test_an_event_that_says_gone_is_a_gone_error() -> None:
    gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}
    answers = {
        f"GET {ROOT}": lambda _: discovery(),
        f"GET {THINGS}": watching(event("ADDED", name="a"), orjson.dumps(gone) + b"\n"),
    }
    async with served(**answers) as client:
        with pytest.raises(GoneError):
            async for _ in client.watch(THING, "ns", resource_version="1"):
                pass


async def test_a_watch_that_ends_in_rubbish_is_an_error_of_ours() -> None:
    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}": watching(b"{rubbish\n")}
    async with served(**answers) as client:
        with pytest.raises(ApiError, match="watch of Thing was cut"):
            async for _ in client.watch(THING, "ns", resource_version="1"):
                pass


class Cut(web.StreamResponse):
    """An answer that ends amid its content."""

    async def write_eof(self, data: bytes = b"") -> None:
        await self.write(event("ADDED", name="a"))
        assert self._req is not None
        assert self._req.transport is not None
        self._req.transport.abort()


async def test_a_watch_that_was_cut_is_gone_at_once() -> None:
    answers = {f"GET {ROOT}": lambda _: discovery(), f"GET {THINGS}": lambda _: Cut()}

    async def end(client: KubeClient) -> str:
        try:
            async for _ in client.watch(THING, "ns", resource_version="1"):
                pass
        except ApiError as error:
            return error.message
        return "the server ended it"

    with never_looked_for() as more_of:
        async with served(**answers) as client, asyncio.timeout(10):
            assert (await end(client)).startswith("watch of Thing was cut: Response payload")
            while more_of(aiohttp.ClientPayloadError):  # noqa: ASYNC110 - its connection closes
                await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("gvk", "namespaced", "arguments", "expected"),
    [
        pytest.param(GVK("", "v1", "Pod"), True, ("ns", "a"), "/api/v1/namespaces/ns/pods/a"),
        pytest.param(GVK("", "v1", "Pod"), True, (), "/api/v1/pods"),
        pytest.param(GVK("", "v1", "Node"), False, ("ns", "a"), "/api/v1/nodes/a"),
        pytest.param(
            GVK("apps", "v1", "Deployment"),
            True,
            ("ns", "a", "status"),
            "/apis/apps/v1/namespaces/ns/deployments/a/status",
        ),
    ],
)
def test_paths(gvk: GVK, *, namespaced: bool, arguments: tuple[str, ...], expected: str) -> None:
    resource = Resource(gvk, f"{gvk.kind.lower()}s", namespaced)
    assert resource.path(*arguments) == expected
    assert api_version_of(expected) == gvk.api_version


async def test_clients_of_the_same_identity_are_equal() -> None:
    nowhere = ClusterAccess(server="https://127.0.0.1:1")
    async with KubeClient.connect(nowhere) as client, KubeClient.connect(nowhere) as another:
        account = client.as_service_account("ns", "installer")
        assert account == client.as_service_account("ns", "installer")
        assert hash(account) == hash(client.as_service_account("ns", "installer"))
        others = [
            client,
            client.as_service_account("ns", "other"),
            another.as_service_account("ns", "installer"),
            account.with_warning_handler(print),
        ]
        assert account not in others
        assert account != "installer"
