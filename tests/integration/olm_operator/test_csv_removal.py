"""How a ClusterServiceVersion ends, where no watch has heard yet of what it leaves."""

import random
from datetime import timedelta

import pytest

from e2e.harness.controlplane import ControlPlane
from e2e.olm.classic import Classic, Place
from e2e.olm.csvs import cluster_rights
from olm_classic.controllers.csv_removal import FINALIZER, Removal
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import Rotation
from olm_runtime.clocks import utc_now
from olm_runtime.controller.events import EventBroadcaster
from olm_runtime.controller.manager import Manager
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.outcome import Done

pytestmark = pytest.mark.integration

CSV = "operator.v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
LIFETIME = timedelta(days=1)


def removal_of(client: KubeClient) -> Removal:
    """With stores that hold nothing: no manager runs that would fill them."""
    events = EventBroadcaster(client, controller="example.com/test", instance="test")
    manager = Manager(client, events=events, clock=utc_now, jitter=random.random)
    rotation = Rotation(issuer(LIFETIME, "test"), timedelta(0), utc_now)
    return Removal(client, CsvStores.of(manager), OwnedApis(manager, rotation))


@pytest.mark.usefixtures("alone")
async def test_its_cluster_wide_rights_end_before_it(
    control_plane: ControlPlane, olm: Classic, place: Place
) -> None:
    made = place.csv(CSV)
    made["metadata"]["finalizers"] = [FINALIZER]
    name = f"{place.name}-role"
    place.apply(made, *cluster_rights(name, CSV, place.name))
    place.apply(*cluster_rights(f"{name}-other", "other.v1", place.name))
    place.delete("clusterserviceversions", CSV)
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        csv = await client.get(CLUSTER_SERVICE_VERSION, CSV, place.name)
        assert await removal_of(client).finish(csv) == Done()
    assert olm.api.get(place.path("clusterserviceversions", CSV)) is None
    for plural in ("clusterroles", "clusterrolebindings"):
        assert olm.api.get(f"{RBAC}/{plural}/{name}") is None
        assert olm.api.get(f"{RBAC}/{plural}/{name}-other") is not None
