"""What people and tools see of catalogd: events, metrics; and clients that misbehave."""

import base64
import re
import secrets
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path
from e2e.olm.manifests import catalog as catalog_manifest
from e2e.olm.manifests import service_account
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

pytestmark = pytest.mark.integration

ACCOUNT = "metrics-scraper"
TRANSITIONS = {"Unpacked", "Succeeded", "Available", "Retrying"}


class World:
    """A catalogd with metrics, and one catalog."""

    def __init__(self, olm: Olm, registry: Registry, metrics_url: str) -> None:
        self.olm = olm
        self.registry = registry
        self.metrics_url = metrics_url
        self.name = f"catalog-{secrets.token_hex(4)}"
        self.path = catalog_path(self.name)

    @property
    def reference(self) -> str:
        return f"{self.registry.address}/{self.name}:latest"

    def start(self) -> None:
        address = self.metrics_url.removeprefix("https://")
        self.olm.start_catalogd(f"--metrics-bind-address={address}")

    def push(self, text: bytes) -> None:
        self.registry.push(catalog_image({"a.json": text}), self.name, tag="latest")

    def apply(self) -> None:
        manifest = catalog_manifest(self.name, self.reference)
        self.olm.control_plane.apply(manifest)

    def events(self) -> list[dict[str, Any]]:
        with self.olm.control_plane.client() as client:
            found = client.get("/apis/events.k8s.io/v1/namespaces/default/events").json()
        return [e for e in found["items"] if e["regarding"]["name"] == self.name]

    def scrape(self, token: str) -> httpx.Response:
        context = ssl.create_default_context(cafile=str(self.olm.catalogs_ca))
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.get(
            f"{self.metrics_url}/metrics",
            headers=headers,
            verify=context,
            trust_env=False,
            timeout=60.0,
        )


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[World]:
    olm = Olm(tmp_path_factory.mktemp("observed"), control_plane, registry)
    olm.install()
    made = World(olm, registry, f"https://127.0.0.1:{free_port('127.0.0.1')}")
    made.start()
    yield made
    with Api(control_plane) as api:
        if api.get(made.path) is not None:
            api.delete(made.path)
            api.wait_gone(made.path)
    olm.stop()


@pytest.fixture(scope="module")
def served(world: World, control_plane: ControlPlane) -> World:
    """First there is no image, then there is one."""
    world.apply()
    with Api(control_plane) as api:
        api.wait_condition(world.path, "Progressing", "True", message="not found")
        world.push(b'{"schema":"s","name":"n"}\n{"schema":"s","name":"m"}')
        api.wait_condition(world.path, "Serving", "True")
    return world


def test_every_transition_is_an_event(served: World) -> None:
    deadline = time.monotonic() + 60
    events = served.events()
    while not {e["reason"] for e in events} >= TRANSITIONS:
        assert time.monotonic() < deadline, events
        time.sleep(0.1)
        events = served.events()
    kinds = {e["reason"]: e["type"] for e in events}
    assert kinds["Retrying"] == "Warning"
    assert kinds["Available"] == "Normal"
    assert all(e["regarding"]["kind"] == "ClusterCatalog" for e in events)
    [failed] = [e for e in events if e["reason"] == "Retrying"]
    assert f'image "{served.reference}" not found' in failed["note"]
    described = served.olm.control_plane.kubectl("describe", "clustercatalog", served.name)
    assert "Serving desired content" in described


@pytest.fixture(scope="module")
def token(world: World) -> Iterator[str]:
    """Of an account that may read nothing yet."""
    control_plane = world.olm.control_plane
    made = service_account(SYSTEM_NAMESPACE, ACCOUNT)
    control_plane.apply(made)
    yield control_plane.token(SYSTEM_NAMESPACE, ACCOUNT)
    control_plane.delete(made)


@pytest.fixture(scope="module")
def reader(world: World) -> Iterator[str]:
    """A token of an account that may read metrics."""
    control_plane, name = world.olm.control_plane, f"{ACCOUNT}-reader"
    made = service_account(SYSTEM_NAMESPACE, name, role="catalogd-metrics-reader")
    control_plane.apply(made)
    yield control_plane.token(SYSTEM_NAMESPACE, name)
    control_plane.delete(made)


