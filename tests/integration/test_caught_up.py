"""Lists that are as new as what is known, against a real API server."""

from collections.abc import AsyncIterator

import pytest

from api.objects import GVK, KubeObject, metadata, name_of
from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube import client as kube
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from operator_controller.io.caught_up import CaughtUpLists

pytestmark = pytest.mark.integration

LEASE = GVK("coordination.k8s.io", "v1", "Lease")
LABELS = "test=caught-up"


@pytest.fixture
async def client(control_plane: ControlPlane) -> AsyncIterator[KubeClient]:
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        yield client


@pytest.fixture
def lists(client: KubeClient) -> CaughtUpLists:
    return CaughtUpLists(client, LEASE)


def lease(namespace: str, name: str) -> KubeObject:
    meta = {"name": name, "namespace": namespace, "labels": {"test": "caught-up"}}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": meta}


def found_in(namespace: str, listed: list[KubeObject]) -> list[str]:
    return [name_of(obj) for obj in listed if metadata(obj)["namespace"] == namespace]


async def test_what_was_heard_is_in_every_list_after_it(
    client: KubeClient, lists: CaughtUpLists, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "PAGE_SIZE", 3)
    made: list[str] = []
    for number in range(10):
        made.append(f"x{number}")
        lists.heard(await client.create(lease(namespace, made[-1]), field_manager="m"))
        asked = client.answers["GET", "200"]
        assert found_in(namespace, await lists.list(LABELS)) == made
        assert client.answers["GET", "200"] == asked + 1, "a server may ask etcd for each page"


async def test_the_moment_has_what_nobody_told_of(
    client: KubeClient, lists: CaughtUpLists, namespace: str
) -> None:
    lists.heard(await client.create(lease(namespace, "heard"), field_manager="m"))
    await client.create(lease(namespace, "unheard"), field_manager="m")
    listed = await lists.list(LABELS, at_this_moment=True)
    assert found_in(namespace, listed) == ["heard", "unheard"]


async def test_a_server_that_forgot_what_was_heard_is_believed(
    client: KubeClient, lists: CaughtUpLists, namespace: str
) -> None:
    """As after a backup of etcd was restored, in which versions are lower."""
    created = await client.create(lease(namespace, "x"), field_manager="m")
    ahead = str(int(metadata(created)["resourceVersion"]) + 1_000_000)
    lists.heard({"metadata": {"resourceVersion": ahead}})
    assert found_in(namespace, await lists.list(LABELS)) == ["x"]

    asked = client.answers["GET", "504"]
    assert asked == 1
    assert found_in(namespace, await lists.list(LABELS)) == ["x"]
    assert client.answers["GET", "504"] == asked


async def test_a_version_that_is_no_number_says_nothing(
    client: KubeClient, lists: CaughtUpLists, namespace: str
) -> None:
    await client.create(lease(namespace, "x"), field_manager="m")
    lists.heard({"metadata": {"resourceVersion": "opaque"}})
    lists.heard({"metadata": {}})
    assert found_in(namespace, await lists.list(LABELS)) == ["x"]
