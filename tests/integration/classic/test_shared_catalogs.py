"""CatalogSources with images, served by catalog-operator itself: no pod, the same Services."""

import asyncio
import base64
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace

import grpc
import pytest

from api.objects import KubeObject
from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import wait_until
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.classic import SYSTEM_NAMESPACE, Classic, Place, status
from e2e.olm.fbc import catalog_files
from e2e.olm.programs import Olm
from olm_catalogs.registry import registry_pb2 as messages
from tests.integration.classic.test_subscriptions import Bundles, channel
from tests.integration.cluster_pulls.world import DEFINITIONS

pytestmark = pytest.mark.integration

ADDRESS = "192.0.2.10"
"""Of nobody: an EndpointSlice may have no loopback."""
PORTS = range(32100, 32120)
"""None that the system gives to whoever connects."""
SHARED = (
    "--catalog-serving=shared",
    f"--catalog-serving-address={ADDRESS}",
    f"--catalog-serving-ports={PORTS[0]}-{PORTS[-1]}",
    f"--catalogd-ca-secret={SYSTEM_NAMESPACE}/catalogd-ca",
)
SLICES = "discovery.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def shared(classic: Classic) -> Iterator[Classic]:
    """catalog-operator with shared serving, for the tests of this module."""
    classic.stop()
    classic.start(*SHARED)
    yield classic
    classic.stop()
    classic.start()


@pytest.fixture(scope="module")
def bundles(registry: Registry) -> Bundles:
    return Bundles(registry)


@pytest.fixture
def place(shared: Classic) -> Iterator[Place]:
    place = shared.place()
    yield place
    shared.remove(place.name)


def push(registry: Registry, name: str, *packages: list[KubeObject]) -> str:
    image = catalog_image(catalog_files(packages))
    return registry.push(image, f"shared-catalogs/{name}", tag="v1").tag_reference


def create(place: Place, name: str, image: str, interval: str = "1s", **spec: object) -> None:
    poll = {"updateStrategy": {"registryPoll": {"interval": interval}}}
    fields = {"sourceType": "grpc", "image": image, **poll, **spec}
    place.create(V1ALPHA1, "CatalogSource", name, fields)


def find(place: Place, plural: str, name: str, version: str = "v1") -> KubeObject | None:
    return place.classic.api.get(place.path(plural, name, version=version))


def port_of(place: Place, name: str) -> int:
    """Where the Service of a catalog leads."""
    found = find(place, "endpointslices", name, SLICES) or {}
    assert found["endpoints"] == [{"addresses": [ADDRESS], "conditions": {"ready": True}}]
    assert found["metadata"]["labels"]["kubernetes.io/service-name"] == name
    [port] = found["ports"]
    assert (port["name"], port["protocol"]) == ("grpc", "TCP")
    return int(port["port"])


def packages(port: int) -> list[str]:
    async def listed() -> list[str]:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call = channel.unary_stream("/api.Registry/ListPackages")(b"")
            return [messages.PackageName.FromString(each).name async for each in call]

    return asyncio.run(listed())


def test_two_catalogs_without_a_pod_and_an_update_from_one(
    place: Place, registry: Registry, bundles: Bundles
) -> None:
    versions = bundles.of("hello", "1.0.0", "1.1.0")
    create(place, "first.dots", push(registry, "first", channel(versions[:1])))
    create(place, "second", push(registry, "second", channel(bundles.of("other", "1.0.0"))))
    place.subscribe("hello", source="first.dots")
    place.wait_csv("hello.v1.0.0")
    found = place.wait_catalog("first.dots")
    place.wait_catalog("second")
    ports = port_of(place, "first-dots"), port_of(place, "second")
    assert len(set(ports)) == 2
    assert set(ports) <= set(PORTS)
    assert [packages(port) for port in ports] == [["hello"], ["other"]]
    assert place.classic.api.list(place.path("pods", version="v1")) == []
    service = find(place, "services", "first-dots") or {}
    assert "selector" not in service["spec"]
    assert [each["port"] for each in service["spec"]["ports"]] == [50051]
    served = status(found, "registryService")
    assert (served["serviceName"], served["port"]) == ("first-dots", "50051")
    address = status(found, "connectionState")["address"]
    assert address == f"first-dots.{place.name}.svc:50051"
    assert status(found, "latestImageRegistryPoll")
    assert not status(found, "message")
    push(registry, "first", channel(versions))
    place.wait_csv("hello.v1.1.0")
    assert port_of(place, "first-dots") == ports[0]


@pytest.fixture
def mirrored(shared: Classic, registry: Registry) -> Iterator[str]:
    """The name of a registry that does not exist; the cluster says that ours is its mirror."""
    source = "mirrored.invalid"
    entry = {"source": source, "mirrors": [registry.address]}
    mirrors = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ImageTagMirrorSet",
        "metadata": {"name": "mirrored"},
        "spec": {"imageTagMirrors": [entry]},
    }
    shared.control_plane.apply(DEFINITIONS)
    shared.control_plane.apply(json.dumps(mirrors))
    yield source
    shared.control_plane.delete(DEFINITIONS)


def test_catalogs_and_bundles_come_from_the_mirrors_of_the_cluster(
    place: Place, registry: Registry, bundles: Bundles, mirrored: str
) -> None:
    [bundle] = bundles.of("mirrored", "1.0.0")
    there = replace(bundle, image=bundle.image.replace(registry.address, mirrored))
    image = push(registry, "mirrored", channel([there]))
    create(place, "mirrored", image.replace(registry.address, mirrored))
    place.subscribe("mirrored", source="mirrored")
    place.wait_csv("mirrored.v1.0.0")


