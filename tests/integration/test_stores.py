"""Stores of a kind that somebody else watches, against a real API server."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from api.objects import GVK, KubeObject, metadata, name_of, namespace_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.lister import Lister, listed
from olm_runtime.watch.packed_store import PackedStore, without_managed_fields
from olm_runtime.watch.store import Store

pytestmark = pytest.mark.integration

LEASE = GVK("coordination.k8s.io", "v1", "Lease")


def lease(namespace: str, name: str) -> KubeObject:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": meta}


def found_in(namespace: str, store: Store[KubeObject]) -> list[str]:
    return sorted(name_of(obj) for obj in store.objects() if namespace_of(obj) == namespace)


async def listing(lister: Lister) -> None:
    """Has it list once more."""
    lister.tried.clear()
    lister.again.set()
    async with asyncio.timeout(60):
        await lister.tried.wait()


@pytest.fixture
async def lister(client: KubeClient) -> AsyncIterator[tuple[Lister, Store[KubeObject]]]:
    store = PackedStore()
    made = Lister(client, LEASE, store, 600.0)
    task = asyncio.create_task(made.run())
    await made.tried.wait()
    yield made, store
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_list_is_of_the_moment(client: KubeClient, namespace: str) -> None:
    await client.create(lease(namespace, "a"), field_manager="m")
    store = await listed(client, LEASE)
    assert store.synced
    assert found_in(namespace, store) == ["a"]
    assert "managedFields" not in metadata(store.objects()[0])


async def test_what_came_and_went_unseen_is_found_by_another_list(
    client: KubeClient, namespace: str, lister: tuple[Lister, Store[KubeObject]]
) -> None:
    made, store = lister
    for name in ("came", "went"):
        store.update(await client.create(lease(namespace, name), field_manager="m"))
    await client.delete(lease(namespace, "went"))
    await client.create(lease(namespace, "unseen"), field_manager="m")
    assert found_in(namespace, store) == ["came", "went"]
    await listing(made)
    assert found_in(namespace, store) == ["came", "unseen"]


async def test_a_server_that_forgot_what_was_seen_is_believed(
    client: KubeClient, namespace: str, lister: tuple[Lister, Store[KubeObject]]
) -> None:
    """As after a backup of etcd was restored, in which versions are lower."""
    made, store = lister
    created = await client.create(lease(namespace, "x"), field_manager="m")
    ahead = int(metadata(created)["resourceVersion"]) + 1_000_000
    for name in ("x", "lost"):
        later = lease(namespace, name)
        later["metadata"] |= {"uid": name, "resourceVersion": str(ahead)}
        store.update(later)
    await listing(made)
    assert found_in(namespace, store) == ["x"]
    assert store.newest < ahead
    assert store.get("x", namespace) == without_managed_fields(created)
