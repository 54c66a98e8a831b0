"""`helm install`, `upgrade` and `uninstall` on a real API server, and the programs asked for.

There is no kubelet, so containers run as processes: with the arguments, service accounts and
volumes of the Deployments that Helm made.
"""

import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import pytest
import yaml

from api.objects import name_of
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.errors import CommandFailed
from e2e.harness.images import catalog_image
from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CHART, CLASSIC, NAMESPACE, RELEASE, helm
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, with_administrator
from e2e.olm.pods import PodProcess
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

HOST = "127.0.0.1"
LABEL = "olm.operatorframework.io/metadata.name"
CATALOGD_CERT, OWN_CERT = "catalogd-service-cert", "operator-controller-cert"
WEBHOOK = (
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"
    "catalogd-mutating-webhook-configuration"
)
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FIRST, SECOND = (BundleSpec(package="greeter", version=version) for version in ("1.0.0", "1.1.0"))


class Release:
    """The chart in a cluster, and its pods."""

    def __init__(self, work_dir: Path, control_plane: ControlPlane, registry: Registry) -> None:
        self.work_dir = work_dir
        self.control_plane = control_plane
        self.values = work_dir / "values.yaml"
        assert registry.ca_file is not None
        content = {"trustedCAs": {"pem": registry.ca_file.read_text()}}
        self.values.write_text(yaml.safe_dump(content))
        self.webhook_port, self.metrics_port = free_port(HOST), free_port(HOST)
        self._catalogs, self._health = free_port(HOST), (free_port(HOST), free_port(HOST))
        self.catalogd = self._pod("catalogd")
        self.controller = self._pod("operator-controller")

    def _pod(self, component: str) -> PodProcess:
        folder = self.work_dir / component
        path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{component}-controller-manager"
        return PodProcess(folder, self.control_plane, NAMESPACE, path)

    def helm(self, command: str, *arguments: str) -> str:
        given = [command, RELEASE, *arguments, f"--namespace={NAMESPACE}"]
        if command != "uninstall":
            given[2:2] = [str(CHART), f"--values={self.values}"]
        config = self.control_plane.kubeconfig
        return going_on(*given, kubeconfig=config, home=self.work_dir / "helm")

    def start(self) -> None:
        """As kubelets would: the pod of catalogd waits for the Secret that it mounts."""
        started = [
            self.controller.start(
                f"--health-probe-bind-address={HOST}:{self._health[0]}",
                f"--metrics-bind-address={HOST}:{self.metrics_port}",
            ),
            self.catalogd.start(
                f"--health-probe-bind-address={HOST}:{self._health[1]}",
                f"--catalogs-server-addr={HOST}:{self._catalogs}",
                f"--external-address=localhost:{self._catalogs}",
                f"--webhook-server-port={self.webhook_port}",
                "--metrics-bind-address=0",
            ),
        ]
        for child, port in zip(started, self._health, strict=True):
            child.wait_ready(partial(answers, f"http://{HOST}:{port}/readyz"))

    def stop(self) -> None:
        for pod in (self.controller, self.catalogd):
            pod.stop()


def going_on(command: str, *arguments: str, kubeconfig: Path, home: Path) -> str:
    """Runs Helm, again as the charts' pages say where kinds were not served yet."""
    try:
        return helm(command, *arguments, kubeconfig=kubeconfig, home=home)
    except CommandFailed as error:
        if "ensure CRDs are installed first" not in error.stderr:
            raise
        return helm("upgrade", "--install", *arguments, kubeconfig=kubeconfig, home=home)


def answers(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(url, trust_env=False).is_success
    return False


control_plane = own_control_plane()
"""Helm takes over nothing that others have made."""


@pytest.fixture(scope="module")
def release(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, registry: Registry
) -> Iterator[Release]:
    release = Release(tmp_path_factory.mktemp("release"), control_plane, registry)
    yield release
    release.stop()


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane) as api:
        yield api