def test_it_serves_at_once_after_it_was_killed(
    shared: Classic, place: Place, registry: Registry, bundles: Bundles
) -> None:
    image = push(registry, "killed", channel(bundles.of("killed", "1.0.0")))
    create(place, "killed", image, interval="1h")
    place.wait_catalog("killed")
    before = find(place, "endpointslices", "killed", SLICES) or {}
    asked = len(registry.requests())
    shared.restart(kill=True)
    wait_until(lambda: reachable(port_of(place, "killed")), what="the catalog served again")
    assert packages(port_of(place, "killed")) == ["killed"]
    place.wait_catalog("killed")
    after = find(place, "endpointslices", "killed", SLICES) or {}
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert not [each for each in registry.requests()[asked:] if "/killed/" in each.target]
    place.delete("catalogsources", "killed")
    content = shared.work_dir / "cache" / "catalogs" / f"{place.name}.killed"
    wait_until(lambda: not content.exists(), what=f"{content} removed")
    wait_until(lambda: find(place, "services", "killed") is None, what="its Service removed")


@pytest.fixture
def catalogd(
    tmp_path_factory: pytest.TempPathFactory, shared: Classic, registry: Registry
) -> Iterator[Olm]:
    """The catalogd of OLM v1 in the same cluster, to be started; the flag names its CA's Secret."""
    olm = Olm(tmp_path_factory.mktemp("olm"), shared.control_plane, registry)
    olm.install()
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "catalogd-ca", "namespace": SYSTEM_NAMESPACE},
        "stringData": {"ca.crt": olm.catalogs_ca.read_text()},
    }
    shared.control_plane.apply(json.dumps(secret))
    yield olm
    olm.stop()
    for plural in ("clustercatalogs", "clusterextensions", "clusterobjectsets"):
        shared.control_plane.remove(f"{CRDS}/{plural}.olm.operatorframework.io")


def test_what_catalogd_serves_is_not_pulled_again(
    catalogd: Olm, shared: Classic, place: Place, registry: Registry, bundles: Bundles
) -> None:
    versions = bundles.of("taken", "1.0.0", "1.1.0")
    image = push(registry, "taken", channel(versions[:1]))
    catalog = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": "taken"},
        "spec": {"source": {"type": "Image", "image": {"ref": image}}},
    }
    shared.control_plane.apply(json.dumps(catalog))

    before = len(registry.requests())

    def asked(kind: str) -> list[str]:
        path = f"/shared-catalogs/taken/{kind}/"
        return [each.target for each in registry.requests()[before:] if path in each.target]

    create(place, "taken", image)
    wait_until(lambda: bool(asked("manifests")), what="the registry asked for its digest")
    assert not asked("blobs")
    catalogd.start_catalogd()
    place.wait_catalog("taken")
    blobs = asked("blobs")
    assert len(blobs) == len({*blobs}) > 0
    pod = {"extractContent": {"cacheDir": "/cache", "catalogDir": "/configs"}}
    create(place, "pulled", image, grpcPodConfig=pod)
    place.wait_catalog("pulled")
    assert len(asked("blobs")) > len(blobs)
    contents = shared.work_dir / "cache" / "catalogs"
    taken, other = (
        sorted(contents.glob(f"{place.name}.{name}/*/*")) for name in ("taken", "pulled")
    )
    assert [each.read_bytes() for each in taken] == [each.read_bytes() for each in other]
    assert taken
    catalogd.stop()
    place.subscribe("taken", source="taken")
    place.wait_csv("taken.v1.0.0")
    push(registry, "taken", channel(versions))
    place.wait_csv("taken.v1.1.0")


def reachable(port: int) -> bool:
    try:
        return bool(packages(port))
    except grpc.aio.AioRpcError:
        return False


def test_secrets_of_the_catalog_open_its_registry(
    shared: Classic, place: Place, mirror: Registry, bundles: Bundles
) -> None:
    assert mirror.ca_file is not None
    shutil.copyfile(mirror.ca_file, shared.registry_cas / f"{place.name}.crt")
    image = push(mirror, "locked", channel(bundles.of("locked", "1.0.0")))
    create(place, "locked", image, secrets=["login"])

    def refused(obj: KubeObject) -> bool:
        return "couldn't ensure registry server - source catalog content: " in (
            status(obj, "message") or ""
        )

    found = place.wait("catalogsources", "locked", refused)
    assert status(found, "reason") == "RegistryServerError"
    config = base64.b64encode(json.dumps(mirror.docker_config()).encode()).decode()
    place.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"namespace": place.name, "name": "login"},
            "type": "kubernetes.io/dockerconfigjson",
            "data": {".dockerconfigjson": config},
        }
    )
    found = place.wait_catalog("locked")
    assert packages(port_of(place, "locked")) == ["locked"]


def test_pods_take_over_and_hand_back(
    shared: Classic, place: Place, registry: Registry, bundles: Bundles
) -> None:
    create(place, "both", push(registry, "both", channel(bundles.of("both", "1.0.0"))))
    place.wait_catalog("both")
    shared.stop()
    shared.start()

    def selector() -> object:
        return (find(place, "services", "both") or {})["spec"].get("selector")

    pods = place.path("pods", version="v1")
    wait_until(lambda: selector() == {"olm.catalogSource": "both"}, what="a selector")
    wait_until(lambda: bool(shared.api.list(pods)), what="a pod")
    gone = lambda: find(place, "endpointslices", "both", SLICES) is None  # noqa: E731
    wait_until(gone, what="our EndpointSlice removed")
    shared.stop()
    shared.start(*SHARED)
    wait_until(lambda: selector() is None, what="no selector")
    wait_until(lambda: not shared.api.list(pods), what="no pod")
    wait_until(lambda: reachable(port_of(place, "both")), what="the catalog served here")
