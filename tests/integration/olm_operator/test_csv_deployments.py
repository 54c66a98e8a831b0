"""Deployments of ClusterServiceVersions, of which the store has not heard all."""

import asyncio
from typing import Any

import pytest

from api.objects import GVK, KubeObject, metadata
from e2e.olm.classic import Place
from e2e.olm.csvs import deployment
from olm_classic.io.csv_deployments import Deployments
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import LABEL_DEPLOYMENT_HASH
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError
from olm_runtime.watch.packed_store import PackedStore
from tests.integration.olm_operator.test_csvs import account, grant

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("alone")]

CSV, NAME = "operator.v1", "controller"
DEPLOYMENT = GVK("apps", "v1", "Deployment")


@pytest.fixture
def deployments(client: KubeClient) -> Deployments:
    """No watch fills its store: it has what was written."""
    return Deployments(client, PackedStore())


@pytest.fixture
async def wanted(client: KubeClient, place: Place) -> KubeObject:
    """It says nothing of replicas."""
    place.csv(CSV)
    csv = await client.get(CLUSTER_SERVICE_VERSION, CSV, place.name)
    owner = {"apiVersion": csv["apiVersion"], "kind": csv["kind"], "name": CSV}
    spec: dict[str, Any] = deployment(NAME)["spec"]
    del spec["replicas"]
    meta = {
        "name": NAME,
        "namespace": place.name,
        "labels": {LABEL_DEPLOYMENT_HASH: "one"},
        "ownerReferences": [{**owner, "uid": metadata(csv)["uid"]}],
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


async def scale(client: KubeClient, live: KubeObject) -> None:
    await client.patch(live, {"spec": {"replicas": 3}})


async def test_what_was_scaled_a_moment_ago_stays_in_an_update(
    client: KubeClient, place: Place, deployments: Deployments, wanted: KubeObject
) -> None:
    await deployments.apply([wanted], "")
    await scale(client, await client.get(DEPLOYMENT, NAME, place.name))
    labels = {LABEL_DEPLOYMENT_HASH: "two"}
    newer = {
        **wanted,
        "metadata": {**wanted["metadata"], "labels": labels},
        "spec": {**wanted["spec"], "minReadySeconds": 1},
    }
    await deployments.apply([newer], "")
    spec = (await client.get(DEPLOYMENT, NAME, place.name))["spec"]
    assert (spec["replicas"], spec["minReadySeconds"]) == (3, 1)


async def test_what_was_scaled_a_moment_ago_stays_in_a_repair(
    client: KubeClient, place: Place, deployments: Deployments, wanted: KubeObject
) -> None:
    await deployments.apply([wanted], "")
    live = await client.get(DEPLOYMENT, NAME, place.name)
    deployments.store.update(await client.patch(live, {"spec": {"paused": True}}))
    await scale(client, live)
    assert await deployments.repair([wanted], "") == [NAME]
    spec = (await client.get(DEPLOYMENT, NAME, place.name))["spec"]
    assert (spec["replicas"], "paused" in spec) == (3, False)


async def test_rights_of_a_moment_ago_count(
    client: KubeClient, place: Place, deployments: Deployments, wanted: KubeObject
) -> None:
    """The API server's authorizer hears of them by a watch of its own."""
    account(place, "scoped")
    with pytest.raises(ForbiddenError, match="cannot create resource"):
        await deployments.apply([wanted], "scoped")
    applying = asyncio.create_task(deployments.apply([wanted], "scoped"))
    await asyncio.sleep(0.1)
    assert await client.find(DEPLOYMENT, NAME, place.name) is None
    await asyncio.to_thread(grant, place, "scoped", ["create", "patch"], "deployments", "apps")
    await applying
    assert await client.find(DEPLOYMENT, NAME, place.name)