def test_metrics_need_a_token_that_is_known_and_allowed(
    world: World, token: str, reader: str
) -> None:
    forged = base64.b64encode(secrets.token_bytes(32)).decode()
    assert world.scrape("").status_code == 401
    assert world.scrape(forged).status_code == 401
    assert world.scrape(token).status_code == 403
    assert world.scrape(reader).status_code == 200


def test_metrics_show_each_catalog(served: World, reader: str) -> None:
    with served.olm.client() as client:
        size = len(client.get(f"/catalogs/{served.name}/api/v1/all").content)
    lines = served.scrape(reader).text.splitlines()
    label = f'catalog="{served.name}"'
    assert f"catalogd_catalog_content_bytes{{{label}}} {float(size)}" in lines
    assert f"catalogd_catalog_content_blobs{{{label}}} 2.0" in lines
    assert f'catalogd_catalog_polls_total{{{label},result="updated"}} 1.0' in lines
    assert any(
        line.startswith('catalogd_http_request_duration_seconds_bucket{code="200"')
        for line in lines
    )


@pytest.mark.parametrize(
    ("asked", "logged", "status"),
    [
        ("{name}/api/v1/metas?schema=s", "{name}/api/v1/metas?schema=s", 200),
        ("{name}/api/v1/metas?colour=red", "{name}/api/v1/metas?colour=red", 400),
        ("no-such-catalog/api/v1/all", "no-such-catalog/api/v1/all", 404),
        ("a%0Aforged/api/v1/all", r"a\nforged/api/v1/all", 400),
    ],
)
def test_each_answer_is_a_line_of_the_log(
    served: World, asked: str, logged: str, status: int
) -> None:
    with served.olm.client() as client:
        found = client.get(f"/catalogs/{asked.format(name=served.name)}").status_code
    assert found == status
    target = re.escape(f"/catalogs/{logged.format(name=served.name)}")
    line = rf' catalogd\.access: 127\.0\.0\.1 "GET \'{target}\'" {status} [0-9]+\.[0-9]{{4}}$'
    log = served.olm.work_dir / "logs" / "catalogd.log"
    deadline = time.monotonic() + 60
    while not re.search(line, log.read_text(), re.MULTILINE):
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.05)


def test_clients_that_never_finish_asking_are_cut_off(world: World) -> None:
    context = ssl.create_default_context(cafile=str(world.olm.catalogs_ca))
    address = ("127.0.0.1", int(world.olm.catalogs_url.rpartition(":")[2]))
    with ExitStack() as stack:
        connections = []
        for sent in (b"", b"GET /catalogs/x HTT", b"\r\n"):
            raw = stack.enter_context(socket.create_connection(address, timeout=30))
            wrapped = context.wrap_socket(raw, server_hostname="127.0.0.1")
            connections.append(stack.enter_context(wrapped))
            connections[-1].sendall(sent)
        assert [until_closed(connection) for connection in connections] == [b"", b"", b""]


def until_closed(connection: ssl.SSLSocket) -> bytes:
    """What the other side says before it goes; it has 30 seconds."""
    try:
        return connection.recv(100)
    except (ConnectionResetError, ssl.SSLEOFError):
        return b""


def test_a_limit_given_as_a_flag_holds(
    tmp_path: Path, world: World, control_plane: ControlPlane
) -> None:
    if world.olm.catalogd is not None:
        world.olm.catalogd.stop()
    other = World(Olm(tmp_path / "olm", control_plane, world.registry), world.registry, "")
    other.olm.install()
    other.olm.start_catalogd("--max-image-entries=3", "--max-document-bytes=1Ki")
    try:
        files = {f"{n}.json": b'{"schema":"s"}' for n in range(9)}
        world.registry.push(catalog_image(files), other.name, tag="latest")
        other.apply()
        with Api(control_plane) as api:
            message = "image has more than 3 entries"
            api.wait_condition(other.path, "Progressing", "True", message=message)
            api.delete(other.path)
            api.wait_gone(other.path)
    finally:
        other.olm.stop()
        world.start()
