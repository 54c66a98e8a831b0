"""Catalog images of a real registry, served by this process as `opm serve` would serve each."""

import asyncio
import json
import os
import signal
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from e2e.harness.images import build_image, catalog_image
from e2e.harness.registry import Registry
from olm_catalogs.io.cache import make_cache, open_cache
from olm_catalogs.io.server import make_server
from olm_catalogs.registry import registry_pb2 as messages
from olm_catalogs.registry.registry_pb2 import DESCRIPTOR
from olm_classic.io.catalog_listener import Ports
from olm_classic.io.catalogd import Catalogd
from olm_classic.io.registry import Key
from olm_classic.io.shared_serving import Pulls, Shared, SharedServing, Wanted
from olm_runtime.clocks import utc_now
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.registry.settings import PullSettings

pytestmark = pytest.mark.integration

ACKNOWLEDGED = (("x-acknowledge-experimental", "true"),)
PATIENCE_SECONDS = 120.0
REAL = ("cat-facts-operator", "hive-operator")
"""Small ones of the corpus."""

Calls = list[tuple[str, Any]]


def records(package: str, *versions: str) -> list[dict[str, Any]]:
    """A package whose channel has these versions, the newest last."""
    names = [f"{package}.v{version}" for version in versions]
    entries = [
        {"name": name, **({"replaces": names[n - 1]} if n else {"skips": [f"{package}.v0"]})}
        for n, name in enumerate(names)
    ]
    kind = {"group": f"{package}.example.com", "version": "v1", "kind": "Thing"}
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": entries},
        *(
            {
                "schema": "olm.bundle",
                "package": package,
                "name": f"{package}.v{version}",
                "image": f"example.com/{package}:{version}",
                "properties": [
                    {"type": "olm.package", "value": {"packageName": package, "version": version}},
                    {"type": "olm.gvk", "value": kind},
                    {"type": "olm.package.required", "value": {"packageName": "db"}},
                    {"type": "olm.csv.metadata", "value": {"displayName": package}},
                ],
            }
            for version in versions
        ),
        {"schema": "example.notes", "package": package, "text": package},
    ]


def text(found: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in found)


class Shop:
    """The shared serving under test, over a real registry."""

    def __init__(self, folder: Path, registry: Registry, *ports: int) -> None:
        self.registry = registry
        self._changes: dict[Key, asyncio.Queue[None]] = defaultdict(asyncio.Queue)
        cas = registry.ca_file.parent if registry.ca_file else None

        async def settings() -> PullSettings:
            return PullSettings(cas_dir=cas)

        # Nobody answers it, about secrets of catalogs, which these have none of, and catalogd.
        self.client = KubeClient.connect(ClusterAccess(server="https://127.0.0.1:1"))
        catalogd = Catalogd(self.client, ("olm", "catalogd-ca"))
        self.serving = SharedServing(
            Pulls(client=self.client, cache_dir=folder, settings=settings, catalogd=catalogd),
            Ports("127.0.0.1", ports or (0,)),
            lambda key: self._changes[key].put_nowait(None),
            clock=utc_now,
        )

    def push(self, name: str, files: dict[str, bytes]) -> str:
        return self.registry.push(catalog_image(files), f"shared/{name}", tag="v1").tag_reference

    async def served(self, wanted: Wanted) -> Shared:
        """How it is served once nothing is under way."""
        while (found := await self.serving.ensure(wanted)).again is None and wanted.every:
            await self.change(wanted)
        return found

    async def polled(self, wanted: Wanted) -> Shared:
        """How it is served after another look at its image, which is soon due."""
        found = await self.serving.ensure(wanted)
        if found.again is not None:
            await asyncio.sleep(found.again)
            return await self.polled(wanted)
        await self.change(wanted)
        return await self.serving.ensure(wanted)

    async def change(self, wanted: Wanted) -> None:
        """Waits until a look at the catalog's image has ended."""
        await asyncio.wait_for(self._changes[wanted.key].get(), PATIENCE_SECONDS)

    async def close(self) -> None:
        await self.serving.close()
        await self.client.close()


def wanted(name: str, image: str, *, every: float = 3600.0, uid: str = "u") -> Wanted:
    return Wanted(key=("olm", name), uid=uid, image=image, every=every)


@asynccontextmanager
async def opened(folder: Path, registry: Registry, *ports: int) -> AsyncIterator[Shop]:
    shop = Shop(folder, registry, *ports)
    try:
        yield shop
    finally:
        await shop.close()


@asynccontextmanager
async def opm_serve(folder: Path, files: dict[str, bytes]) -> AsyncIterator[int]:
    """The port of `opm serve` of these files."""
    source = folder / "source"
    for path, content in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    make_cache(folder / "cache", source)
    server = make_server(open_cache(folder / "cache", source))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


