"""Which events enqueue which requests: through real stores, as the manager has them."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest

from api.objects import GVK, KubeObject, ObjectKey
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager
from olm_runtime.lanes import Place, Priority
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import Store
from operator_controller.controllers.event_handlers import EventHandlers, content_changed
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.controllers.turns import Turns

KEY = ObjectKey(GVK("", "v1", "ConfigMap"), "ns", "x")
EXTENSION = ("ClusterExtension", "ext")


class Statuses:
    """Takes a status with the field `foreign` for somebody else's."""

    def __init__(self) -> None:
        self.forgotten: list[str] = []

    def is_of_others(self, obj: KubeObject) -> bool:
        return bool(obj["status"].get("foreign"))

    def forget(self, obj: KubeObject) -> None:
        self.forgotten.append(obj["metadata"]["name"])


class World:
    """The stores with their handlers, and what was enqueued since that was read last."""

    def __init__(self) -> None:
        self.statuses = Statuses()
        self.extensions, self.object_sets, self.catalogs = (PackedStore() for _ in range(3))
        self._enqueued: list[str] = []
        self.released: list[str] = []
        self._version = 0
        manager = cast("Manager", self)
        self.handlers = EventHandlers(
            extensions=self.extensions,
            object_sets=self.object_sets,
            index=PackageIndex(),
            turns=Turns(lambda: 0.0),
            own_kind=partial(Manager.enqueue_changed, manager),
            release=lambda obj: self.released.append(obj["metadata"]["name"]),
            on_managed_object=lambda name, *_: self._enqueued.append(f"objects of {name}"),
        )
        extension, object_set, catalog = map(self._queue, ("extension", "set", "catalog"))
        self._add(self.extensions, self.handlers.extension, extension)
        self._add(self.object_sets, self.handlers.extension_of, extension)
        self._add(self.catalogs, self.handlers.extensions_selecting, extension)
        self._add(self.object_sets, self.handlers.object_set, object_set)
        self._add(self.extensions, self.handlers.object_sets_of, object_set)
        self.catalogs.add_event_handler(
            lambda event: catalog(event.key[1]) if content_changed(event) else None
        )

    def _add(
        self,
        store: Store[KubeObject],
        handler: Callable[[Change, Enqueue], None],
        enqueue: Enqueue,
    ) -> None:
        store.add_event_handler(lambda event: handler(event, enqueue))

    def _queue(self, kind: str) -> Enqueue:
        def enqueue(
            request: str, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
        ) -> None:
            how = " soon" if after else " low" if priority is Priority.LOW else ""
            self._enqueued.append(f"{kind} {request}{how}")

        return enqueue

    def update(self, store: Store[KubeObject], obj: KubeObject) -> None:
        """As a watch shows it."""
        store.update(self.newer(obj))

    def relist(self, store: Store[KubeObject], *objects: KubeObject) -> None:
        """As a first list shows them."""
        store.replace([self.newer(obj) for obj in objects], str(self._version))

    def delete(self, store: Store[KubeObject], obj: KubeObject) -> None:
        store.delete(self.newer(obj))

    def newer(self, obj: KubeObject) -> KubeObject:
        self._version += 1
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self._version)}}

    def enqueued(self) -> list[str]:
        found, self._enqueued = sorted(self._enqueued), []
        return found


@pytest.fixture
def world() -> World:
    return World()


def obj(name: str = "ext", *, generation: int = 1, **extra: Any) -> KubeObject:
    meta = {"name": name, "uid": f"uid-{name}", "generation": generation, **extra}
    return {"metadata": meta, "spec": {}, "status": {}}


def revision(name: str, *, owner: str = "ext", state: str = "Active", **extra: Any) -> KubeObject:
    reference = {"kind": "ClusterExtension", "name": owner, "controller": True}
    found = obj(name, ownerReferences=[reference] if owner else [], **extra)
    return {**found, "kind": "ClusterObjectSet", "spec": {"lifecycleState": state}}


@pytest.mark.parametrize(
    ("change", "enqueues"),
    [
        pytest.param({}, False, id="a new version alone"),
        pytest.param({"managedFields": [{}]}, False, id="who manages fields"),
        pytest.param({"generation": 2}, True, id="a changed spec"),
        pytest.param({"annotations": {"a": "b"}}, True, id="an annotation"),
        pytest.param({"finalizers": ["f"]}, True, id="a finalizer"),
        pytest.param({"deletionTimestamp": "now"}, True, id="a deletion asked for"),
        pytest.param({"uid": "other"}, True, id="another one of the name"),
    ],
)
def test_what_enqueues_an_extension(
    world: World, change: dict[str, Any], *, enqueues: bool
) -> None:
    world.update(world.extensions, obj())
    assert world.enqueued() == ["extension ext"]
    world.update(world.extensions, obj(**change))
    assert world.enqueued() == (["extension ext"] if enqueues else [])