def test_the_life_of_a_release(
    release: Release, registry: Registry, api: Api, control_plane: ControlPlane
) -> None:
    published = [spec.publish(registry) for spec in (FIRST, SECOND)]
    image = registry.push(
        catalog_image(catalog_files([package_blobs(published)])), "catalogs/greeter", tag="latest"
    ).tag_reference

    catalogs = ("--set=catalogs[0].name=ours", f"--set=catalogs[0].image={image}")

    # Installed: everything is there, catalogs too, and works.
    release.helm("install", "--create-namespace", *catalogs)
    release.start()
    assert_metrics_are_served(release)
    reach_webhook(api, release.webhook_port)
    wait_until(labelled_at_once(control_plane, image), what="the webhook answers")
    control_plane.apply(with_administrator("greeter", "1.0.0"))
    api.wait_installed("greeter", "1.0.0")

    # Upgraded, to another priority of the catalog: what the programs filled in stays.
    authorities = trusted_by_webhook(api)
    release.helm("upgrade", *catalogs, "--set=catalogs[0].priority=5",
                 "--set=operatorController.replicas=3")  # fmt: skip
    assert priority_of(api, "ours") == 5
    api.wait_condition(catalog_path("ours"), "Serving", "True")
    assert trusted_by_webhook(api) == authorities
    assert labels_of(api, catalog_path("ours"))["app.kubernetes.io/instance"] == RELEASE
    release.helm("upgrade", *catalogs, "--set=catalogs[0].priority=6")
    assert priority_of(api, "ours") == 6
    api.patch(extension_path("greeter"), {"spec": {"source": {"catalog": {"version": "1.1.0"}}}})
    api.wait_installed("greeter", "1.1.0")

    # Uninstalled: what was installed with it goes on, and what it leaves is what it says.
    release.helm("uninstall")
    release.stop()
    for path in (extension_path("greeter"), catalog_path("ours")):
        assert "deletionTimestamp" not in (api.get(path) or {})["metadata"]
    assert left_of_release(api) == {"clustercatalogs/ours", *definitions(api)}
    secrets = [name_of(s) for s in api.list(f"/api/v1/namespaces/{NAMESPACE}/secrets")]
    revisions = [name for name in secrets if name not in (CATALOGD_CERT, OWN_CERT)]
    assert {CATALOGD_CERT, OWN_CERT} < set(secrets)
    assert revisions
    assert all(name.startswith("greeter-") for name in revisions)
    assert api.get("/api/v1/namespaces/greeter/configmaps/greeter-settings") is not None

    # Installed again: it takes over what was left, catalogs too.
    notes = release.helm("install", *catalogs, "--set=catalogs[0].priority=6")
    release.start()
    api.patch(extension_path("greeter"), {"spec": {"source": {"catalog": {
        "version": "1.0.0", "upgradeConstraintPolicy": "SelfCertified"}}}})  # fmt: skip
    api.wait_installed("greeter", "1.0.0")

    # And nothing is left after what the notes say.
    clean_up(notes, release, control_plane)
    assert left_of_release(api) == set()
    assert definitions(api) == set()
    api.wait_gone(f"/api/v1/namespaces/{NAMESPACE}")
    assert api.get("/api/v1/namespaces/greeter/configmaps/greeter-settings") is None


def assert_metrics_are_served(release: Release) -> None:
    """Over TLS with the certificate that it made for itself, to nobody without a token."""
    folder = release.controller.folder("/var/certs") / OWN_CERT
    authority = folder / "ca" / "ca.crt"
    wait_until(authority.is_file, what="its certificate is made; ready it is before")
    context = ssl.create_default_context(cafile=str(authority))
    context.check_hostname = False  # it is called by an address, not by its Service
    url = f"https://{HOST}:{release.metrics_port}/metrics"

    def refused() -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(url, verify=context, trust_env=False).status_code == 401
        return False

    wait_until(refused, what="metrics served")


def reach_webhook(api: Api, port: int) -> None:
    """What the network of a cluster does: the Service leads to the pod."""
    api.patch(
        f"/api/v1/namespaces/{NAMESPACE}/services/catalogd-service",
        {"spec": {"type": "ExternalName", "externalName": "localhost", "clusterIP": None}},
    )
    webhooks = (api.get(WEBHOOK) or {})["webhooks"]
    webhooks[0]["clientConfig"]["service"]["port"] = port
    api.patch(WEBHOOK, {"webhooks": webhooks})


def labelled_at_once(control_plane: ControlPlane, image: str) -> Callable[[], bool]:
    """Whether the API server trusts the webhook: a dry run stores nothing to repair."""
    dry_run = ("create", "--dry-run=server", "-o", "yaml", "-f", "-")

    def labelled() -> bool:
        with suppress(CommandFailed):
            answer = control_plane.kubectl(*dry_run, stdin=catalog("fresh", image))
            return bool(yaml.safe_load(answer)["metadata"].get("labels") == {LABEL: "fresh"})
        return False

    return labelled


