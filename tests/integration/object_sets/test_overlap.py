"""Two revisions at work at once: the older began before the newer one was made."""

import pytest

from api.objects import GVK, KubeObject, annotations_of, metadata
from olm_rollout.adoption import Policy
from olm_rollout.io.objects import Newer, ObjectWriter, Result, Write
from olm_rollout.ownership import Owner, controller_reference
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.owners import APPLIER

pytestmark = pytest.mark.integration

CONFIG_MAP = GVK("", "v1", "ConfigMap")
REVISION = "olm.operatorframework.io/revision"


class Overlap:
    """Revisions of one owner, none of which knew of a newer one when it began."""

    def __init__(self, client: KubeClient, owner: KubeObject) -> None:
        self._client = client
        self._owner = owner
        self._namespace = metadata(owner)["namespace"]

    async def apply(
        self, number: int, live: KubeObject | None, *in_service: int
    ) -> tuple[Write, KubeObject]:
        """What a revision made of the object, and the object then."""
        meta = metadata(self._owner)
        reference = controller_reference("v1", "ConfigMap", meta["name"], meta["uid"])
        owner = Owner(APPLIER, "ConfigMap", meta["name"], meta["uid"], (reference,), number)
        wanted = {**_map(self._namespace, "shared"), "data": {"revision": str(number)}}
        writer = ObjectWriter(self._client, owner)
        applied = await writer.apply(wanted, live, Policy.PREVENT, _reads(*in_service))
        return applied, await self._client.get(CONFIG_MAP, "shared", self._namespace)


@pytest.fixture
async def overlap(client: KubeClient, namespace: str) -> Overlap:
    return Overlap(client, await client.create(_map(namespace, "owner"), field_manager="test"))


def _map(namespace: str, name: str) -> KubeObject:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def _reads(*numbers: int) -> Newer:
    async def read() -> frozenset[int]:
        return frozenset(numbers)

    return read


@pytest.mark.parametrize("looked_late", [True, False])
async def test_the_older_leaves_alone_what_the_newer_took_meanwhile(
    overlap: Overlap, looked_late: bool
) -> None:
    _, before = await overlap.apply(1, None)
    _, after = await overlap.apply(2, before)
    done, live = await overlap.apply(1, after if looked_late else before, 2)
    assert done.result is Result.SKIPPED
    assert live["data"] == {"revision": "2"}
    assert metadata(live)["resourceVersion"] == metadata(after)["resourceVersion"]


async def test_an_object_of_a_revision_that_was_deleted_is_taken_back(overlap: Overlap) -> None:
    _, before = await overlap.apply(1, None)
    _, after = await overlap.apply(2, before)
    done, live = await overlap.apply(1, after)
    assert done.result is Result.UPDATED
    assert live["data"] == {"revision": "1"}
    assert annotations_of(live)[REVISION] == "1"
