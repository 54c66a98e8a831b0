"""Which events of managed objects enqueue a ClusterObjectSet: not those of its own writes."""

from typing import Any, cast

import pytest

from api.objects import GVK, ObjectKey
from olm_rollout.contention import Contention
from olm_rollout.io.watches import OwnerKey
from olm_rollout.owned import Sighting, sighting
from operator_controller.apply.owners import APPLIER
from operator_controller.apply.revisions import parse_revision
from operator_controller.controllers.object_changes import HEALTH_SECONDS, ObjectChanges, RolledOut
from operator_controller.controllers.per_revision import PerRevision

OWNER = ("ClusterExtension", "ext")
KEY = ObjectKey(GVK("", "v1", "ConfigMap"), "ns", "x")


def live(fields: str = "ours", version: str = "1") -> Sighting:
    entry = {"manager": "olm.operatorframework.io", "operation": "Apply", "fieldsV1": fields}
    meta = {"name": "x", "uid": "uid", "resourceVersion": version, "managedFields": [entry]}
    return sighting({"metadata": meta}, APPLIER)


class World:
    """One set, what its watches saw, and how often it was enqueued."""

    def __init__(self) -> None:
        self.seen: Sighting | None = live()
        self.probed = False
        self.enqueued: list[float] = []
        """After how many seconds the set is to be reconciled."""
        self.taken_down = False
        self.records = PerRevision(RolledOut)
        self.left = self.records.of(parse_revision({"metadata": {"name": "set", "uid": "uid"}}))
        self.changes = ObjectChanges(
            self.records,
            lambda _: self.taken_down,
            cast("Any", self),
            lambda _, seconds: self.enqueued.append(seconds),
            monotonic=lambda: 1000.0,
        )

    def sighting(self, owner: OwnerKey, key: ObjectKey) -> Sighting | None:
        assert (owner, key) == (OWNER, KEY)
        return self.seen

    def reports_every_change(self, owner: OwnerKey, key: ObjectKey) -> bool:
        return self.probed

    def on_event(self) -> None:
        self.changes.on_event("set", OWNER, KEY)


@pytest.fixture
def world() -> World:
    return World()


def test_an_object_that_is_as_it_was_left_enqueues_nothing(world: World) -> None:
    world.left.applied.left[KEY] = live().fingerprint
    world.on_event()
    assert not world.enqueued


@pytest.mark.parametrize(
    "seen", [pytest.param(live("theirs"), id="changed"), pytest.param(None, id="deleted")]
)
def test_an_object_that_others_changed_enqueues_the_set(
    world: World, seen: Sighting | None
) -> None:
    world.left.applied.left[KEY] = live().fingerprint
    world.seen = seen
    world.on_event()
    assert world.enqueued == [0.0]


def test_an_object_that_is_left_to_who_keeps_taking_it_is_looked_at_after_that(
    world: World,
) -> None:
    world.left.applied.left[KEY] = live().fingerprint
    world.left.applied.contended[KEY] = Contention(8, 999.0, frozenset())
    world.seen = live("theirs")
    world.on_event()
    assert world.enqueued == [3.0]


def test_a_set_that_never_rolled_out_is_enqueued_for_everything(world: World) -> None:
    world.records.forget("set")
    world.on_event()
    assert world.enqueued == [0.0]


@pytest.mark.parametrize(
    ("complete", "seconds"),
    [
        pytest.param(True, HEALTH_SECONDS, id="gathered once everything is applied"),
        pytest.param(False, 0.0, id="at once while the next phase may wait for it"),
    ],
)
def test_of_a_probed_object_all_events_count_but_what_the_probe_saw(
    world: World, *, complete: bool, seconds: float
) -> None:
    world.probed, world.left.applied.complete = True, complete
    world.left.applied.left[KEY] = live().fingerprint
    world.left.probed.versions[KEY] = "1"
    world.on_event()
    assert not world.enqueued
    world.seen = live(version="2")
    world.on_event()
    assert world.enqueued == [seconds]


def test_a_set_that_is_taken_down_is_enqueued_otherwise(world: World) -> None:
    world.taken_down = True
    world.seen = None
    world.on_event()
    assert not world.enqueued


@pytest.mark.parametrize(("fields", "again"), [("ours", False), ("theirs", True)])
def test_what_changes_during_a_reconcile_is_judged_when_it_ends(
    world: World, fields: str, *, again: bool
) -> None:
    world.seen = live(fields)
    with world.changes.deferred("set"):
        world.on_event()
        assert not world.enqueued, "it is too early to judge"
        world.left.applied.left[KEY] = live().fingerprint
    assert world.enqueued == ([0.0] if again else [])


def test_what_happened_to_the_objects_of_a_set_that_is_gone_enqueues_nothing(world: World) -> None:
    with world.changes.deferred("set"):
        world.on_event()
        world.records.forget("set")
        world.changes.forget("set")
    assert not world.enqueued
