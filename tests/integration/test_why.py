"""`olm why` against a real cluster, and catalogs that stay known while catalogd is away."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.ports import free_port
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


def olm_why(
    olm: Olm, *arguments: str, cas_dir: Path | None = None, kubeconfig: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            warm_program("olm"),
            "why",
            *arguments,
            f"--kubeconfig={kubeconfig or olm.control_plane.kubeconfig}",
            f"--catalogd-cas-dir={cas_dir or olm.catalogs_ca.parent}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


@pytest.fixture
def blocked(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> str:
    """An extension at 1.0.0 whose spec asks for what does not follow it."""
    versions = ("1.0.0", "1.1.0", "2.0.0")
    serve_catalog(
        package, publish_catalog(*(BundleSpec(package=package, version=v) for v in versions))
    )
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    olm.control_plane.apply(extension(package, "2.x"))
    api.wait_condition(extension_path(package), "Progressing", "True", message="no bundles found")
    return package


def test_a_blocked_update_is_explained_and_the_change_that_is_shown_unblocks_it(
    olm: Olm, api: Api, blocked: str
) -> None:
    result = olm_why(olm, blocked)
    assert result.returncode == 0, result.stderr
    assert f"installed    {blocked}.v1.0.0" in result.stdout
    assert 'set spec.source.catalog.version to "1.1.0"' in result.stdout
    assert f"it is no successor of {blocked}.v1.0.0: in channel stable it replaces" in result.stdout
    progressing = api.wait_condition(
        extension_path(blocked), "Progressing", "True", message="spec.source.catalog.version"
    )
    assert progressing

    answer = json.loads(olm_why(olm, blocked, "-o", "json").stdout)["explanation"]
    assert {cause["reason"] for cause in answer["causes"]} == {"NotASuccessor", "OutOfRange"}
    api.patch(extension_path(blocked), answer["advice"]["patch"])
    api.wait_installed(blocked, "1.1.0")
    settled = olm_why(olm, blocked)
    assert f"{blocked}.v1.1.0 is installed, and it is what the spec comes to" in settled.stdout
    assert 'set spec.source.catalog.version to "2.0.0"' in settled.stdout


def test_an_extension_that_is_not_there(olm: Olm) -> None:
    result = olm_why(olm, "nobody")
    assert result.returncode == 1
    assert result.stderr.startswith('error: there is no ClusterExtension "nobody"\nhint: ')


def test_a_catalogd_that_is_not_trusted_is_named(olm: Olm, blocked: str, tmp_path: Path) -> None:
    result = olm_why(olm, blocked, cas_dir=tmp_path)
    assert result.returncode == 1
    assert f'catalog "{blocked}" cannot be read' in result.stdout
    assert "CERTIFICATE_VERIFY_FAILED" in result.stdout


def test_what_is_known_of_a_catalog_outlives_catalogd(olm: Olm, api: Api, blocked: str) -> None:
    """Content of the resolved digest counts as available, after a restart of both too."""
    olm.kill(olm.catalogd)
    olm.kill(olm.operator_controller)
    try:
        olm.start_operator_controller()
        olm.control_plane.apply(extension(blocked, "1.1.x"))
        api.wait_installed(blocked, "1.1.0")
    finally:
        olm.start_catalogd()


SERVICE = "catalogd-service"
SYSTEM = "olmv1-system"
IN_CLUSTER = f"{SERVICE}.{SYSTEM}.svc"


def behind_service(address: str, port: int) -> str:
    """A Service that leads to this machine: the proxy wants a Pod with the address behind it."""
    return f"""
apiVersion: v1
kind: Service
metadata: {{name: {SERVICE}, namespace: {SYSTEM}}}
spec:
  ports: [{{name: https, port: 443, targetPort: {port}}}]
---
apiVersion: v1
kind: Endpoints
metadata: {{name: {SERVICE}, namespace: {SYSTEM}}}
subsets:
- ports: [{{name: https, port: {port}}}]
  addresses:
  - ip: {address}
    targetRef: {{kind: Pod, name: {SERVICE}, namespace: {SYSTEM}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {SERVICE}, namespace: {SYSTEM}}}
