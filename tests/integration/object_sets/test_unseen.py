"""Objects without events, because there is no watch, or not yet."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from api.objects import GVK, KubeObject, key_of, metadata
from e2e.harness.controlplane import ControlPlane
from olm_rollout.contention import FREE_TAKEOVERS, Contention
from olm_rollout.io.objects import Newer
from olm_rollout.io.probing import Probed
from olm_rollout.io.rollout import Applied, Rollout
from olm_rollout.io.watches import ManagedWatches
from olm_rollout.ownership import Owner, controller_reference
from olm_rollout.phases import Phase
from olm_rollout.probes import Probes
from olm_rollout.progress import Progress
from olm_runtime.errors import WaitingError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.media_types import MERGE_PATCH
from operator_controller.apply.owners import APPLIER
from tests.cycles import never_looked_for

pytestmark = pytest.mark.integration

CONFIG_MAP = GVK("", "v1", "ConfigMap")
RBAC = "rbac.authorization.k8s.io"


@pytest.fixture
async def blind(client: KubeClient, control_plane: ControlPlane, namespace: str) -> KubeClient:
    """An account that may write ConfigMaps, but neither list nor watch them."""
    name = {"name": "blind", "namespace": namespace}
    verbs = ["get", "create", "patch", "delete"]
    role = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": name,
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}],
    }
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": name,
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "blind"},
        "subjects": [{"kind": "ServiceAccount", **name}],
    }
    await asyncio.to_thread(control_plane.apply, [role, binding])
    return client.as_service_account(namespace, "blind")


class Revision:
    """A revision of one ConfigMap, rolled out again and again with what was remembered."""

    def __init__(self, client: KubeClient, owner: KubeObject) -> None:
        meta = metadata(owner)
        self._client = client
        self._watches = ManagedWatches(lambda *_: None, APPLIER)
        reference = controller_reference("v1", "ConfigMap", meta["name"], meta["uid"])
        self._owner = Owner(APPLIER, "ConfigMap", meta["name"], meta["uid"], (reference,), 1)
        self.settled = False
        self.applied = Applied()
        self._probed = Probed()
        self.newer: Newer = _none
        self.wanted = {**config_map(meta["namespace"], "one"), "data": {"a": "1"}}

    async def look(self) -> Counter[str]:
        """One look at it; which writes that took, by method."""
        before = self._client.answers.copy()
        assert (await self.run()).complete
        asked = self._client.answers - before
        return Counter({method: n for (method, _), n in sorted(asked.items()) if method != "GET"})

    async def run(self, monotonic: Callable[[], float] = time.monotonic) -> Progress:
        """Rolls it out once more."""
        rollout = Rollout(
            self._client,
            self._owner,
            self._watches,
            Probes(lambda _: False),
            self.applied,
            self._probed,
            newer=self.newer,
            settled=self.settled,
            monotonic=monotonic,
        )
        return await rollout.run((Phase("settings", (self.wanted,)),))

    async def close(self) -> None:
        await self._watches.close()


async def _none() -> frozenset[int]:
    return frozenset()


async def _gone() -> frozenset[int]:
    raise WaitingError("the owner is being deleted", seconds=5.0)


def config_map(namespace: str, name: str) -> KubeObject:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


@pytest.fixture
async def revision(
    client: KubeClient, blind: KubeClient, namespace: str
) -> AsyncIterator[Revision]:
    owner = await client.create(config_map(namespace, "owner"), field_manager="test")
    revision = Revision(blind, owner)
    yield revision
    await revision.close()


async def test_what_is_as_it_was_left_is_not_written_again(revision: Revision) -> None:
    assert await revision.look() == {"POST": 1}
    assert await revision.look() == {}


async def test_a_rollout_that_ended_is_gone_at_once(revision: Revision) -> None:
    with never_looked_for() as more_of:
        await revision.look()
        assert more_of(Rollout) == []


@pytest.mark.parametrize("harm", ["changed", "deleted"])
async def test_what_somebody_changed_is_written_again(
    client: KubeClient, revision: Revision, namespace: str, harm: str
) -> None:
    await revision.look()
    one = config_map(namespace, "one")
    if harm == "deleted":
        await client.delete(one)
    else:
        await client.patch(one, {"data": {"a": "2"}}, content_type=MERGE_PATCH)
    assert await revision.look()
    assert (await client.get(CONFIG_MAP, "one", namespace))["data"] == {"a": "1"}
    assert await revision.look() == {}


async def test_a_pause_that_ends_as_it_is_looked_at_is_not_missed(
    client: KubeClient, revision: Revision, namespace: str
) -> None:
    """Timers of uvloop end up to two milliseconds early."""
    await revision.look()
    one = config_map(namespace, "one")
    await client.patch(one, {"data": {"a": "2"}}, content_type=MERGE_PATCH)
    fight = Contention(FREE_TAKEOVERS + 1, last=100.0, taken=frozenset())
    revision.applied.contended[key_of(one)] = fight
    end = fight.last + fight.pause
    moments = itertools.chain([end - 0.001], itertools.repeat(end + 0.001))
    progress = await revision.run(partial(next, moments))
    assert (await client.get(CONFIG_MAP, "one", namespace))["data"] == {"a": "2"}
    assert progress.contended_seconds == 0.0
    await revision.run(lambda: end + 0.002)
    assert (await client.get(CONFIG_MAP, "one", namespace))["data"] == {"a": "1"}


async def test_what_a_revision_had_is_not_made_again_when_its_owner_goes(
    client: KubeClient, revision: Revision, namespace: str
) -> None:
    await revision.look()
    revision.settled = True
    await client.delete(config_map(namespace, "one"))
    revision.newer = _gone
    with pytest.raises(WaitingError, match="the owner is being deleted"):
        await revision.look()
    assert await client.find(CONFIG_MAP, "one", namespace) is None
    revision.newer = _none
    assert await revision.look() == {"POST": 1}


async def test_what_was_made_from_an_object_is_not_written_once_that_is_deleted(
    client: KubeClient, revision: Revision, namespace: str
) -> None:
    await revision.look()
    read = metadata(await client.get(CONFIG_MAP, "one", namespace))["uid"]
    revision.wanted["metadata"]["uid"] = read
    await client.delete(config_map(namespace, "one"))
    with pytest.raises(WaitingError, match="was replaced since it was read"):
        await revision.look()
    assert await client.find(CONFIG_MAP, "one", namespace) is None
    await client.create(config_map(namespace, "one"), field_manager="other")
    with pytest.raises(WaitingError, match="was replaced since it was read"):
        await revision.look()
    assert "data" not in await client.get(CONFIG_MAP, "one", namespace)
