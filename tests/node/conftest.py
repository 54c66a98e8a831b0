"""A node on which pods run, our product over it, and the greeter in a catalog."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.node.cluster import Node
from e2e.node.sandbox import in_box, work_folder
from e2e.olm.api import Api
from e2e.olm.programs import Olm
from e2e.operator import bundles
from e2e.operator.images import WORDS


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """A running cluster of one node."""
    if not in_box():
        pytest.skip("pods run in a box only: make e2e-node")
    with Node(work_folder()) as running:
        yield running


@pytest.fixture(scope="session")
def greeter_catalog(node: Node) -> str:
    """The reference of a catalog with all versions of the greeter, the bad one too."""
    bundles.publish_images(node.registry)
    bundles.publish_bundles(node.registry)
    return bundles.publish_catalog(node.registry, (*WORDS, bundles.BAD))


@pytest.fixture(scope="session")
def product(node: Node) -> Iterator[None]:
    """catalogd and operator-controller, which wait for pods."""
    with Olm(work_folder() / "olm", node.control_plane, node.registry) as olm:
        olm.stop_operator_controller()
        olm.start_operator_controller("--feature-gates=BoxcutterRuntime=true")
        yield


@pytest.fixture
def api(node: Node) -> Iterator[Api]:
    """The API server."""
    with Api(node.control_plane) as api:
        yield api


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
