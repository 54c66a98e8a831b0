"""`opm serve` over loopback: a client of the registry API, against the server itself."""

import base64
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from google.protobuf import descriptor_pb2, json_format
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

from olm_catalogs.io.cache import make_cache, open_cache
from olm_catalogs.io.messages import FORMAT
from olm_catalogs.io.server import make_server
from olm_catalogs.registry.answers import ANSWERS
from olm_catalogs.registry.registry_pb2 import DESCRIPTOR
from olm_runtime.errors import OLMError, TerminalError
from opm.__main__ import cli

METHODS = [each for service in DESCRIPTOR.services_by_name.values() for each in service.methods]
WIDGET = {"group": "example.com", "kind": "Widget", "version": "v1"}
CSV = {"kind": "ClusterServiceVersion", "metadata": {"name": "hello.v0.1.0"}}


def bundle(version: str, *extra: dict[str, Any], image: str = "example.com/b") -> dict[str, Any]:
    package = {"packageName": "hello", "version": version}
    return {
        "schema": "olm.bundle",
        "package": "hello",
        "name": f"hello.v{version}",
        "image": f"{image}:{version}" if image else "",
        "properties": [
            {"type": "olm.package", "value": package},
            {"type": "olm.gvk", "value": WIDGET},
            *extra,
        ],
        "relatedImages": [{"name": "app", "image": "example.com/app"}],
    }


def property_of(kind: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "value": value}


CATALOG: list[dict[str, Any]] = [
    {
        "schema": "olm.package",
        "name": "hello",
        "defaultChannel": "stable",
        "description": "Says <hello>",
        "icon": {"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"},
    },
    {
        "schema": "olm.channel",
        "package": "hello",
        "name": "stable",
        "entries": [
            {
                "name": "hello.v1.0.0",
                "replaces": "hello.v0.2.0",
                "skips": ["hello.v0.1.0", "hello.v0.0.1"],
                "skipRange": "<1.0.0",
            },
            {"name": "hello.v0.2.0", "replaces": "hello.v0.1.0"},
            {"name": "hello.v0.1.0"},
        ],
    },
    {
        "schema": "olm.channel",
        "package": "hello",
        "name": "candidate",
        "entries": [{"name": "hello.v0.1.0"}],
    },
    bundle(
        "1.0.0",
        property_of("olm.csv.metadata", {"displayName": "Hello", "annotations": {"b": "<1>"}}),
        property_of("olm.gvk.required", {"group": "g", "kind": "K", "version": "v2"}),
        property_of("olm.package.required", {"packageName": "db", "versionRange": ">=1 <2"}),
        property_of("example.com/weight", 1e21),
    ),
    bundle("0.2.0"),
    bundle(
        "0.1.0",
        property_of(
            "olm.bundle.object", {"data": base64.b64encode(json.dumps(CSV).encode()).decode()}
        ),
        property_of("olm.bundle.object", {"data": base64.b64encode(b"kind: Secret\n").decode()}),
        image="",
    ),
    {
        "schema": "olm.deprecations",
        "package": "hello",
        "entries": [
            {"reference": {"schema": "olm.package"}, "message": "package is old"},
            {"reference": {"schema": "olm.channel", "name": "candidate"}, "message": "use stable"},
            {"reference": {"schema": "olm.bundle", "name": "hello.v0.2.0"}, "message": "bug"},
        ],
    },
    {"schema": "example.notes", "package": "hello", "name": "a", "text": ["x", 1]},
]


def write(folder: Path, records: Iterable[dict[str, Any]] = CATALOG) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "catalog.json").write_text("\n".join(json.dumps(each) for each in records))
    return folder


