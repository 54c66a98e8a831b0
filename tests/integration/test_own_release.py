"""OLM v1 as a component of a release, installed and updated by the Cluster Version Operator.

Releases are made and asked for as release-with-olm.md says (e2e/olm/own_release.py). The pods of
Deployments are processes (e2e/olm/kubelet.py).
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from api.objects import KubeObject
from api.olm.v1.names import GROUP
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import PATIENCE_SECONDS, Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import NAMESPACE
from e2e.olm.cluster_updates import OPERATORS, ClusterUpdates
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.kubelet import Kubelet
from e2e.olm.manifests import with_administrator
from e2e.olm.own_release import OwnRelease, image_of, make_first, section
from e2e.olm.reader import Reader
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

FEWER = {"catalogd": {"replicas": 1}, "operatorController": {"replicas": 1}}
"""Each pod costs a process."""
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
POLICIES = f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies"
RIGHTS = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVICES = f"/api/v1/namespaces/{NAMESPACE}/services"
POLICY = f"{POLICIES}/default-deny-all-traffic"
CATALOGS = catalog_path("").rstrip("/")
PACKAGE = "greeter"

control_plane = own_control_plane()
"""Nothing has installed the product yet."""


@pytest.fixture
def reader(tmp_path: Path, control_plane: ControlPlane, registry: Registry) -> Reader:
    """Who makes the releases, which bring a catalog with one package."""
    assert registry.ca_file
    published = [BundleSpec(package=PACKAGE, version="1.0.0").publish(registry)]
    content = catalog_image(catalog_files([package_blobs(published)]))
    image = registry.push(content, f"catalogs/{PACKAGE}", tag="latest").tag_reference
    values = tmp_path / "values.yaml"
    values.write_text(yaml.safe_dump({**FEWER, "catalogs": [{"name": PACKAGE, "image": image}]}))
    folder = tmp_path / "reader"
    folder.mkdir()
    return Reader(
        folder,
        control_plane,
        names={"registry.example.com": registry.address},
        values=values,
        authorities=registry.ca_file.read_bytes(),
    )


@pytest.fixture
def cluster(
    tmp_path: Path, control_plane: ControlPlane, registry: Registry
) -> Iterator[ClusterUpdates]:
    """A cluster with a ClusterVersion; its operator does not run yet, and no pods do."""
    with ClusterUpdates(tmp_path / "updates", control_plane, registry) as cluster:
        cluster.install()
        yield cluster


def pods_of(cluster: ClusterUpdates, name: str) -> Kubelet:
    """Runs the pods of OLM v1 while it is open; `name` is of the folder that they work in."""
    trusted = {"SSL_CERT_FILE": str(cluster.registry.ca_file)}
    folder = cluster.work_dir / name
    return Kubelet(folder, cluster.control_plane, NAMESPACE, environment=trusted)


def specs(api: Api) -> dict[str, object]:
    """How often what the release has was written, beside statuses."""
    lists = (CATALOGS, DEPLOYMENTS, POLICIES, RIGHTS, BINDINGS, DEFINITIONS, SERVICES)
    found = (each["metadata"] for path in lists for each in api.list(path))
    return {
        meta["name"]: meta.get("generation", meta["resourceVersion"])
        for meta in found
        if "ownerReferences" in meta and not POLICY.endswith(meta["name"])
    }


def undo_by_hand(api: Api) -> None:
    """Deletes an object of the release, and waits until a round has made it again."""
    api.delete(POLICY)
    api.wait(POLICY, lambda obj: obj is not None, what="the policy is made again")


def wait_deployed(api: Api, release: OwnRelease, digest: str) -> None:
    """Waits until the pods of both programs are those of a release."""

    def is_deployed(obj: KubeObject | None) -> bool:
        spec, status = (obj or {}).get("spec") or {}, (obj or {}).get("status") or {}
        [container] = spec["template"]["spec"]["containers"]
        return (
            container["image"].endswith(digest)
            and status.get("observedGeneration") == (obj or {})["metadata"]["generation"]
            and status.get("replicas") == status.get("updatedReplicas") == 1
            and status.get("availableReplicas") == 1
        )

    for program in ("catalogd", "operator-controller"):
        path = f"{DEPLOYMENTS}/{program}-controller-manager"
        api.wait(path, is_deployed, what=f"{program} of {release.version} is at work")


def operator_version(api: Api) -> str:
    """The version that ClusterOperator olm tells."""
    found = api.get(f"{OPERATORS}/olm") or {}
    return str(found["status"]["versions"][0]["version"])


def history(cluster: ClusterUpdates) -> list[tuple[str, str, str]]:
    entries = cluster.version["status"]["history"]
    return [(each["version"], each["state"], each["image"]) for each in entries]


def test_olm_is_installed_and_updated_by_releases(cluster: ClusterUpdates, reader: Reader) -> None:
    api = cluster.api
    first = make_first(reader)
    cluster.start(first, image=first.image)
    with pods_of(cluster, "first"):
        cluster.wait_level("1.0.0", timeout=PATIENCE_SECONDS)
        wait_deployed(api, first, "1" * 64)
        reader.follow(section("See it"))

        # It works, and nothing that is as it should be is written.
        api.wait_condition(catalog_path(PACKAGE), "Serving", "True")
        cluster.control_plane.apply(with_administrator(PACKAGE))
        api.wait_installed(PACKAGE, "1.0.0")
        before = specs(api)
        assert {PACKAGE, "catalogd-service", f"clusterextensions.{GROUP}"} <= before.keys()
        undo_by_hand(api)
        undo_by_hand(api)
        assert specs(api) == before

    # An update is not complete before operator-controller says that it is of the release.
    settings = f"/api/v1/namespaces/{PACKAGE}/configmaps/{PACKAGE}-settings"
    installed = api.get(settings)
    reader.follow(section("Update it"))
    second = OwnRelease("1.1.0", image_of(reader, "1.1.0"), first.folder)
    cluster.wait_condition("Progressing", "True", "waiting on olm", timeout=PATIENCE_SECONDS)
    assert operator_version(api) == "1.0.0"
    assert history(cluster)[0] == ("1.1.0", "Partial", second.image)
    with pods_of(cluster, "second"):
        cluster.wait_level("1.1.0", timeout=PATIENCE_SECONDS)
        assert operator_version(api) == "1.1.0"
        wait_deployed(api, second, "2" * 64)
        api.wait_installed(PACKAGE, "1.0.0")
    ended = [("1.1.0", "Completed", second.image), ("1.0.0", "Completed", first.image)]
    assert history(cluster) == ended
    assert api.get(settings) == installed
