"""A control plane of their own, which serves the kinds of cluster updates."""

import secrets
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from api.objects import KubeObject, metadata
from cluster_version.io.applying import Applier
from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.integration.clusters import own_control_plane

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
    control_plane.apply(CLUSTER_VERSION_CRD_FOLDER)
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


@pytest.fixture
def applier(client: KubeClient, version: KubeObject) -> Applier:
    """What applies manifests for it."""
    return Applier(client, metadata(version)["uid"])


@pytest.fixture
def name() -> str:
    """A name of the test's own."""
    return f"x-{secrets.token_hex(4)}"