def test_suspending_and_resuming_enqueue_the_revisions_of_which_something_is_left(
    world: World,
) -> None:
    over = {**revision("ext-1", state="Archived"), "status": progressing("Archived")}
    for each in (over, revision("ext-2"), revision("other-1", owner="other")):
        world.update(world.object_sets, each)
    world.update(world.extensions, obj())
    world.enqueued()
    suspended = obj(annotations={"olm.operatorframework.io/suspend": "true"})
    world.update(world.extensions, suspended)
    assert world.enqueued() == ["extension ext", "set ext-2"]
    world.update(world.extensions, {**suspended, "status": {"a": "b"}})
    assert world.enqueued() == []
    world.update(world.extensions, obj())
    assert world.enqueued() == ["extension ext", "set ext-2"]


def test_a_revision_has_the_place_of_its_extension_and_is_begun_with_its_first_status(
    world: World,
) -> None:
    world.update(world.extensions, obj())
    world.update(world.object_sets, revision("ext-1"))
    assert world.handlers.place_of_object_set("ext-1") == Place(Priority.HIGH, 0.0)
    begun = {**revision("ext-1"), "status": progressing("RollingOut")}
    world.update(world.object_sets, begun)
    assert world.handlers.place_of_object_set("ext-1") == Place(Priority.HIGH, 0.0, begun=True)
    world.update(world.object_sets, revision("alone", owner=""))
    assert world.handlers.place_of_object_set("alone") is None


def test_an_extension_that_is_gone_is_enqueued_and_forgotten(world: World) -> None:
    world.update(world.extensions, obj())
    world.enqueued()
    world.delete(world.extensions, obj())
    assert world.enqueued() == ["extension ext"]
    assert world.statuses.forgotten == ["ext"]


def test_a_status_enqueues_only_if_somebody_else_wrote_it(world: World) -> None:
    world.update(world.extensions, obj())
    world.update(world.object_sets, revision("alone", owner=""))
    world.enqueued()
    world.update(world.extensions, {**obj(), "status": {"a": "b"}})
    assert world.enqueued() == []
    world.update(world.extensions, {**obj(), "status": {"foreign": True}})
    world.update(world.object_sets, {**revision("alone", owner=""), "status": {"foreign": True}})
    assert world.enqueued() == ["extension ext soon", "set alone soon"]


def progressing(reason: str, generation: int = 1) -> dict[str, Any]:
    found = {"type": "Progressing", "reason": reason, "observedGeneration": generation}
    return {"conditions": [found]}


@pytest.mark.parametrize(
    ("status", "low"),
    [
        pytest.param(progressing("Succeeded"), True, id="settled"),
        pytest.param(progressing("Suspended"), True, id="suspended"),
        pytest.param({}, False, id="never reconciled"),
        pytest.param(progressing("Retrying"), False, id="retrying"),
        pytest.param(progressing("Succeeded", 0), False, id="with a newer spec"),
    ],
)
def test_what_the_first_list_shows_settled_has_low_priority(
    world: World, status: dict[str, Any], *, low: bool
) -> None:
    world.relist(world.extensions, {**obj(), "status": status})
    world.relist(world.object_sets, {**revision("ext-1"), "status": status})
    how = " low" if low else ""
    assert world.enqueued() == [f"extension ext{how}", f"extension ext{how}", f"set ext-1{how}"]
    world.update(world.extensions, {**obj("new"), "status": status})
    assert world.enqueued() == ["extension new"], "what comes later has not"


def test_what_is_listed_and_being_deleted_has_normal_priority(world: World) -> None:
    deleted = obj(deletionTimestamp="now")
    world.relist(world.extensions, {**deleted, "status": progressing("Succeeded")})
    assert world.enqueued() == ["extension ext"]


def test_a_revision_enqueues_its_extension_for_its_status_too(world: World) -> None:
    world.update(world.object_sets, revision("ext-1"))
    assert world.enqueued() == ["extension ext", "set ext-1"]
    world.update(world.object_sets, {**revision("ext-1"), "status": {"conditions": []}})
    assert world.enqueued() == ["extension ext"]


