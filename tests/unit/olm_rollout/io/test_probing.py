"""What is read to see whether objects work."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.objects import GVK, KubeObject, ObjectKey, gvk_of, key_of, name_of
from olm_rollout.io.probing import Probed, Prober
from olm_rollout.owned import Fingerprint, Sighting, sighting
from olm_rollout.probes import Health, Probes
from tests.unit.olm_rollout.values import APPLIER

DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
DEPLOYMENT = GVK("apps", "v1", "Deployment")


def live(gvk: GVK, version: str = "1", *, uid: str = "u", works: bool = True) -> KubeObject:
    condition = "Established" if gvk == DEFINITION else "Available"
    conditions = [{"type": condition, "status": str(works)}]
    meta = {"name": gvk.kind.lower(), "uid": uid, "resourceVersion": version}
    status = {"conditions": conditions}
    return {"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": meta, "status": status}


@dataclass(frozen=True, slots=True)
class Given:
    """A probe of the revision's own."""

    gvk: GVK = DEFINITION

    def may_select(self, gvk: GVK) -> bool:
        return gvk == self.gvk

    def selects(self, _: KubeObject) -> bool:
        return True

    def failures(self, _: KubeObject) -> tuple[str, ...]:
        return ("never holds",)


@dataclass(slots=True)
class Cluster:
    """What is there, and what was read of it."""

    objects: list[KubeObject]
    read: list[str] = field(default_factory=list)
    working: list[ObjectKey] = field(default_factory=list)
    """What was seen to work."""
    just_applied: list[ObjectKey] = field(default_factory=list)
    """What was not seen since it was applied."""

    async def find(self, gvk: GVK, *_: Any) -> KubeObject:
        self.read.append(gvk.kind)
        return next(obj for obj in self.objects if gvk_of(obj) == gvk)

    def seen(self, obj: KubeObject) -> Sighting:
        found = next(each for each in self.objects if name_of(each) == name_of(obj))
        return sighting(found, APPLIER)._replace(works=key_of(found) in self.working)

    def left(self, key: ObjectKey) -> Fingerprint | None:
        found = next(each for each in self.objects if key_of(each) == key)
        return sighting(found, APPLIER).fingerprint if key not in self.just_applied else ()


def prober(cluster: Cluster, *given: Given) -> Prober:
    probes = Probes(lambda _: True, given)
    slots = asyncio.Semaphore(8)
    return Prober(cluster, probes, Probed(), cluster.seen, cluster.left, slots)  # type: ignore[arg-type]


async def test_a_definition_that_is_as_it_was_left_is_not_read_after_a_restart() -> None:
    cluster = Cluster([live(DEFINITION), live(DEPLOYMENT, works=False)])
    restarted = prober(cluster)
    restarted.note_restored(cluster.objects)
    found = await restarted.failing(cluster.objects, restarted.probes.health)
    assert cluster.read == ["Deployment"], "whether it is available may have changed meanwhile"
    assert [(name_of(obj), each.health) for obj, each in found] == [
        ("deployment", Health.UNHEALTHY)
    ]


@pytest.mark.parametrize("given", [(Given(),), ()], ids=["has a probe of its own", "another"])
async def test_a_definition_is_read_of_which_more_is_asked(given: tuple[Given, ...]) -> None:
    cluster = Cluster([live(DEFINITION)])
    restarted = prober(cluster, *given)
    restarted.note_restored(cluster.objects)
    if not given:
        cluster.objects[:] = [live(DEFINITION, "2", uid="another", works=False)]
    [(_, found)] = await restarted.failing(cluster.objects, restarted.probes.health)
    assert cluster.read == ["CustomResourceDefinition"]
    assert found.health is Health.UNHEALTHY


async def test_what_its_watch_shows_to_work_is_not_read() -> None:
    workload = live(DEPLOYMENT)
    cluster = Cluster([workload], working=[key_of(workload)])
    probing = prober(cluster)
    assert await probing.failing([workload], probing.probes.health) == []
    assert cluster.read == []
    assert probing.probed.versions == {key_of(workload): "1"}, "an event of it says nothing new"


@pytest.mark.parametrize(
    ("works", "is_new", "given"),
    [(False, False, ()), (True, True, ()), (True, False, (Given(DEPLOYMENT),))],
    ids=["it is not seen to", "not since it was applied", "more is asked of it"],
)
async def test_what_its_watch_does_not_show_to_work_is_read(
    works: bool, is_new: bool, given: tuple[Given, ...]
) -> None:
    workload = live(DEPLOYMENT, works=False)
    key = key_of(workload)
    cluster = Cluster(
        [workload], working=[key] if works else [], just_applied=[key] if is_new else []
    )
    probing = prober(cluster, *given)
    [(_, found)] = await probing.failing([workload], probing.probes.health)
    assert found.health is Health.UNHEALTHY
    assert "Deployment" in cluster.read


async def test_a_definition_that_was_established_is_not_read_whenever_it_changes() -> None:
    cluster = Cluster([live(DEFINITION)])
    probing = prober(cluster)
    for version in ("1", "2", "3"):
        cluster.objects[:] = [live(DEFINITION, version)]
        assert await probing.failing(cluster.objects, probing.probes.health) == []
        assert probing.probed.versions == {key_of(cluster.objects[0]): version}
    assert cluster.read == ["CustomResourceDefinition"]
