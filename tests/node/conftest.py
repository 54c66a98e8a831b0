"""A node on which pods run, our chart installed on it, and the greeter in a catalog."""

import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.harness.images import catalog_image
from e2e.node.cluster import Node
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.node.sandbox import in_box, work_folder
from e2e.olm.api import Api
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CLASSIC
from e2e.olm.classic import Classic
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from e2e.olm.manifests import catalog, with_administrator
from e2e.operator import bundles
from e2e.operator.images import WORDS
from tests.requirements import leave_out


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """A running cluster of one node."""
    if not in_box():
        leave_out("node", "pods run in a box only: make e2e-node")
    with Node(work_folder()) as running:
        yield running


@pytest.fixture(scope="session")
def product(node: Node) -> Release:
    """The chart, installed with two replicas of each program, which wait for pods of extensions."""
    release = Release(node, product_image())
    release.install({})
    return release


@pytest.fixture(scope="session")
def classic(node: Node) -> Release:
    """The chart of OLM Classic, which unpacks bundles by Jobs and rotates certificates quickly."""
    release = Release(node, product_image(), CLASSIC)
    jobs = {"catalogOperator": {"bundleUnpack": "job"}}
    release.install({"olmOperator": {"extraArgs": ["--serving-cert-settle=3s"]}, **jobs})
    return release


@pytest.fixture(scope="session")
def users(
    node: Node, classic: Release, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Classic]:
    """What its users do; the programs themselves run in the cluster."""
    users = Classic(tmp_path_factory.mktemp("users"), node.control_plane, node.registry)
    with users.api:
        yield users


@pytest.fixture(scope="session")
def greeter_catalog(node: Node) -> str:
    """The reference of a catalog with all versions of the greeter, the bad one too."""
    bundles.publish_images(node.registry)
    bundles.publish_bundles(node.registry)
    return bundles.publish_catalog(node.registry, (*WORDS, bundles.BAD))


@pytest.fixture(scope="session")
def publish(node: Node) -> Callable[..., str]:
    """Pushes a catalog of bundles; its reference."""

    def push(*published: PublishedBundle) -> str:
        image = catalog_image(catalog_files([package_blobs(published)]))
        return node.registry.push(image, f"catalogs/{published[0].package}", tag="v1").tag_reference

    return push


@pytest.fixture
def api(node: Node) -> Iterator[Api]:
    """The API server."""
    with Api(node.control_plane) as api:
        yield api


@pytest.fixture
def settled(node: Node, api: Api, publish: Callable[..., str]) -> Iterator[Callable[[], None]]:
    """Deletes an object of an extension, and waits until it is back: operator-controller works."""
    name = f"settled-{secrets.token_hex(4)}"
    spec = BundleSpec(package=name, version="1.0.0")
    node.kubectl("apply", "-f", "-", stdin=catalog(name, publish(spec.publish(node.registry))))
    node.kubectl("apply", "-f", "-", stdin=with_administrator(name))

    def settle() -> None:
        path = f"/api/v1/namespaces/{name}/configmaps/{name}-settings"
        api.wait(path, lambda found: found is not None, what="the object is there")
        api.delete(path)
        api.wait(path, lambda found: found is not None, what="the object is back")

    yield settle
    node.kubectl("delete", "clusterextension", name)
    node.kubectl("delete", "clustercatalog", name)
    node.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def olm_command(node: Node) -> Callable[..., str]:
    """Runs `olm` as the administrator; its standard output."""

    def run(*arguments: str) -> str:
        program = str(Path(sys.executable).with_name("olm"))
        kubeconfig = f"--kubeconfig={node.control_plane.kubeconfig}"
        done = subprocess.run(
            (program, *arguments, kubeconfig), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
