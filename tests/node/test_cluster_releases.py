"""The Cluster Version Operator as a Deployment, which a Job brings the next release to.

OLM v1 is a component of these releases, as release-with-olm.md says. Before the files that install
its chart: it would be the same objects.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from api.objects import KubeObject
from api.olm.v1.names import GROUP
from cluster_version.names import DEFAULT_PROFILE, INCLUDE_PREFIX, VERIFICATION_CONFIG_MAP
from cluster_version.payload.retrieval_job import APP, APP_LABEL, folder_of, job_name
from cluster_version.signatures.stores import LABEL
from cluster_version.signatures.stores import NAMESPACE as SIGNED
from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import wait_until
from e2e.harness.errors import CommandFailed
from e2e.harness.images import Image
from e2e.node.cluster import Node
from e2e.node.product import product_image
from e2e.olm.api import Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import NAMESPACE as OLM_NAMESPACE
from e2e.olm.own_release import section
from e2e.olm.reader import Reader
from tests.openpgp import Signer, statement

pytestmark = pytest.mark.node

NAMESPACE = "openshift-cluster-version"
OPERATOR = "cluster-version-operator"
PRIORITY = "openshift-user-critical"
INCLUDED = {f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}": "true"}
CRDS = ("-f", str(CLUSTER_VERSION_CRD_FOLDER))
PROGRAMS = ("catalogd", "operator-controller")
CATALOG = "greeter"


def named(api_version: str, kind: str, name: str, namespace: str = "") -> KubeObject:
    place = {"namespace": namespace} if namespace else {}
    meta = {"name": name, "annotations": dict(INCLUDED), **place}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def deployment(payloads: Path) -> KubeObject:
    """The operator, as its releases have it; `payloads` is the same folder of node and pod."""
    labels = {"k8s-app": OPERATOR}
    volume = {"name": "payloads", "hostPath": {"path": str(payloads), "type": "DirectoryOrCreate"}}
    node_name = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    container = {
        "name": OPERATOR,
        "image": "{{.ReleaseImage}}",
        "command": [OPERATOR, f"--payloads={payloads}", "--round-interval=5s"],
        "env": [
            {"name": "RELEASE_IMAGE", "value": "{{.ReleaseImage}}"},
            {"name": "NODE_NAME", "valueFrom": node_name},
        ],
        "volumeMounts": [{"name": "payloads", "mountPath": str(payloads), "readOnly": True}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": 8081}, "periodSeconds": 1},
    }
    spec = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [container], "volumes": [volume]},
        },
    }
    return named("apps/v1", "Deployment", OPERATOR, NAMESPACE) | {"spec": spec}


class Releases:
    """Releases of a product on top of our image, in the registry of the node.

    `component` has OLM v1.
    """

    def __init__(self, node: Node, folder: Path, signer: Signer, component: Path) -> None:
        self.payloads = Path("/run/updatepayloads")  # /run is the box's own
        self._registry = node.registry
        self._base = node.registry.push(product_image(), "olmv1", tag="tested").reference
        self._folder = folder
        self._component = component
        key = named("v1", "ConfigMap", "release-verification", SIGNED)
        key["metadata"]["annotations"][VERIFICATION_CONFIG_MAP] = ""
        trusted = {"verifier-public-key-test": signer.armoured(), "store-none": folder.as_uri()}
        said = named("v1", "ConfigMap", "product", NAMESPACE) | {"data": {"is": "0.0.1-snapshot"}}
        self._write("product/0000_20_product_01_version.json", said)
        self._write("product/0000_10_product_01_keys.json", key | {"data": trusted})
        self._write("operator/0000_00_operator_01_deployment.json", deployment(self.payloads))

    def publish_olm(self, version: str) -> str:
        """Pushes an image of the programs of OLM v1 that no other version has; its digest."""
        image = annotated(product_image(), version)
        return self._registry.push(image, "olmv1", tag=version).reference

    def publish(self, version: str, olm: str) -> str:
        """Makes a release with these programs of OLM v1; its reference by digest."""
        assert self._registry.ca_file
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("olm")),
                *("cluster", "release", "new", "--push"),
                *(str(self._folder / "product"), str(self._component)),
                *(f"--version={version}", f"--from={self._base}", f"--image=olm={olm}"),
                f"--operator-manifests={self._folder / 'operator'}",
                f"--tag={self._registry.address}/releases:{version}",
                f"--cas-dir={self._registry.ca_file.parent}",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def operator(self, image: str) -> KubeObject:
        """The operator of a release, as it is installed."""
        text = json.dumps(deployment(self.payloads)).replace("{{.ReleaseImage}}", image)
        return dict(json.loads(text))

    def _write(self, path: str, obj: KubeObject) -> None:
        file = self._folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(obj))


def annotated(image: Image, version: str) -> Image:
    """The same image with another digest."""
    content = json.loads(image.manifest.content) | {"annotations": {"version": version}}
    return replace(image, manifest=replace(image.manifest, content=json.dumps(content).encode()))


def signature(signer: Signer, image: str) -> KubeObject:
    """Of a release image, where clusters look for it."""
    digest = image.rpartition("@")[2]
    message = signer.message(statement(critical__image={"docker-manifest-digest": digest}))
    made = named("v1", "ConfigMap", "signatures", SIGNED)
    made["metadata"]["labels"] = {LABEL: ""}
    name = f"{digest.replace(':', '-')}-1"
    return made | {"binaryData": {name: base64.b64encode(message).decode()}}


@pytest.fixture
def signer() -> Signer:
    """Who signs releases."""
    return Signer()


@pytest.fixture
def component(node: Node, tmp_path: Path, publish: Callable[..., str]) -> Path:
    """The folder with OLM v1, which brings a catalog."""
    assert node.registry.ca_file
    content = publish(BundleSpec(package=CATALOG, version="1.0.0").publish(node.registry))
    values = {
        "catalogd": {"replicas": 1},
        "operatorController": {"replicas": 1},
        "catalogs": [{"name": CATALOG, "image": content}],
        "trustedCAs": {"pem": node.registry.ca_file.read_text()},
    }
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values))
    folder = tmp_path / "reader"
    folder.mkdir()
    Reader(folder, node.control_plane, values=file).follow(section("Make the component"))
    return folder / "components" / "olm"


@pytest.fixture
def releases(
    node: Node, tmp_path: Path, signer: Signer, component: Path
) -> Iterator[tuple[Releases, str]]:
    """The first one is installed, with this image of OLM v1. In the end none of it is left."""
    folder = tmp_path / "releases"
    folder.mkdir()
    made = Releases(node, folder, signer, component)
    olm = made.publish_olm("1.0.0")
    admin = named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", OPERATOR)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": NAMESPACE}
    spec = {"clusterID": "11111111-2222-4333-8444-555555555555"}
    objects = [
        *(named("v1", "Namespace", name) for name in (NAMESPACE, SIGNED)),
        named("v1", "ServiceAccount", "update-payload", NAMESPACE),
        named("scheduling.k8s.io/v1", "PriorityClass", PRIORITY) | {"value": 1_000_000_000},
        admin | {"roleRef": role, "subjects": [subject]},
        named("config.openshift.io/v1", "ClusterVersion", "version") | {"spec": spec},
        made.operator(made.publish("1.0.0", olm)),
    ]
    node.kubectl("apply", "--server-side", *CRDS)
    node.kubectl("wait", "--for=condition=Established", *CRDS)
    node.kubectl("apply", "-f", "-", stdin="\n---\n".join(map(json.dumps, objects)))
    yield made, olm
    node.kubectl("delete", "namespace", NAMESPACE, SIGNED)
    node.kubectl("delete", "clustercatalog", CATALOG)
    node.kubectl("delete", "clusterversion", "version")  # owns what was applied
    gone = (f"namespace/{OLM_NAMESPACE}", f"crd/clustercatalogs.{GROUP}")
    node.kubectl("wait", "--for=delete", *gone, "--timeout=180s")
    node.kubectl("delete", "clusterrolebinding", OPERATOR)
    node.kubectl("delete", "priorityclass", PRIORITY)
    node.kubectl("delete", *CRDS)


def wait_level(node: Node, version: str) -> KubeObject:
    """Until a release is applied; the status of the ClusterVersion."""
    path = '{.status.conditions[?(@.type=="Progressing")].message}'
    try:
        node.kubectl(
            *("wait", "clusterversion/version", "--timeout=180s"),
            f"--for=jsonpath={path}=Cluster version is {version}",
        )
    except CommandFailed as failed:
        said = node.kubectl("get", "clusterversion", "version", "-o=jsonpath={.status.conditions}")
        pods = node.kubectl("get", "pods,leases", "--all-namespaces", "-o=wide")
        job = node.kubectl(
            *("get", "pods", f"-n={NAMESPACE}", f"-l={APP_LABEL}={APP}"),
            "-o=jsonpath={range .items[*].status}{.initContainerStatuses}{.containerStatuses}{end}",
        )
        raise AssertionError(f"not at {version}: {said}\n{pods}\n{job}") from failed
    found = json.loads(node.kubectl("get", "clusterversion", "version", "-o=json"))
    return dict(found["status"])


def assert_olm_runs(node: Node, api: Api, version: str, image: str) -> None:
    """The pods of OLM v1 are those of a release, and work."""
    output = "-o=jsonpath={.status.versions[0].version}"
    assert node.kubectl("get", "clusteroperator", "olm", output) == version
    for program in PROGRAMS:
        deployment = f"deployment/{program}-controller-manager"
        node.kubectl("rollout", "status", deployment, f"-n={OLM_NAMESPACE}", "--timeout=180s")
    images = ("pods", "-o=jsonpath={.items[*].spec.containers[0].image}", f"-n={OLM_NAMESPACE}")
    wait_until(lambda: set(node.kubectl("get", *images).split()) == {image}, what="no others run")
    api.wait_condition(catalog_path(CATALOG), "Serving", "True")


def test_a_job_brings_a_release_to_the_operator(
    node: Node, api: Api, releases: tuple[Releases, str], signer: Signer
) -> None:
    """Images on top of ours have no shell. The new release replaces the operator meanwhile.

    It is complete once the new operator-controller is at work.
    """
    made, olm = releases
    wait_level(node, "1.0.0")
    assert_olm_runs(node, api, "1.0.0", olm)
    newer = made.publish_olm("1.0.1")
    image = made.publish("1.0.1", newer)
    node.kubectl("apply", "-f", "-", stdin=json.dumps(signature(signer, image)))
    asked = {"spec": {"desiredUpdate": {"image": image, "version": "1.0.1"}}}
    node.kubectl(
        "patch", "clusterversion", "version", "--type=merge", f"--patch={json.dumps(asked)}"
    )
    status = wait_level(node, "1.0.1")
    [entry, before] = status["history"]
    assert (entry["image"], entry["state"], entry["verified"]) == (image, "Completed", True)
    assert (before["version"], before["state"]) == ("1.0.0", "Completed")
    job = json.loads(node.kubectl("get", "jobs", f"-n={NAMESPACE}", "-o=json"))["items"][0]
    assert job["metadata"]["name"] == job_name("1.0.1", image)
    assert job["status"]["succeeded"] == 1
    assert [file.name for file in made.payloads.iterdir()] == [folder_of(image)]
    said = node.kubectl("get", "configmap", "product", f"-n={NAMESPACE}", "-o=jsonpath={.data.is}")
    assert said == "1.0.1"
    node.kubectl("rollout", "status", f"deployment/{OPERATOR}", f"-n={NAMESPACE}", "--timeout=180s")
    path = "-o=jsonpath={.items[*].spec.containers[0].image}"
    assert node.kubectl("get", "pods", f"-l=k8s-app={OPERATOR}", f"-n={NAMESPACE}", path) == image
    assert_olm_runs(node, api, "1.0.1", newer)