def trusted_by_webhook(api: Api) -> str:
    return str((api.get(WEBHOOK) or {})["webhooks"][0]["clientConfig"]["caBundle"])


def priority_of(api: Api, name: str) -> int:
    return int((api.get(catalog_path(name)) or {})["spec"]["priority"])


def labels_of(api: Api, path: str) -> dict[str, str]:
    return dict((api.get(path) or {})["metadata"]["labels"])


def definitions(api: Api) -> set[str]:
    found = (name_of(crd) for crd in api.list(CRDS))
    return {f"customresourcedefinitions/{n}" for n in found if n.endswith("operatorframework.io")}


def left_of_release(api: Api) -> set[str]:
    """Everything in the cluster that has the release's label, as PLURAL/NAME."""
    left = set()
    for version in ("/api/v1", *groups(api)):
        resources = (api.get(version) or {})["resources"]
        for resource in resources:
            if "list" in resource["verbs"] and "/" not in resource["name"]:
                path = f"{version}/{resource['name']}"
                found = api.list(path, f"app.kubernetes.io/instance={RELEASE}")
                left |= {f"{resource['name']}/{name_of(obj)}" for obj in found}
    return left


def groups(api: Api) -> list[str]:
    found = (api.get("/apis") or {})["groups"]
    return [f"/apis/{group['preferredVersion']['groupVersion']}" for group in found]


def clean_up(notes: str, release: Release, control_plane: ControlPlane) -> None:
    """Does what the notes say, line by line; the programs run until Helm stops them."""
    commands = notes.partition("To have nothing left")[2].splitlines()
    commands = [line.strip() for line in commands if line.startswith("  ")]
    assert [command.split()[:2] for command in commands] == [
        ["kubectl", "delete"],
        ["helm", "uninstall"],
        ["kubectl", "delete"],
        ["kubectl", "delete"],
    ]
    for command in commands:
        program, *arguments = command.split()
        if program == "helm":
            release.helm("uninstall")
            release.stop()
        else:
            control_plane.kubectl(*arguments)


def test_olm_classic_is_installed_and_works_beside_it(
    tmp_path: Path, control_plane: ControlPlane, api: Api
) -> None:
    name, place = CLASSIC.name, f"--namespace={CLASSIC.namespace}"
    how = {"kubeconfig": control_plane.kubeconfig, "home": tmp_path / "helm"}
    catalogs = "/apis/operators.coreos.com/v1alpha1/namespaces/olm/catalogsources/ours"
    spec = {"name": "ours", "sourceType": "grpc", "address": "127.0.0.1:9"}
    values = tmp_path / "values.yaml"
    content = {
        "defaultCatalogs": {"catalogs": [spec]},
        "packageServer": {"enabled": False},  # the API server reaches no Service here
    }
    values.write_text(yaml.safe_dump(content))
    given = (name, str(CLASSIC.folder), f"--values={values}", place)
    going_on("install", *given, "--create-namespace", **how)
    path = "/apis/apps/v1/namespaces/olm/deployments/catalog-operator"
    pod = PodProcess(tmp_path / "catalog-operator", control_plane, CLASSIC.namespace, path)
    health = free_port(HOST)
    try:
        child = pod.start(
            f"--health-probe-bind-address={HOST}:{health}",
            f"--metrics-bind-address={HOST}:{free_port(HOST)}",
        )
        child.wait_ready(partial(answers, f"http://{HOST}:{health}/readyz"))
        api.wait(catalogs, lambda obj: obj is not None, what="the default catalog")
        hub = "/apis/config.openshift.io/v1/operatorhubs/cluster"
        control_plane.kubectl("patch", "operatorhub", "cluster", "--type=merge", "-p",
                              '{"spec": {"disableAllDefaultSources": true}}')  # fmt: skip
        api.wait_gone(catalogs)
        helm("upgrade", *given, "--set=catalogOperator.replicas=1", **how)
        assert (api.get(hub) or {})["spec"] == {"disableAllDefaultSources": True}
    finally:
        pod.stop()
    helm("uninstall", name, place, **how)
    assert api.get(path) is None
    assert api.get(f"{CRDS}/catalogsources.operators.coreos.com")
    assert api.get(
        "/apis/operators.coreos.com/v1/namespaces/operators/operatorgroups/global-operators"
    )
