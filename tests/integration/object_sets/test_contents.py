"""The content of a set is decoded once, and never other than what is stored."""

import asyncio

import pytest

from api.objects import GVK, KubeObject, metadata
from e2e.harness.controlplane import ControlPlane
from olm_rollout.phases import Phase
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.packed_store import PackedStore
from operator_controller.apply.pack import Packed, pack
from operator_controller.apply.stored import ContentError
from operator_controller.apply.unpack import MissingContentError
from operator_controller.io.revisions import RevisionStore
from operator_controller.io.system_secrets import SECRET, SystemSecrets

pytestmark = pytest.mark.integration

CONFIG_MAP = GVK("", "v1", "ConfigMap")


class Content:
    """A set in a namespace, and the Secrets that it refers to."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self.client = client
        self.watched = SystemSecrets()
        self.store = RevisionStore(client, PackedStore(), namespace, self.watched)
        meta = {"name": "one", "namespace": namespace}
        wanted = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        self.phases = (Phase("settings", (wanted,)),)
        self.packed: Packed = pack("set-1", "set", namespace, self.phases)
        self.raw: KubeObject = {
            "metadata": {"name": "set-1", "uid": "set-1", "generation": 1},
            "spec": {"phases": list(self.packed.phases)},
        }

    async def write(self) -> None:
        """The Secret, with an owner, as the one of a set that was made a while ago."""
        (secret,) = self.packed.secrets
        namespace = metadata(secret)["namespace"]
        meta = {"name": "owner", "namespace": namespace}
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
        await self.client.apply(owner, field_manager="test")
        found = await self.client.get(CONFIG_MAP, "owner", namespace)
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner"}
        reference["uid"] = metadata(found)["uid"]
        owned = {**metadata(secret), "ownerReferences": [reference]}
        await self.client.create({**secret, "metadata": owned}, field_manager="test")


@pytest.fixture
async def content(client: KubeClient, namespace: str) -> Content:
    content = Content(client, namespace)
    await content.write()
    return content


async def test_it_is_decoded_once_until_nobody_works_on_it(content: Content) -> None:
    first = await content.store.content(content.raw, content.client)
    assert [phase.objects for phase in first.phases] == [p.objects for p in content.phases]
    assert await content.store.content(content.raw, content.client) is first
    content.store.release(content.raw)
    again = await content.store.content(content.raw, content.client)
    assert again is not first
    assert again == first


class Behind(KubeClient):
    """Of a server whose memory has an object as it was before."""

    before: KubeObject

    async def find_recent(
        self, gvk: GVK, name: str, namespace: str = "", *, metadata_only: bool = False
    ) -> KubeObject | None:
        return self.before


async def test_it_is_not_refused_for_what_was_wrong_a_moment_ago(
    content: Content, control_plane: ControlPlane
) -> None:
    (secret,) = content.packed.secrets
    async with Behind.connect(load_access(str(control_plane.kubeconfig))) as behind:
        behind.before = {**secret, "immutable": False}
        store = RevisionStore(behind, PackedStore(), metadata(secret)["namespace"], content.watched)
        found = await store.content(content.raw, behind)
        assert [phase.objects for phase in found.phases] == [p.objects for p in content.phases]
        await content.client.delete(secret)
        await content.client.create(behind.before, field_manager="test")
        with pytest.raises(ContentError, match="not immutable"):
            await store.content(content.raw, behind)


async def test_what_is_watched_is_asked_for_once(content: Content) -> None:
    (secret,) = content.packed.secrets
    place, name = metadata(secret)["namespace"], metadata(secret)["name"]
    content.watched.contents.update(await content.client.get(SECRET, name, place))
    first = await content.store.content(content.raw, content.client)
    asked = content.client.answers.copy()
    assert await content.store.content(content.raw, content.client) is first
    assert content.client.answers == asked
    await content.client.delete(secret)
    await content.write()
    content.watched.contents.update(await content.client.get(SECRET, name, place))
    again = await content.store.content(content.raw, content.client)
    assert again is not first, "a Secret of the same name may hold anything"


async def test_what_is_lost_is_missed_although_it_was_known(content: Content) -> None:
    first = await content.store.content(content.raw, content.client)
    (secret,) = content.packed.secrets
    await content.client.delete(secret)

    async def look() -> None:
        async with asyncio.timeout(60):
            while True:  # the server's cache may have it yet
                await content.store.content(content.raw, content.client)

    with pytest.raises(MissingContentError, match="not found"):
        await look()
    await content.write()
    again = await content.store.content(content.raw, content.client)
    assert again is not first, "a Secret of the same name may hold anything"
    assert again == first
