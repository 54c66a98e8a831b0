"""Follows the pages for those who run the product. The last one uninstalls it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, conditions_text, extension_path
from e2e.olm.chart import CHART, NAMESPACE, RELEASE, helm
from e2e.olm.pages import DOCS, HOW_TO, blocks, shows, steps
from e2e.olm.reader import Reader
from tests.integration.pages.world import FEWER, GREETER, HELLO, LAST, MIRROR, PROXY, PUBLIC, page

pytestmark = pytest.mark.pages


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
            wait_until(lambda: reported(reader, api, message), what=seen)
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
