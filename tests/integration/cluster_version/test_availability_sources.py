"""Where updates and their risks are learnt: through the cluster's proxy, with its CAs."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
import yaml

from api.objects import KubeObject
from api.openshift.config.v1.kinds import PROXY
from cluster_version.io import graph_client, promql
from cluster_version.io.graph_client import GraphClient
from cluster_version.io.promql import MetricsStore, Place, finder
from cluster_version.updates.alert_risks import alert_risks
from cluster_version.updates.errors import RetrievalError
from e2e.harness.client import PATIENCE_SECONDS, plain_client
from e2e.harness.controlplane import ControlPlane, answers_ok
from e2e.harness.debian import debian_program
from e2e.harness.errors import BinaryUnavailable
from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.olm.graph_server import GraphServer, graph_of
from olm_runtime.controller.status_writer import replace_status
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from tests.requirements import leave_out

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

DEFINITIONS = Path(__file__).parents[1] / "cluster_pulls" / "definitions.yaml"
NAME = f"{promql.NAME}.{promql.NAMESPACE}.svc.cluster.local"
NOWHERE = Path("/nowhere")
RELEASE = Path(__file__).parents[3] / "config" / "release" / "cluster-version-operator"
RULES: list[dict[str, Any]] = [
    {
        "alert": name,
        "expr": "vector(1)",
        "labels": {"severity": "critical"},
        "annotations": {"summary": f"{name}.", "runbook_url": f"https://example.com/{name}"},
        **more,
    }
    for name, more in {"Fires": {}, "Waits": {"for": "1h"}}.items()
]
"""Alerts of a real Prometheus."""


def of(kind: str, name: str, namespace: str = "", **rest: Any) -> KubeObject:
    version = "config.openshift.io/v1" if kind == "Proxy" else "v1"
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


@pytest.fixture
def authority() -> CertificateAuthority:
    """Whom no system trusts."""
    return CertificateAuthority.create("availability")


@pytest.fixture
def tls(tmp_path: Path, authority: CertificateAuthority) -> ssl.SSLContext:
    files = authority.issue_server("server", hosts=["localhost", NAME]).write(tmp_path, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


@pytest.fixture
def secure(tls: ssl.SSLContext) -> Iterator[GraphServer]:
    with GraphServer(tls) as server:
        yield server


@pytest.fixture
def plain() -> Iterator[GraphServer]:
    with GraphServer() as server:
        server.graph = graph_of(["1.0.0"])
        yield server


@pytest_asyncio.fixture
async def put(client: KubeClient) -> AsyncIterator[Any]:
    """Writes an object, with its namespace, until the test ends."""
    written: list[KubeObject] = []

    async def write(obj: KubeObject) -> None:
        namespace = obj["metadata"].get("namespace")
        if namespace:
            await client.apply(of("Namespace", namespace), field_manager="test")
        written.append(await client.apply(obj, field_manager="test"))

    yield write
    for obj in written:
        await client.delete(obj)


async def refusal(client: KubeClient, url: str) -> tuple[str, str]:
    with pytest.raises(RetrievalError) as raised:
        await GraphClient(client, "1").get(url)
    return raised.value.reason, raised.value.message


async def test_failures_are_reported_by_their_kind(client: KubeClient, plain: GraphServer) -> None:
    plain.status = HTTPStatus.SERVICE_UNAVAILABLE
    expected = "ResponseFailed", "unexpected HTTP status: 503 Service Unavailable"
    assert await refusal(client, plain.upstream) == expected
    nobody = f"http://127.0.0.1:{free_port('127.0.0.1')}/graph"
    expected = "RemoteFailed", f'Get "{nobody}": connection refused'
    assert await refusal(client, nobody) == expected
    assert (await refusal(client, "ftp://example.com/graph"))[0] == "RemoteFailed"


async def test_an_answer_has_a_limit(
    client: KubeClient, plain: GraphServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert b"1.0.0" in await GraphClient(client, "1").get(plain.upstream)
    monkeypatch.setattr(graph_client, "MAX_BYTES", 10)
    assert (await refusal(client, plain.upstream))[0] == "ResponseFailed"


async def test_the_cluster_s_cas_are_trusted(
    client: KubeClient, secure: GraphServer, authority: CertificateAuthority, put: Any
) -> None:
    url = f"https://localhost:{secure.port}/graph"
    reason, message = await refusal(client, url)
    assert reason == "RemoteFailed"
    assert "certificate verify failed" in message
    name, namespace = graph_client.CA_NAME, graph_client.CA_NAMESPACE
    data = {graph_client.CA_KEY: authority.certificate.decode()}
    await put(of("ConfigMap", name, namespace, data=data))
    assert await GraphClient(client, "1").get(url) == b"{}"
    await put(of("ConfigMap", name, namespace, data={graph_client.CA_KEY: "none"}))
    assert (await refusal(client, url))[0] == "RemoteFailed"


async def test_the_cluster_s_proxy_is_gone_through(
    client: KubeClient, served: ControlPlane, plain: GraphServer, put: Any
) -> None:
    served.apply(DEFINITIONS)
    url = f"http://updates.example.com:{plain.port}/graph"
    async with ForwardProxy() as proxy:
        status = {"httpProxy": f"http://{proxy.address}"}
        await put(of("Proxy", "cluster", spec={}))
        written = await client.get(PROXY, graph_client.PROXY_NAME)
        await replace_status(client, written, status)
        assert b"1.0.0" in await GraphClient(client, "1").get(url)
        assert proxy.asked == [f"GET {url}"]


async def test_a_metrics_store_is_found_by_its_service(client: KubeClient, put: Any) -> None:
    with pytest.raises(OLMError):
        await finder(client, "")()
    ports = [{"port": promql.PORT}]
    await put(of("Service", promql.NAME, promql.NAMESPACE, spec={"ports": ports}))
    place = await finder(client, "")()
    service = await client.get(promql.SERVICE, promql.NAME, promql.NAMESPACE)
    assert place == Place(f"https://{service['spec']['clusterIP']}:9091", NAME)
    assert await finder(client, "http://here/")() == Place("http://here")


async def test_a_metrics_store_is_asked_by_its_name_and_with_a_token(
    secure: GraphServer, authority: CertificateAuthority, tmp_path: Path
) -> None:
    ca, token = tmp_path / "ca.crt", tmp_path / "token"
    secure.values = {"a b": "1"}

    async def find() -> Place:
        return Place(secure.address, NAME)

    store = MetricsStore(find, ca, token)
    with pytest.raises(OLMError, match="certificate verify failed"):
        await store.ask("a b")
    ca.write_bytes(authority.certificate)
    assert await store.ask("a b") is True
    token.write_text("secret\n")
    assert await store.ask("a b") is True
    assert secure.callers == [None, "Bearer secret"]
    ca.write_text("none")
    with pytest.raises(OLMError, match="cannot read certificates"):
        await store.ask("a b")


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real one, where the machine has it or Debian's packages."""
    try:
        program = str(debian_program("prometheus"))
    except BinaryUnavailable as error:
        leave_out("prometheus", f"there is no prometheus: {error}")
    folder = tmp_path_factory.mktemp("prometheus")
    settings = {"global": {"evaluation_interval": "100ms"}, "rule_files": ["rules.yml"]}
    (folder / "prometheus.yml").write_text(json.dumps(settings))
    (folder / "rules.yml").write_text(json.dumps({"groups": [{"name": "test", "rules": RULES}]}))
    address = f"127.0.0.1:{free_port('127.0.0.1')}"
    child = ChildProcess(
        "prometheus",
        [
            program,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={address}",
        ],
        log=folder / "prometheus.log",
    )
    child.start()
    try:
        with plain_client() as client:
            child.wait_ready(lambda: answers_ok(client, f"http://{address}/-/ready"))
        yield f"http://{address}"
    finally:
        child.stop()


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("vector(1)", True),
        ("vector(0)", False),
        ("group(vector(7))\nor\n0 * vector(1)", True),
        ("1", "invalid PromQL result type is scalar, not vector"),
        ("up", "invalid PromQL result length must be one, but is 0"),
        ("vector(0.5)", "invalid PromQL result (must be 0 or 1): 0.5"),
        ("max(", "executing PromQL query: bad_data: invalid parameter "),
    ],
)
async def test_a_real_metrics_store_is_understood(
    prometheus: str, query: str, answer: bool | str
) -> None:
    async def find() -> Place:
        return Place(prometheus)

    store = MetricsStore(find, NOWHERE, NOWHERE)
    if isinstance(answer, bool):
        assert await store.ask(query) is answer
        return
    with pytest.raises(OLMError) as raised:
        await store.ask(query)
    assert raised.value.message.startswith(answer)


async def test_alerts_of_a_real_metrics_store_are_risks(prometheus: str) -> None:
    async def find() -> Place:
        return Place(prometheus)

    store = MetricsStore(find, NOWHERE, NOWHERE)
    alerts: Sequence[dict[str, Any]] = ()
    async with asyncio.timeout(60):
        while len(alerts) < len(RULES):
            await asyncio.sleep(0.1)
            alerts = await store.alerts()
    [(risk, exposure)] = alert_risks(alerts).items()
    assert (risk.name, risk.message, risk.url) == ("Fires", "Fires.", "https://example.com/Fires")
    assert exposure.reason == "Alert:firing"


async def test_the_operators_alerts_are_understood_by_a_real_metrics_store(prometheus: str) -> None:
    [file] = RELEASE.iterdir()
    [group] = yaml.safe_load(file.read_text())["spec"]["groups"]
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client:
        for rule in group["rules"]:
            query = {"query": rule["expr"]}
            answer = await client.get(f"{prometheus}/api/v1/query", params=query)
            found = answer.raise_for_status().json()["data"]["result"]
            # Without an operator there is nothing to report, but that.
            assert bool(found) == (rule["alert"] == "ClusterVersionOperatorDown"), rule["alert"]
