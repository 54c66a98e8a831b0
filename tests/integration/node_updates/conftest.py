"""A control plane of their own, on which Jobs and budgets work, and whose nodes KWOK simulates."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.components import CONTROLLERS
from e2e.harness.controlplane import ControlPlane
from e2e.harness.kwok import SimulatedNodes
from e2e.olm.manifests import namespace
from olm_runtime.controller.manager import Manager
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from tests.integration.clusters import own_control_plane
from tests.integration.node_updates.recorded import NODE, POD, Recorded, UpdatesRun
from tests.integration.node_updates.running import at_work, updating_nodes

NAMESPACE = "openshift-cluster-version"
Controllers = Callable[[], AbstractAsyncContextManager[Manager]]

control_plane = own_control_plane(
    "package", controllers=(*CONTROLLERS, "job-controller", "disruption-controller")
)


@pytest.fixture(scope="package")
def access(control_plane: ControlPlane) -> ClusterAccess:
    """To a control plane that serves pools."""
    pools = CLUSTER_VERSION_CRD_FOLDER / "machineconfiguration.openshift.io_machineconfigpools.yaml"
    control_plane.apply(pools)
    control_plane.apply(namespace(NAMESPACE))
    return load_access(str(control_plane.kubeconfig))


@pytest_asyncio.fixture
async def client(access: ClusterAccess) -> AsyncIterator[KubeClient]:
    """A client with all rights."""
    async with KubeClient.connect(access) as connected:
        yield connected


@pytest.fixture(scope="package")
def simulated_nodes(
    access: ClusterAccess, control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Nodes start, restart and run pods as stages.yaml says."""
    folder = tmp_path_factory.mktemp("kwok")
    with SimulatedNodes(folder, control_plane, Path(__file__).with_name("stages.yaml")):
        yield


@pytest_asyncio.fixture
async def updates_run(client: KubeClient) -> AsyncIterator[UpdatesRun]:
    """The updates that are run from now on."""
    made = UpdatesRun(client)
    _, version = await client.list_all(POD)
    async with at_work(made.run(version)):
        yield made


@pytest_asyncio.fixture
async def node_events(client: KubeClient) -> AsyncIterator[Recorded]:
    """What happens to nodes from now on."""
    made = Recorded(client, NODE)
    _, version = await client.list_all(NODE)
    async with at_work(made.run(version)):
        yield made


@pytest.fixture
def controllers(client: KubeClient, access: ClusterAccess) -> Controllers:
    """The controllers of node updates at work, for a while: one program's."""

    return partial(updating_nodes, client, access, NAMESPACE)