spec:
  securityContext: {{runAsNonRoot: true, seccompProfile: {{type: RuntimeDefault}}}}
  containers:
  - name: catalogd
    image: catalogd
    securityContext: {{allowPrivilegeEscalation: false, capabilities: {{drop: [ALL]}}}}
"""


def at(address: str) -> str:
    """The status that a kubelet would write."""
    return json.dumps({"status": {"podIP": address, "podIPs": [{"ip": address}]}})


def reader(name: str) -> str:
    """An account with the rights that docs/reference/olm-why.md names, but for the Service."""
    return f"""
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {name}, namespace: {SYSTEM}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {name}}}
rules:
- {{apiGroups: [olm.operatorframework.io], resources: [clusterextensions], verbs: [get]}}
- apiGroups: [olm.operatorframework.io]
  resources: [clusterobjectsets, clustercatalogs]
  verbs: [list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {name}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {name}}}
subjects: [{{kind: ServiceAccount, name: {name}, namespace: {SYSTEM}}}]
"""


def asker_of_the_service(name: str) -> str:
    return f"""
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: {name}, namespace: {SYSTEM}}}
rules: [{{apiGroups: [""], resources: [services/proxy], verbs: [get]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {{name: {name}, namespace: {SYSTEM}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: {name}}}
subjects: [{{kind: ServiceAccount, name: {name}, namespace: {SYSTEM}}}]
"""


@pytest.fixture
def address() -> str:
    """An address of this machine that is not loopback, to which no Service may lead."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        found: str = probe.getsockname()[0]
    if found.startswith("127."):
        pytest.skip("this machine has no address but loopback")
    return found


@pytest.fixture
def in_cluster(olm: Olm, api: Api, blocked: str, address: str) -> Iterator[str]:
    """The blocked extension; its catalog's address is one that only the cluster can reach."""
    port = free_port(address)
    olm.kill(olm.catalogd)
    olm.start_catalogd(
        f"--catalogs-server-addr={address}:{port}", f"--external-address={IN_CLUSTER}"
    )
    kubectl = olm.control_plane.kubectl
    olm.control_plane.apply(behind_service(address, port))
    pod = ("pod", SERVICE, "-n", SYSTEM)
    kubectl("patch", *pod, "--subresource=status", "--type=merge", "-p", at(address))
    try:
        api.wait(catalog_path(blocked), served_at(f"https://{IN_CLUSTER}/"), what="new address")
        yield blocked
    finally:
        kubectl("delete", *pod, "--grace-period=0", "--force")
        kubectl("delete", "service,endpoints", SERVICE, "-n", SYSTEM, "--ignore-not-found")
        olm.kill(olm.catalogd)
        olm.start_catalogd()
        api.wait(catalog_path(blocked), served_at(olm.catalogs_url), what="old address")


def served_at(base: str) -> Callable[[KubeObject | None], bool]:
    def holds(found: KubeObject | None) -> bool:
        urls = ((found or {}).get("status") or {}).get("urls") or {}
        return str(urls.get("base", "")).startswith(base)

    return holds


def test_catalogs_of_the_cluster_are_asked_through_the_api_server(
    olm: Olm, in_cluster: str
) -> None:
    """With the rights that the document names and no others; without the last it is named."""
    olm.control_plane.apply(reader(in_cluster))
    kubeconfig = olm.control_plane.kubeconfig_for_service_account(SYSTEM, in_cluster)
    refused = olm_why(olm, in_cluster, kubeconfig=kubeconfig)
    assert "received unexpected response status code 403" in refused.stdout
    assert "hint: it is asked through the API server: that needs the permission to get" in (
        refused.stdout
    )

    olm.control_plane.apply(asker_of_the_service(in_cluster))
    result = olm_why(olm, in_cluster, kubeconfig=kubeconfig)
    assert result.returncode == 0, result.stderr
    assert 'set spec.source.catalog.version to "1.1.0"' in result.stdout
    assert f"it is no successor of {in_cluster}.v1.0.0" in result.stdout