async def call(channel: grpc.aio.Channel, method: str, request: Any) -> tuple[str, list[bytes]]:
    """How a call ends, and the bytes of its answers."""
    [found] = (
        each
        for service in DESCRIPTOR.services_by_name.values()
        for each in service.methods
        if each.name == method
    )
    path = f"/{found.containing_service.full_name}/{method}"
    make = channel.unary_stream if found.server_streaming else channel.unary_unary
    started = make(path, request_serializer=type(request).SerializeToString)(
        request, metadata=ACKNOWLEDGED
    )
    try:
        if found.server_streaming:
            return "OK", [each async for each in started]
        return "OK", [await started]
    except grpc.aio.AioRpcError as error:
        return f"{error.code()}: {error.details()}", []


async def all_calls(channel: grpc.aio.Channel) -> Calls:
    """Every method, with everything that the catalog knows and with what it does not."""
    _, listed = await call(channel, "ListBundles", messages.ListBundlesRequest())
    bundles = [messages.Bundle.FromString(each) for each in listed]
    calls: Calls = [
        ("ListPackages", messages.ListPackageRequest()),
        ("ListBundles", messages.ListBundlesRequest()),
    ]
    names = {bundle.packageName for bundle in bundles} | {"nosuch"}
    calls += [("GetPackage", messages.GetPackageRequest(name=name)) for name in sorted(names)]
    custom = messages.ExperimentalListPackageCustomSchemasRequest
    for schema in ("example.notes", "", "nosuch"):
        calls += [
            ("ExperimentalListPackageCustomSchemas", custom(schema=schema, packageName=name))
            for name in sorted(names)
        ]
    for bundle in [*bundles, messages.Bundle(packageName="nosuch", csvName="nosuch")]:
        place = {"pkgName": bundle.packageName, "channelName": bundle.channelName}
        named = {**place, "csvName": bundle.csvName}
        calls += [
            ("GetBundle", messages.GetBundleRequest(**named)),
            ("GetBundleForChannel", messages.GetBundleInChannelRequest(**place)),
            ("GetBundleThatReplaces", messages.GetReplacementRequest(**named)),
            (
                "GetChannelEntriesThatReplace",
                messages.GetAllReplacementsRequest(csvName=bundle.csvName),
            ),
        ]
        for api in [*bundle.providedApis][:2] or [messages.GroupVersionKind(kind="nosuch")]:
            fields = {"group": api.group, "version": api.version, "kind": api.kind}
            calls += [
                ("GetChannelEntriesThatProvide", messages.GetAllProvidersRequest(**fields)),
                (
                    "GetLatestChannelEntriesThatProvide",
                    messages.GetLatestProvidersRequest(**fields),
                ),
                ("GetDefaultBundleThatProvides", messages.GetDefaultProviderRequest(**fields)),
            ]
    return calls


def channel(port: int) -> grpc.aio.Channel:
    options = (("grpc.use_local_subchannel_pool", 1),)
    return grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options)


async def packages(port: int) -> list[str]:
    async with channel(port) as open_channel:
        ended, found = await call(open_channel, "ListPackages", messages.ListPackageRequest())
    assert ended == "OK"
    return [messages.PackageName.FromString(each).name for each in found]


async def test_each_catalog_answers_as_opm_serve_does(
    registry: Registry, corpus: Path, tmp_path: Path
) -> None:
    contents = {
        "real": {f"{p}.yaml": (corpus / "catalog" / p / "catalog.yaml").read_bytes() for p in REAL},
        "made": {
            "b/two.json": text(records("beta", "1.0.0", "1.1.0", "2.0.0")),
            "a/one.json": text(records("alpha", "0.1.0")),
        },
    }
    async with opened(tmp_path / "shared", registry) as shop:
        found = await asyncio.gather(
            *(shop.served(wanted(n, shop.push(n, files))) for n, files in contents.items())
        )
        assert len({each.port for each in found}) == 2
        for (name, files), shared in zip(contents.items(), found, strict=True):
            async with opm_serve(tmp_path / name, files) as port, channel(port) as theirs:
                calls = await all_calls(theirs)
                assert {name for name, _ in calls} == {
                    method.name
                    for service in DESCRIPTOR.services_by_name.values()
                    for method in service.methods
                }
                async with channel(shared.port) as ours:
                    for each in calls:
                        assert await call(ours, *each) == await call(theirs, *each), each


