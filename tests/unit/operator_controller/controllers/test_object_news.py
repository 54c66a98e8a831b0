"""Which changes of objects a ClusterObjectSet is reconciled for: not those that it made itself."""

from typing import Any, cast

import pytest

from api.objects import GVK, ObjectKey
from olm_rollout.contention import Contention
from olm_rollout.io.watches import OwnerKey
from olm_rollout.owned import Sighting, sighting
from operator_controller.apply.owners import APPLIER
from operator_controller.controllers.memory import Memory
from operator_controller.controllers.object_news import HEALTH_SECONDS, ObjectNews

OWNER = ("ClusterExtension", "ext")
KEY = ObjectKey(GVK("", "v1", "ConfigMap"), "ns", "x")


def live(fields: str = "ours", version: str = "1") -> Sighting:
    entry = {"manager": "olm.operatorframework.io", "operation": "Apply", "fieldsV1": fields}
    meta = {"name": "x", "uid": "uid", "resourceVersion": version, "managedFields": [entry]}
    return sighting({"metadata": meta}, APPLIER)


class World:
    """The news of one set, what its watches saw, and how often it rang."""

    def __init__(self) -> None:
        self.seen: Sighting | None = live()
        self.probed = False
        self.rung: list[float] = []
        """After how many seconds the set is to be looked at."""
        self.memory = Memory("uid")
        self.memories = {"set": self.memory}
        self.news = ObjectNews(
            self.memories,
            cast("Any", self),
            lambda _, seconds: self.rung.append(seconds),
            monotonic=lambda: 1000.0,
        )

    def sighting(self, owner: OwnerKey, key: ObjectKey) -> Sighting | None:
        assert (owner, key) == (OWNER, KEY)
        return self.seen

    def tells_every_change(self, owner: OwnerKey, key: ObjectKey) -> bool:
        return self.probed

    def notice(self) -> None:
        self.news.notice("set", OWNER, KEY)


@pytest.fixture
def world() -> World:
    return World()


def test_an_object_that_is_as_it_was_left_is_no_news(world: World) -> None:
    world.memory.applied.left[KEY] = live().fingerprint
    world.notice()
    assert not world.rung


@pytest.mark.parametrize(
    "seen", [pytest.param(live("theirs"), id="changed"), pytest.param(None, id="deleted")]
)
def test_an_object_that_others_changed_is_news(world: World, seen: Sighting | None) -> None:
    world.memory.applied.left[KEY] = live().fingerprint
    world.seen = seen
    world.notice()
    assert world.rung == [0.0]


def test_an_object_that_is_left_to_who_keeps_taking_it_is_looked_at_after_that(
    world: World,
) -> None:
    world.memory.applied.left[KEY] = live().fingerprint
    world.memory.applied.contended[KEY] = Contention(8, 999.0, frozenset())
    world.seen = live("theirs")
    world.notice()
    assert world.rung == [3.0]


def test_a_set_that_never_rolled_out_hears_everything(world: World) -> None:
    world.memories.clear()
    world.notice()
    assert world.rung == [0.0]


@pytest.mark.parametrize(
    ("complete", "seconds"),
    [
        pytest.param(True, HEALTH_SECONDS, id="gathered once everything is applied"),
        pytest.param(False, 0.0, id="at once while the next phase may wait for it"),
    ],
)
def test_of_a_probed_object_all_is_news_but_what_the_probe_saw(
    world: World, *, complete: bool, seconds: float
) -> None:
    world.probed, world.memory.applied.complete = True, complete
    world.memory.applied.left[KEY] = live().fingerprint
    world.memory.probed.versions[KEY] = "1"
    world.notice()
    assert not world.rung
    world.seen = live(version="2")
    world.notice()
    assert world.rung == [seconds]


def test_who_takes_a_set_down_is_told_otherwise_what_is_gone(world: World) -> None:
    world.memory.removal.since = 0.0
    world.seen = None
    world.notice()
    assert not world.rung


@pytest.mark.parametrize(("fields", "rings"), [("ours", False), ("theirs", True)])
def test_what_changes_during_a_reconcile_is_judged_when_it_ends(
    world: World, fields: str, *, rings: bool
) -> None:
    world.seen = live(fields)
    with world.news.judged_afterwards("set"):
        world.notice()
        assert not world.rung, "it is too early to judge"
        world.memory.applied.left[KEY] = live().fingerprint
    assert world.rung == ([0.0] if rings else [])


def test_what_happened_to_the_objects_of_a_set_that_is_gone_is_no_news(world: World) -> None:
    with world.news.judged_afterwards("set"):
        world.notice()
        world.memories.clear()
        world.news.forget("set")
    assert not world.rung
