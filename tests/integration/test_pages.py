"""Follows the pages for those who run the product, with the chart on a real API server.

Pods are processes (e2e/olm/kubelet.py). Commands that need true ones are run by tests/node.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml

from e2e.demo.bundles import own, publish
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.images import build_image, catalog_image
from e2e.harness.registry import PasswordAuth, Registry
from e2e.olm.api import Api, catalog_path, conditions_text, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CHART, NAMESPACE, RELEASE, helm
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.kubelet import Kubelet
from e2e.olm.pages import DOCS, HOW_TO, Step, blocks, shows, steps
from e2e.olm.reader import Reader
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.pages

PUBLIC, MIRROR, PROXY = "registry.example.com", "mirror.example.org", "proxy.example.com:3128"
HELLO, GREETER = "hello-operator", "greeter"
FEWER = {"catalogd": {"replicas": 1}, "operatorController": {"replicas": 1}}
"""Each pod costs a process."""
NO_NETWORK = {"webhook": {"enabled": False}}
"""Here no Service leads anywhere, and the API server would wait for the webhook."""
LAST = "Uninstall"


control_plane = own_control_plane()
"""Helm takes over nothing that others have made."""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """What the pages call registry.example.com."""
    with Registry(tmp_path_factory.mktemp("public"), names=[PUBLIC]) as running:
        yield running


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """What they call mirror.example.org: another CA, and a password."""
    with Registry(tmp_path_factory.mktemp("mirror"), auth=PasswordAuth()) as running:
        yield running


@pytest.fixture(scope="module")
def reader(
    tmp_path_factory: pytest.TempPathFactory,
    control_plane: ControlPlane,
    public: Registry,
    mirror: Registry,
) -> Iterator[Reader]:
    """Has installed the product as install.md says, with what it needs for the other pages."""
    publish_catalog(public)
    folder = tmp_path_factory.mktemp("reader")
    values = folder / "fewer.yaml"
    values.write_text(yaml.safe_dump(FEWER | NO_NETWORK))
    authorities = {r: r.ca_file.read_bytes() for r in (public, mirror) if r.ca_file}
    (folder / "mirror-ca.pem").write_bytes(authorities[mirror])
    (folder / "password").write_text((mirror.credentials or PasswordAuth().credentials).password)
    (folder / "system-cas.pem").write_bytes(authorities[public])
    reader = Reader(
        folder,
        control_plane,
        names={PUBLIC: public.address, MIRROR: mirror.address},
        values=values,
        authorities=b"".join(authorities.values()),
    )
    pods = Kubelet(
        folder / "pods",
        control_plane,
        NAMESPACE,
        environment={"SSL_CERT_FILE": str(folder / "system-cas.pem")},
    )
    with pods:
        reader.follow(page("install", but=LAST))
        yield reader


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane) as api:
        yield api


def publish_catalog(registry: Registry) -> None:
    """The operator of the pages, with its own image, and another package."""
    hello = list(map(dict, package_blobs(publish(registry, own()))))
    operator = registry.push(build_image([{"operator": b"hello"}]), "hello/operator", tag="v1")
    related = [{"name": "operator", "image": operator.reference}]
    hello = [b | {"relatedImages": related} if "image" in b else b for b in hello]
    greeter = package_blobs([spec.publish(registry) for spec in GREETERS])
    image = catalog_image(catalog_files([hello, greeter]))
    registry.push(image, "team/my-catalog", tag="latest")


GREETERS = [
    BundleSpec(package=GREETER, version="1.0.0"),
    BundleSpec(package=GREETER, version="1.1.0", configmaps=("settings", "extra")),
    BundleSpec(package=GREETER, version="1.2.0"),
]


def page(name: str, *, only: str = "", but: str = "") -> list[Step]:
    """The steps of a page that need no pods, or of one section, or without one."""
    found = [step for step in steps(HOW_TO / f"{name}.md") if not step.pods]
    return [s for s in found if (not only or s.section == only) and (not but or s.section != but)]


# Pages


def test_install(reader: Reader, api: Api) -> None:
    """The reader has followed the page; the labels and the catalog are the release's."""
    namespace = api.get(f"/api/v1/namespaces/{NAMESPACE}") or {}
    level = namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
    assert level == "restricted"
    catalog = api.get(catalog_path("my-catalog")) or {}
    assert catalog["metadata"]["labels"]["app.kubernetes.io/instance"] == RELEASE
    api.wait_installed(HELLO, "0.1.0")


def test_monitoring(reader: Reader, control_plane: ControlPlane) -> None:
    control_plane.kubectl("apply", "-f", "-", stdin=PROMETHEUS_KINDS)
    names = ("servicemonitors", "prometheusrules")
    crds = [f"crd/{name}.monitoring.coreos.com" for name in names]
    control_plane.kubectl("wait", "--for=condition=Established", *crds)
    reader.follow(page("monitoring"))


PROMETHEUS_KINDS = "---".join(
    f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {kind.lower()}s.monitoring.coreos.com}}