async def test_catalogd_is_asked_about_new_content_alone(
    registry: Registry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def asked() -> int:
        return caplog.text.count("images of catalogs that catalogd serves are pulled")

    async with opened(tmp_path, registry) as shop:
        image = shop.push("asked", {"c.json": text(records("old", "1.0.0"))})
        first = await shop.served(wanted("asked", image))
        assert asked() == 1
        polling = wanted("asked", image, every=0.01)
        for _ in range(3):
            assert (await shop.polled(polling)).content == first.content
        assert asked() == 1
        shop.push("asked", {"c.json": text(records("new", "1.0.0"))})
        assert (await shop.polled(polling)).content != first.content
        assert asked() == 2


async def test_new_content_of_a_tag_is_served_at_the_same_port(
    registry: Registry, tmp_path: Path
) -> None:
    async with opened(tmp_path, registry) as shop:
        image = shop.push("moving", {"c.json": text(records("old", "1.0.0"))})
        first = await shop.served(wanted("moving", image))
        async with channel(first.port) as held:
            assert (await call(held, "ListPackages", messages.ListPackageRequest()))[0] == "OK"
            assert held.get_state() is grpc.ChannelConnectivity.READY
            shop.push("moving", {"c.json": text(records("new", "1.0.0"))})
            polling = wanted("moving", image, every=0.01)
            while (await shop.serving.ensure(polling)).content == first.content:
                await shop.change(polling)
            second = await shop.served(wanted("moving", image))
            assert second.port == first.port
            # Whoever is connected sees that there is something new, as when a pod is replaced.
            async with asyncio.timeout(PATIENCE_SECONDS):
                await held.wait_for_state_change(grpc.ChannelConnectivity.READY)
        assert await packages(second.port) == ["new"]


async def test_a_start_serves_what_is_on_disk_without_the_registry(tmp_path: Path) -> None:
    with Registry(tmp_path / "registry") as registry:
        async with opened(tmp_path / "shared", registry) as shop:
            image = shop.push("kept", {"c.json": text(records("kept", "1.0.0"))})
            before = await shop.served(wanted("kept", image))
    async with opened(tmp_path / "shared", registry) as shop:
        after = await shop.serving.ensure(wanted("kept", image))
        assert (after.content, after.since) == (before.content, before.since)
        assert await packages(after.port) == ["kept"]
        # Another object of that name has nothing to do with what was served for this one.
        other = await shop.serving.ensure(wanted("kept", image, uid="another"))
        assert other.port == 0


async def test_what_is_wrong_with_an_image_is_reported_and_hinders_no_other(
    registry: Registry, tmp_path: Path
) -> None:
    two_heads = records("split", "1.0.0", "2.0.0")
    two_heads[1]["entries"] = [{"name": "split.v1.0.0"}, {"name": "split.v2.0.0"}]
    evil = {
        "deep": ({"c.json": b'{"a":' * 200_000}, "c.json"),
        "heads": ({"c.json": text(two_heads)}, "multiple channel heads found in graph"),
        "empty": ({"c.json": b'{"name": "x"}'}, "the object has no schema"),
    }
    async with opened(tmp_path, registry) as shop:
        good = shop.served(
            wanted("good", shop.push("good", {"c.json": text(records("g", "1.0.0"))}))
        )
        bad = [shop.served(wanted(n, shop.push(n, files))) for n, (files, _) in evil.items()]
        plain = registry.push(build_image([{"a": b"b"}]), "shared/plain", tag="v1").tag_reference
        found, unlabelled, *refused = await asyncio.gather(
            good, shop.served(wanted("plain", plain)), *bad
        )
        assert await packages(found.port) == ["g"]
        assert "missing the required label" in unlabelled.problem
        for shared, (_, message) in zip(refused, evil.values(), strict=True):
            assert (shared.port, shared.content) == (0, "")
            assert message in shared.problem


async def test_a_look_that_is_killed_is_begun_again(registry: Registry, tmp_path: Path) -> None:
    async with opened(tmp_path, registry) as shop:
        image = shop.push("killed", {"c.json": text(records("k", "1.0.0"))})
        asked = wanted("killed", image)
        before = set(grandchildren())
        await shop.serving.ensure(asked)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (started := set(grandchildren()) - before):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.005)
        for pid in started:
            os.kill(pid, signal.SIGKILL)
        await shop.change(asked)
        failed = await shop.serving.ensure(asked)
        assert "unpacking was ended by SIGKILL" in failed.problem
        assert failed.again is not None
        await asyncio.sleep(failed.again)
        found = await shop.served(asked)
        assert (await packages(found.port), found.problem) == (["k"], "")


async def test_ports_are_given_out_once(registry: Registry, tmp_path: Path) -> None:
    async with opened(tmp_path / "a", registry) as shop:
        image = shop.push("ports", {"c.json": text(records("p", "1.0.0"))})
        port = (await shop.served(wanted("first", image))).port
        async with opened(tmp_path / "b", registry, port) as other:
            with pytest.raises(TransientError, match="no port is free"):
                await other.served(wanted("second", image))
            await shop.serving.remove(("olm", "first"))
            found = await other.serving.ensure(wanted("second", image))
            assert found.port == port
            with pytest.raises(TransientError, match="no port is free"):
                await other.served(wanted("third", image))


def grandchildren() -> list[int]:
    """The processes that those started which this one started."""
    return [pid for child in children("self") for pid in children(str(child))]


def children(pid: str) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