class Client:
    """Calls methods by name; answers are lists of JSON objects."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    async def call(
        self, name: str, metadata: tuple[tuple[str, str], ...] = (), /, **fields: str
    ) -> list[dict[str, Any]]:
        method = next(each for each in METHODS if each.name == name)
        streams = method.server_streaming
        make = self.channel.unary_stream if streams else self.channel.unary_unary
        call = make(
            f"/{method.containing_service.full_name}/{name}",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )(GetMessageClass(method.input_type)(**fields), metadata=metadata)
        answers = [each async for each in call] if streams else [await call]
        return [json_format.MessageToDict(each) for each in answers]

    async def refusal(self, name: str, /, **fields: str) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(name, (("x-acknowledge-experimental", "true"),), **fields)
        return caught.value.code(), caught.value.details()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    source = write(tmp_path / "catalog")
    make_cache(tmp_path / "cache", source)
    server = make_server(open_cache(tmp_path / "cache", source))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Client(channel)
    await server.stop(None)


def test_every_method_has_an_answer() -> None:
    assert {method.name for method in METHODS} == ANSWERS.keys()


async def test_packages_with_channels_heads_and_deprecations(client: Client) -> None:
    assert await client.call("ListPackages") == [{"name": "hello"}]
    assert await client.call("GetPackage", name="hello") == [
        {
            "name": "hello",
            "channels": [
                {
                    "name": "candidate",
                    "csvName": "hello.v0.1.0",
                    "deprecation": {"message": "use stable"},
                },
                {"name": "stable", "csvName": "hello.v1.0.0"},
            ],
            "defaultChannelName": "stable",
            "deprecation": {"message": "package is old"},
        }
    ]


async def test_a_bundle_has_everything_but_what_it_updates(client: Client) -> None:
    asked = {"pkgName": "hello", "channelName": "stable"}
    (found,) = await client.call("GetBundle", **asked, csvName="hello.v1.0.0")
    assert [found] == await client.call("GetBundleForChannel", **asked)
    assert found.pop("object") == [found["csvJson"]]
    csv = found.pop("csvJson")
    assert csv.startswith('{"kind":"ClusterServiceVersion","apiVersion":"operators.coreos.com/v1')
    assert '"annotations":{"b":"\\u003c1\\u003e"}' in csv
    spec = json.loads(csv)["spec"]
    assert (spec["version"], spec["displayName"]) == ("1.0.0", "Hello")
    assert spec["description"] == "Says <hello>"
    assert spec["icon"] == [{"base64data": "PHN2Zy8+", "mediatype": "image/svg+xml"}]
    assert found == {
        "csvName": "hello.v1.0.0",
        "packageName": "hello",
        "channelName": "stable",
        "bundlePath": "example.com/b:1.0.0",
        "providedApis": [WIDGET],
        "requiredApis": [{"group": "g", "kind": "K", "version": "v2"}],
        "version": "1.0.0",
        "skipRange": "<1.0.0",
        "dependencies": [
            {"type": "olm.gvk", "value": '{"group":"g","kind":"K","version":"v2"}'},
            {"type": "olm.package", "value": '{"packageName":"db","version":">=1 <2"}'},
        ],
        "properties": [
            {"type": "olm.package", "value": '{"packageName":"hello","version":"1.0.0"}'},
            {"type": "olm.gvk", "value": json.dumps(WIDGET, separators=(",", ":"))},
            {"type": "olm.gvk.required", "value": '{"group":"g","kind":"K","version":"v2"}'},
            {
                "type": "olm.package.required",
                "value": '{"packageName":"db","versionRange":">=1 <2"}',
            },
            {"type": "example.com/weight", "value": "1e+21"},
        ],
    }


async def test_listed_bundles_have_objects_only_without_an_image(client: Client) -> None:
    found = await client.call("ListBundles")
    assert [(each["channelName"], each["csvName"]) for each in found] == [
        ("candidate", "hello.v0.1.0"),
        ("stable", "hello.v0.1.0"),
        ("stable", "hello.v0.2.0"),
        ("stable", "hello.v1.0.0"),
    ]
    assert found[0]["object"] == [json.dumps(CSV), '{"kind":"Secret"}']
    assert found[0]["csvJson"] == json.dumps(CSV)
    assert not {"object", "csvJson"} & found[3].keys()
    assert (found[3]["replaces"], found[3]["skips"]) == (
        "hello.v0.2.0",
        ["hello.v0.1.0", "hello.v0.0.1"],
    )
    assert found[2]["deprecation"] == {"message": "bug"}


async def test_what_replaces_a_bundle(client: Client) -> None:
    found = await client.call("GetChannelEntriesThatReplace", csvName="hello.v0.1.0")
    assert [(each["bundleName"], each["replaces"]) for each in found] == [
        ("hello.v0.2.0", "hello.v0.1.0"),
        ("hello.v1.0.0", "hello.v0.2.0"),
    ]
    asked = {"pkgName": "hello", "channelName": "stable"}
    for old, new in (("hello.v0.1.0", "hello.v0.2.0"), ("hello.v0.0.1", "hello.v1.0.0")):
        (replacement,) = await client.call("GetBundleThatReplaces", **asked, csvName=old)
        assert replacement["csvName"] == new


async def test_what_provides_a_kind(client: Client) -> None:
    everything = await client.call("GetChannelEntriesThatProvide", **WIDGET)
    assert len(everything) == 6
    latest = await client.call("GetLatestChannelEntriesThatProvide", **WIDGET)
    # Of what the head skips only what is in the channel; upstream lists all above.
    assert [(each["channelName"], each.get("replaces", "")) for each in latest] == [
        ("candidate", ""),
        ("stable", "hello.v0.2.0"),
        ("stable", "hello.v0.1.0"),
    ]
    (default,) = await client.call("GetDefaultBundleThatProvides", **WIDGET)
    assert (default["channelName"], default["csvName"]) == ("stable", "hello.v1.0.0")


@pytest.mark.parametrize(
    ("method", "fields", "words"),
    [
        ("GetPackage", {"name": "x"}, 'package "x" not found'),
        (
            "GetBundle",
            {"pkgName": "hello", "channelName": "x"},
            'package "hello", channel "x" not found',
        ),
        (
            "GetBundle",
            {"pkgName": "hello", "channelName": "stable", "csvName": "y"},
            'package "hello", channel "stable", bundle "y" not found',
        ),
        ("GetBundleThatReplaces", {"pkgName": "x"}, "package x not found"),
        (
            "GetBundleThatReplaces",
            {"pkgName": "hello", "channelName": "stable", "csvName": "hello.v1.0.0"},
            'no entry found for package "hello", channel "stable"',
        ),
        (
            "GetChannelEntriesThatReplace",
            {"csvName": "x"},
            "no channel entries found that replace x",
        ),
        (
            "GetDefaultBundleThatProvides",
            {"kind": "X"},
            'no channel entries found that provide group:"" version:"" kind:"X"',
        ),
    ],
)
async def test_refusals_are_upstreams(
    client: Client, method: str, fields: dict[str, str], words: str
) -> None:
    assert await client.refusal(method, **fields) == (grpc.StatusCode.UNKNOWN, words)


async def test_other_schemas_for_those_who_acknowledge(client: Client) -> None:
    method = "ExperimentalListPackageCustomSchemas"
    asked = {"schema": "example.notes", "packageName": "hello"}
    assert await client.call(method, **asked) == []
    acknowledged = (("x-acknowledge-experimental", "true"),)
    assert await client.call(method, acknowledged, **asked) == [CATALOG[-1]]
    assert await client.call(method, acknowledged, schema="example.notes") == []
    refusal = await client.refusal(method, schema="/")
    assert refusal[0] is grpc.StatusCode.INVALID_ARGUMENT


async def test_health_and_reflection(client: Client) -> None:
    check = client.channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
        response_deserializer=health_pb2.HealthCheckResponse.FromString,
    )
    answer = await check(health_pb2.HealthCheckRequest(service="api.Registry"))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    for version in ("v1", "v1alpha"):
        ask = client.channel.stream_stream(
            f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        request = reflection_pb2.ServerReflectionRequest
        requests = [request(list_services=""), request(file_containing_symbol="api.Registry")]
        services, files = [each async for each in ask(iter(requests))]
        assert "api.Registry" in [each.name for each in services.list_services_response.service]
        described = [
            descriptor_pb2.FileDescriptorProto.FromString(each)
            for each in files.file_descriptor_response.file_descriptor_proto
        ]
        assert "registry.proto" in [each.name for each in described]


def opm(*arguments: Any) -> Any:
    return CliRunner().invoke(cli, ["serve", *map(str, arguments)])


def test_the_cache_is_stored_and_checked(tmp_path: Path) -> None:
    source, cache = write(tmp_path / "catalog"), tmp_path / "cache"
    missing = opm(source, "--cache-dir", cache)
    assert "there is no cache" in missing.exception.message
    assert opm(source, "--cache-dir", cache, "--cache-only").exit_code == 0
    made = (cache / FORMAT / "bundles").stat()
    assert opm(source, f"--cache-dir={cache}", "--cache-only").exit_code == 0
    assert (cache / FORMAT / "bundles").stat().st_ino == made.st_ino
    write(source, [*CATALOG, {"schema": "new"}])
    refused = opm(source, "--cache-dir", cache, "--cache-only", "--cache-enforce-integrity")
    assert "was not made of" in refused.exception.message
    again = opm(source, "--cache-dir", cache, "--cache-enforce-integrity=false", "--cache-only")
    assert again.exit_code == 0
    assert open_cache(cache, source).index.packages.keys() == {"hello"}


@pytest.mark.parametrize("name", ["bundles", "index.json"])
def test_a_cache_that_was_changed_is_refused(tmp_path: Path, name: str) -> None:
    source, cache = write(tmp_path / "catalog"), tmp_path / "cache"
    make_cache(cache, source)
    file = cache / FORMAT / name
    file.write_bytes(file.read_bytes()[:-1] + b" ")
    with pytest.raises(TerminalError, match="changed since"):
        open_cache(cache, source)


def test_faults_are_reported_also_to_the_kubelet(tmp_path: Path) -> None:
    source, word = write(tmp_path / "catalog", CATALOG[:2]), tmp_path / "word"
    result = opm(source, "--cache-only", "-t", word)
    assert isinstance(result.exception, OLMError)
    assert "no olm.bundle blobs found" in result.exception.message
    assert "no olm.bundle blobs found" in word.read_text()
    assert list(tmp_path.glob("cache*")) == []


def test_an_empty_catalog_is_served(tmp_path: Path) -> None:
    source = write(tmp_path / "catalog", [])
    make_cache(tmp_path / "cache", source)
    assert open_cache(tmp_path / "cache", source).index.packages == {}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("none",), "no such directory"),
        ((".", "--cache-enforce-integrity"), "--cache-dir must be specified"),
        ((".", "--cache-only=maybe"), ""),
    ],
)
def test_wrong_arguments(arguments: tuple[str, ...], fault: str) -> None:
    result = opm(*arguments)
    assert result.exit_code != 0
    assert fault in getattr(result.exception, "message", "")