spec:
  group: monitoring.coreos.com
  names: {{kind: {kind}, listKind: {kind}List, plural: {kind.lower()}s, singular: {kind.lower()}}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"""
    for kind in ("ServiceMonitor", "PrometheusRule")
)


def test_high_availability(reader: Reader, control_plane: ControlPlane) -> None:
    try:
        reader.follow(page("high-availability"))
    finally:
        fewer = [f"--set={name}.replicas=1" for name in FEWER]
        config, home = control_plane.kubeconfig, reader.folder / "helm"
        upgrade = ("upgrade", RELEASE, str(CHART), f"--namespace={NAMESPACE}")
        helm(*upgrade, "--reset-then-reuse-values", *fewer, kubeconfig=config, home=home)


def test_upgrade(reader: Reader) -> None:
    reader.follow(page("upgrade"))


# Troubleshooting: each symptom is brought about, seen, and remedied as the page says

EXTENSION = f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: {GREETER}}}
spec:
  namespace: {GREETER}
  source: {{sourceType: Catalog, catalog: {{packageName: {GREETER}, version: 1.0.0}}}}
"""
BROKEN = f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {{name: broken}}
spec: {{source: {{type: Image, image: {{ref: "{MIRROR}/team/my-catalog:latest"}}}}}}
"""


def applied(manifest: str) -> str:
    return f"kubectl apply -f - <<'YAML'\n{manifest}\nYAML"


def asking(version: str) -> str:
    patch = f'{{"spec":{{"source":{{"catalog":{{"version":"{version}"}}}}}}}}'
    return f"kubectl patch clusterextension {GREETER} --type=merge -p '{patch}'"


WEBHOOK = (
    f"helm template {RELEASE} charts/olmv1 --namespace {NAMESPACE} --set webhook.enabled=true "
    "--show-only templates/catalogd/webhook.yaml"
)
KEEPING = f"""kubectl --namespace {GREETER} patch configmap greeter-settings --type=merge \
  -p '{{"metadata":{{"finalizers":["example.com/keep"]}}}}'
kubectl delete clusterextension {GREETER} --wait=false"""

SITUATIONS = {
    "It names no service account": f"kubectl create namespace {GREETER}\n{applied(EXTENSION)}",
    "Its account or namespace is not there": "",
    "Its account may not do enough": "",
    "How to look": "",
    "Examine the cluster": "",
    "What is installed does not work": "",
    "There is no such version": asking("7.x"),
    "The update is not offered": asking("1.2.0"),
    "An object belongs to somebody else": (
        f"kubectl --namespace {GREETER} create configmap greeter-extra\n"
        f"olm rbac {GREETER} --version 1.1.0 --update-from 1.0.0"
        " | kubectl apply --server-side --field-manager=olm -f -"
    ),
    "A catalog is not served, or stays old": applied(BROKEN),
    "A catalog cannot be created": f"{WEBHOOK} | kubectl apply -f -",
    "Pods do not become ready": f"{WEBHOOK} | kubectl delete -f -",
    "Nothing happens at all": "",
    "It does not go away": KEEPING,
}
"""What brings about the symptom of each section, in an order in which one leads to the next."""

TROUBLES = HOW_TO / "troubleshooting.md"


def symptom(section: str) -> str:
    """The message that a section begins with, if it does."""
    first = next(b for b in blocks(TROUBLES) if b.section == section)
    return first.body if first.info == ("text",) else ""


def test_troubleshooting(reader: Reader, api: Api) -> None:
    assert {step.section for step in page("troubleshooting")} == set(SITUATIONS)
    for section, command in SITUATIONS.items():
        brought_about = reader.run(command)
        assert brought_about.returncode == 0, brought_about.stderr
        if message := symptom(section):
            seen = f"{section}: {message}"
            wait_until(lambda: reported(reader, api, message), what=seen, timeout=60.0)
        reader.follow(page("troubleshooting", only=section))
    reader.run("kubectl delete clustercatalog broken labelled")


def reported(reader: Reader, api: Api, message: str) -> bool:
    """Whether a condition or a refused request says so."""
    texts = [conditions_text(api.get(extension_path(GREETER)))]
    texts += [conditions_text(api.get(catalog_path("broken")))]
    if "calling webhook" in message:
        texts.append(reader.run(applied(BROKEN.replace("broken", "refused"))).stderr)
    first = message.splitlines()[0]
    return any(shows(f"...{first}...", line) for text in texts for line in text.splitlines())


def test_rights_of_the_security_model(reader: Reader) -> None:
    reader.follow(steps(DOCS / "concepts" / "security-model.md"))


# Mirrors of the cluster


def test_disconnected(reader: Reader, public: Registry, mirror: Registry) -> None:
    """Once the cluster has the mirror, the public registry is away."""
    *prepare, follow = page("disconnected")
    reader.follow(prepare)
    public.stop()
    try:
        reader.follow([follow])
    finally:
        public.start()
    pulled = {r.target for r in mirror.requests() if r.method == "GET" and r.status == 200}
    assert any(target.startswith("/v2/team/my-catalog/manifests/") for target in pulled)
    assert any(target.startswith(f"/v2/bundles/{HELLO}/manifests/") for target in pulled)


def test_proxy(reader: Reader, public: Registry) -> None:
    """A name that only the proxy knows."""
    with forward_proxy() as running:
        port = public.address.rpartition(":")[2]
        before = dict(reader.names)
        reader.names |= {PROXY: running.address, PUBLIC: f"{PUBLIC}:{port}"}
        try:
            reader.follow(page("proxy"))
        finally:
            reader.names = before
    assert f"CONNECT {PUBLIC}:{port}" in running.asked


@contextmanager
def forward_proxy() -> Iterator[ForwardProxy]:
    """A forward proxy in a thread."""
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        proxy = ForwardProxy()
        asyncio.run_coroutine_threadsafe(proxy.__aenter__(), loop).result()
        try:
            yield proxy
        finally:
            asyncio.run_coroutine_threadsafe(proxy.__aexit__(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def test_uninstall(reader: Reader, api: Api) -> None:
    """The last page: nothing is left."""
    reader.follow(page("install", only=LAST))
    api.wait_gone(f"/api/v1/namespaces/{NAMESPACE}")
    left = reader.run("kubectl get crds,clusterroles,clusterrolebindings -o name").stdout
    ours = [name for name in left.split() if "olm" in name or "catalogd" in name]
    assert ours == []
