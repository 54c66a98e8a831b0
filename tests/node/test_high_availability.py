"""Several replicas of each program: one is killed, all are replaced, and nobody notices."""

import base64
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import httpx
import pytest

from e2e.harness.controlplane import wait_until
from e2e.node.cluster import Node
from e2e.node.kills import kill_pod
from e2e.node.release import Release
from e2e.olm.api import Api, catalog_path
from e2e.olm.chart import NAMESPACE
from e2e.olm.fbc import PublishedBundle
from e2e.olm.manifests import catalog

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("product", "served")]

LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
LEASE_OF = {
    "catalogd": "catalogd-operator-lock",
    "operator-controller": "9c4404e7.operatorframework.io",
}
PAUSE_SECONDS = 0.05
RECONNECT_SECONDS = 5.0
"""For how long a client connects anew where a process was killed."""
MOST_REQUESTS = 5000
NAME = "served"
URL = f"https://catalogd-service.{NAMESPACE}.svc.cluster.local/catalogs/{NAME}/api/v1/all"


@pytest.fixture(scope="module")
def served(node: Node, product: Release, publish: Callable[..., str]) -> Iterator[None]:
    """A catalog that is served."""
    bundle = PublishedBundle("some", "some.v1.0.0", "1.0.0", "registry.example.com/some:v1")
    node.kubectl("apply", "-f", "-", stdin=catalog(NAME, publish(bundle)))
    with Api(node.control_plane) as api:
        api.wait_condition(catalog_path(NAME), "Serving", "True")
    yield
    node.kubectl("delete", "clustercatalog", NAME)


@pytest.fixture(scope="module", params=[2, 3], ids="{}-replicas".format)
def replicas(request: pytest.FixtureRequest, product: Release) -> None:
    """So many of each program."""
    count = {"replicas": request.param}
    product.upgrade({"catalogd": count, "operatorController": count})


class Reader:
    """Asks for the catalog again and again from a thread, each time over a new connection.

    A process that is killed resets its connections, and its address refuses new ones until the
    Service has forgotten it. No server can help that, so a client may connect anew for `patience`
    seconds. Anything else that is not the catalog is a failure at once.
    """

    def __init__(self, api: Api, *, patience: float = 0.0) -> None:
        secret = api.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/catalogd-service-cert")
        assert secret is not None
        authority = base64.b64decode(secret["data"]["ca.crt"]).decode()
        self._trust = ssl.create_default_context(cadata=authority)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._patience = patience
        self.answered = 0
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _read(self) -> None:
        for _ in range(MOST_REQUESTS):
            if self._stop.wait(PAUSE_SECONDS):
                return
            try:
                answer = self._answer()
            except httpx.HTTPError as error:
                self.failures.append(f"{time.strftime('%X')} {error!r}")
                continue
            if answer.status_code == httpx.codes.OK and b"some.v1.0.0" in answer.content:
                self.answered += 1
            else:
                self.failures.append(f"{time.strftime('%X')} {answer.status_code} {answer.text}")

    def _answer(self) -> httpx.Response:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return httpx.get(URL, verify=self._trust, timeout=10.0, trust_env=False)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_SECONDS)


def leader(api: Api, program: str) -> str:
    """The name of the pod that leads, and something that is another after a restart."""
    lease = api.get(f"{LEASES}/{LEASE_OF[program]}")
    return str(lease["spec"]["holderIdentity"]) if lease else ""


def uid_of(api: Api, holder: str) -> str:
    name = holder.rpartition("_")[0]
    pod = api.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{name}")
    assert pod is not None, holder
    return str(pod["metadata"]["uid"])


def kill_leader(api: Api, program: str) -> None:
    before = leader(api, program)
    kill_pod(uid_of(api, before))
    wait_until(lambda: leader(api, program) not in ("", before), what=f"another {program} leads")


def wait_complete(node: Node) -> None:
    for program in LEASE_OF:
        deployment = f"deployment/{program}-controller-manager"
        node.kubectl("rollout", "status", "-n", NAMESPACE, deployment, "--timeout=180s")


@pytest.mark.usefixtures("replicas")
def test_a_killed_operator_controller_is_replaced(
    node: Node, api: Api, settled: Callable[[], None]
) -> None:
    settled()
    kill_leader(api, "operator-controller")
    settled()
    wait_complete(node)


@pytest.mark.usefixtures("replicas")
def test_a_killed_catalogd_is_replaced_and_every_request_answered(
    node: Node, api: Api, publish: Callable[..., str]
) -> None:
    with Reader(api, patience=RECONNECT_SECONDS) as reader:
        wait_until(lambda: reader.answered > 0, what="the catalog is read")
        kill_leader(api, "catalogd")
        bundle = PublishedBundle("other", "other.v1.0.0", "1.0.0", "registry.example.com/other:v1")
        node.kubectl("apply", "-f", "-", stdin=catalog("other", publish(bundle)))
        api.wait_condition(catalog_path("other"), "Serving", "True")
        node.kubectl("delete", "clustercatalog", "other")
        wait_complete(node)
    assert reader.failures == []


@pytest.mark.parametrize("replicas", [2], indirect=True)
@pytest.mark.usefixtures("replicas")
def test_an_upgrade_of_the_chart_fails_no_request(node: Node, api: Api, product: Release) -> None:
    before = {pod["metadata"]["uid"] for pod in pods(api)}
    with Reader(api) as reader:
        wait_until(lambda: reader.answered > 0, what="the catalog is read")
        product.upgrade({"podAnnotations": {"tests.example.com/rolled": "again"}})
        wait_complete(node)
        during = reader.answered
        wait_until(lambda: reader.answered > during, what="the catalog is read afterwards")
    assert reader.failures == []
    assert not before & {pod["metadata"]["uid"] for pod in pods(api) if not ending(pod)}


def pods(api: Api) -> list[dict[str, dict[str, str]]]:
    return api.list(f"/api/v1/namespaces/{NAMESPACE}/pods")


def ending(pod: dict[str, dict[str, str]]) -> bool:
    return "deletionTimestamp" in pod["metadata"]