def test_a_revision_that_follows_its_extension_enqueues_only_itself(world: World) -> None:
    world.update(world.extensions, obj())
    for name in ("ext-1", "ext-2"):
        world.update(world.object_sets, revision(name))
    world.enqueued()
    world.delete(world.object_sets, revision("ext-1"))
    assert world.enqueued() == ["extension ext", "set ext-1"]
    world.delete(world.extensions, obj())
    world.enqueued()
    world.delete(world.object_sets, revision("ext-2"))
    assert world.enqueued() == ["set ext-2"]


def test_a_revision_that_is_over_is_not_reconciled_but_forgotten(world: World) -> None:
    over = {**revision("ext-1", state="Archived"), "status": progressing("Archived")}
    world.relist(world.object_sets, over)
    assert world.enqueued() == ["extension ext low"]
    world.update(world.extensions, obj())
    world.enqueued()
    world.delete(world.object_sets, over)
    assert world.enqueued() == ["extension ext", "set ext-1"]
    assert (world.statuses.forgotten, world.released) == (["ext-1"], ["ext-1"])


def test_managed_objects_concern_the_revisions_in_service(world: World) -> None:
    for each in (revision("ext-1"), revision("ext-2"), revision("other-1", owner="other")):
        world.update(world.object_sets, each)
    world.enqueued()
    world.handlers.managed_object(EXTENSION, KEY)
    assert world.enqueued() == ["objects of ext-1", "objects of ext-2"]
    world.update(world.object_sets, revision("ext-1", state="Archived", generation=2))
    assert world.enqueued() == ["extension ext", "set ext-1"]
    world.handlers.managed_object(EXTENSION, KEY)
    assert world.enqueued() == ["objects of ext-2"]
    world.delete(world.object_sets, revision("ext-2"))
    world.enqueued()
    world.handlers.managed_object(EXTENSION, KEY)
    assert world.enqueued() == []


def test_a_set_of_no_extension_has_its_own_objects(world: World) -> None:
    world.update(world.object_sets, revision("alone", owner=""))
    assert world.enqueued() == ["set alone"]
    world.handlers.managed_object(("ClusterObjectSet", "alone"), KEY)
    assert world.enqueued() == ["objects of alone"]


def catalog(*, labels: dict[str, str] | None = None, **change: Any) -> KubeObject:
    spec = {"priority": change.get("priority", 0), "availabilityMode": change.get("mode")}
    conditions = [{"type": "Serving", "status": change.get("serving", "True")}]
    status = {
        "conditions": [*conditions, {"type": "Progressing", "status": change.get("going", "True")}],
        "resolvedSource": {"image": {"ref": change.get("ref", "a@sha256:1")}},
        "lastUnpacked": change.get("unpacked"),
    }
    meta = {"name": "catalog", "uid": "uid-catalog", "labels": labels or {}}
    return {"metadata": meta, "spec": spec, "status": status}


ALL = ["extension a", "extension b"]


@pytest.mark.parametrize(
    ("change", "enqueued"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"unpacked": "now", "going": "False"}, [], id="a poll with nothing new"),
        pytest.param({"ref": "a@sha256:2"}, ["catalog catalog"], id="new content"),
        pytest.param({"serving": "False"}, ["catalog catalog"], id="it serves no more"),
        pytest.param({"priority": 1}, ALL, id="another priority"),
        pytest.param({"mode": "Unavailable"}, ALL, id="it was taken out of service"),
        pytest.param({"labels": {"a": "b"}}, ALL, id="other labels, which selectors look at"),
    ],
)
def test_what_a_changed_catalog_enqueues(
    world: World, change: dict[str, Any], enqueued: list[str]
) -> None:
    for name in ("a", "b"):
        world.update(world.extensions, obj(name))
    world.relist(world.catalogs, catalog())
    assert world.enqueued() == ["catalog catalog", *ALL], "it may have been made during an outage"
    world.update(world.catalogs, catalog(**change))
    assert world.enqueued() == enqueued


def test_the_rank_of_a_catalog_concerns_only_who_selects_it(world: World) -> None:
    for name, tier in (("a", "gold"), ("b", "lead"), ("c", "tin")):
        extension = obj(name)
        selector = {"matchLabels": {"tier": tier}}
        extension["spec"] = {"source": {"catalog": {"packageName": "p", "selector": selector}}}
        world.update(world.extensions, extension)
    world.update(world.catalogs, catalog(labels={"tier": "gold"}))
    world.enqueued()
    world.update(world.catalogs, catalog(labels={"tier": "lead"}))
    assert world.enqueued() == ["extension a", "extension b"]
    world.delete(world.catalogs, catalog(labels={"tier": "lead"}))
    assert world.enqueued() == ["catalog catalog", "extension b"]
