"""A control plane of their own, which serves ClusterVersion and ClusterOperator."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.integration.clusters import own_control_plane

DEFINITIONS = Path(__file__).parents[1] / "cluster_updates"
VERSION: KubeObject = {
    "apiVersion": "config.openshift.io/v1",
    "kind": "ClusterVersion",
    "metadata": {"name": "version"},
    "spec": {"clusterID": "11111111-2222-3333-4444-555555555555"},
}

control_plane = own_control_plane("package")


@pytest.fixture(scope="package")
def served(control_plane: ControlPlane) -> ControlPlane:
    """The control plane, once it serves the kinds."""
    for kind in ("clusterversions", "clusteroperators"):
        control_plane.apply((DEFINITIONS / f"{kind}.yaml").read_text())
    control_plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    return control_plane


@pytest_asyncio.fixture
async def client(served: ControlPlane) -> AsyncIterator[KubeClient]:
    """A client with all rights."""
    async with KubeClient.connect(load_access(str(served.kubeconfig))) as connected:
        yield connected


@pytest_asyncio.fixture
async def version(client: KubeClient) -> KubeObject:
    """The ClusterVersion of the cluster."""
    applied: KubeObject = await client.apply(VERSION, field_manager="test")
    return applied
