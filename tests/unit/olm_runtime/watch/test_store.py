"""Stores: what is newest counts, in whatever order it arrives."""

from collections.abc import Iterable

import pytest

from api.objects import KubeObject, labels_of, metadata
from olm_runtime.watch import store as store_module
from olm_runtime.watch.packed_store import PackedStore
from olm_runtime.watch.store import MAX_TOMBSTONES, TOMBSTONE_SECONDS, Event, EventType, Store


def obj(name: str, version: object, *, uid: str = "", **labels: str) -> KubeObject:
    meta = {"name": name, "uid": uid or name, "resourceVersion": str(version), "labels": labels}
    return {"metadata": meta}


def whole(obj: KubeObject) -> KubeObject:
    return obj


def colours(obj: KubeObject) -> Iterable[str]:
    return filter(None, [labels_of(obj).get("colour")])


class World:
    """A store, and what its handlers were called with."""

    def __init__(self, store: Store[KubeObject]) -> None:
        self.store = store
        self.events: list[Event[KubeObject]] = []
        self.store.add_event_handler(self.events.append)

    def versions(self) -> dict[str, str]:
        found = {metadata(o)["name"]: metadata(o)["resourceVersion"] for o in self.store.objects()}
        assert sorted(("", name) for name in found) == sorted(key for key, _ in self.store.items())
        assert len(self.store) == len(found)
        return found

    def seen(self) -> list[tuple[str, str]]:
        seen = [(event.type.value, event.key[1]) for event in self.events]
        self.events.clear()
        return seen


@pytest.fixture(params=["plain", "packed"])
def world(request: pytest.FixtureRequest) -> World:
    indexers = {"colour": colours}
    packed = request.param == "packed"
    return World(PackedStore(indexers) if packed else Store(whole, indexers))


def test_the_first_list_makes_it_synced_and_its_objects_initial(world: World) -> None:
    store = world.store
    assert not store.synced
    store.replace([obj("a", 1), obj("b", 2)], "5")
    assert store.synced
    assert store.newest == 5
    assert [event.initial for event in world.events] == [True, True]
    assert world.seen() == [("ADDED", "a"), ("ADDED", "b")]
    store.replace([obj("a", 1), obj("c", 6)], "6")
    assert not any(event.initial for event in world.events)
    assert world.seen() == [("ADDED", "c"), ("DELETED", "b")]


def test_handlers_see_the_whole_list(world: World) -> None:
    seen: list[int] = []
    world.store.add_event_handler(lambda _: seen.append(len(world.store)))
    world.store.replace([obj("a", 1), obj("b", 2)], "5")
    assert seen == [2, 2]


def test_an_event_has_the_object_before_and_now(world: World) -> None:
    first, second = obj("a", 1), obj("a", 2)
    for each in (first, second):
        world.store.update(each)
    world.store.delete(obj("a", 3))
    added, modified, deleted = world.events
    assert (added.type, added.old, added.new) == (EventType.ADDED, None, first)
    assert (modified.type, modified.old, modified.new) == (EventType.MODIFIED, first, second)
    assert (deleted.type, deleted.old, deleted.new) == (EventType.DELETED, second, None)
    assert (added.object, deleted.object) == (first, second)


def test_what_is_older_than_what_is_known_or_the_same_changes_nothing(world: World) -> None:
    world.store.update(obj("a", 10))
    world.seen()
    for version in (9, 10, "010"):
        world.store.update(obj("a", version))
    world.store.replace([obj("a", 8)], "9")
    assert world.seen() == []
    assert world.versions() == {"a": "10"}


def test_a_write_of_ours_is_read_before_the_watch_sends_it(world: World) -> None:
    world.store.replace([obj("a", 1)], "5")
    world.seen()
    world.store.update(obj("a", 6, colour="red"))  # the answer
    assert world.store.get("a") == obj("a", 6, colour="red")
    assert world.seen() == [("MODIFIED", "a")]
    world.store.update(obj("a", 3))  # the watch, which is behind
    world.store.update(obj("a", 6, colour="red"))
    assert world.seen() == []


def test_a_list_that_is_older_than_a_write_of_ours_does_not_take_it_back(world: World) -> None:
    world.store.replace([], "5")
    world.store.update(obj("made", 7))
    world.store.replace([], "6")
    assert world.versions() == {"made": "7"}
    world.store.replace([], "7")
    assert world.versions() == {}


def test_what_is_deleted_does_not_come_back_by_a_late_answer_event_or_list(world: World) -> None:
    world.store.update(obj("a", 5))
    world.store.delete(obj("a", 7))
    world.seen()
    world.store.update(obj("a", 6))
    world.store.replace([obj("a", 6)], "6")
    world.store.delete(obj("a", 7))
    assert world.seen() == []
    assert world.versions() == {}


def test_what_a_list_does_not_have_does_not_come_back_by_a_late_answer(world: World) -> None:
    world.store.update(obj("a", 5))
    world.store.replace([], "7")
    world.store.update(obj("a", 6))
    assert world.versions() == {}


def test_what_loses_the_label_that_it_is_selected_by_may_get_it_again(world: World) -> None:
    world.store.update(obj("a", 5))
    world.store.delete(obj("a", 6))
    world.store.update(obj("a", 7))
    assert world.seen() == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a")]
    world.store.delete(obj("a", 6))
    assert world.versions() == {"a": "7"}


def test_another_object_of_the_same_name_is_another(world: World) -> None:
    world.store.update(obj("a", 5, uid="one"))
    world.store.delete(obj("a", 6, uid="one"))
    world.store.update(obj("a", 7, uid="two"))
    world.store.delete(obj("a", 6, uid="one"))
    assert world.versions() == {"a": "7"}
    world.store.update(obj("a", 9, uid="three"))
    world.store.update(obj("a", 8, uid="two"))
    assert world.versions() == {"a": "9"}
    assert world.seen() == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a"), ("MODIFIED", "a")]


def test_a_deletion_of_what_nobody_knew_is_remembered(world: World) -> None:
    world.store.delete(obj("a", 6))
    world.store.update(obj("a", 5))
    assert world.versions() == {}
    assert world.seen() == []


def test_only_so_many_deletions_are_remembered(world: World) -> None:
    for number in range(MAX_TOMBSTONES + 1):
        world.store.delete(obj("a", 6, uid=str(number)))
    world.store.update(obj("a", 5, uid="1"))
    assert world.versions() == {}
    world.store.update(obj("a", 5, uid="0"))
    assert world.versions() == {"a": "5"}


def test_deletions_are_remembered_for_a_while(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = iter((0.0, 1.0, TOMBSTONE_SECONDS, TOMBSTONE_SECONDS + 2.0))
    monkeypatch.setattr(store_module, "monotonic", lambda: next(moments))
    for name in ("a", "b", "c"):
        world.store.delete(obj(name, 6))
    world.store.update(obj("a", 5))
    assert world.versions() == {}
    world.store.delete(obj("d", 6))  # the others have had their time
    for name in ("a", "b", "c"):
        world.store.update(obj(name, 5))
    assert world.versions() == {"a": "5", "b": "5"}


def test_after_a_restore_of_etcd_the_list_decides(world: World) -> None:
    store = world.store
    store.replace([obj("kept", 900), obj("lost", 901), obj("deleted", 902)], "902")
    store.delete(obj("deleted", 903))
    world.seen()
    store.replace([obj("kept", 10), obj("deleted", 11)], "20", since=store.newest)
    assert world.versions() == {"kept": "10", "deleted": "11"}
    assert world.seen() == [("MODIFIED", "kept"), ("ADDED", "deleted"), ("DELETED", "lost")]
    assert store.newest == 20
    store.update(obj("kept", 21))
    assert world.versions() == {"kept": "21", "deleted": "11"}


def test_versions_that_are_no_numbers_cannot_be_compared(world: World) -> None:
    world.store.replace([obj("a", "x"), obj("b", "y")], "opaque", since=7)
    world.store.update(obj("a", "z"))
    assert world.versions() == {"a": "z", "b": "y"}
    world.store.replace([obj("b", "y")], "")
    assert world.versions() == {"b": "y"}
    assert world.store.newest == 0


def test_an_index_follows_changes_and_deletions(world: World) -> None:
    store = world.store
    store.replace([obj("a", 1, colour="red"), obj("b", 2, colour="red"), obj("c", 3)], "3")

    def names(colour: str) -> list[str]:
        return [metadata(o)["name"] for o in store.by_index("colour", colour)]

    assert names("red") == ["a", "b"]
    assert [name for _, name in store.keys_by_index("colour", "red")] == ["a", "b"]
    store.update(obj("a", 4, colour="blue"))
    store.update(obj("c", 5, colour="blue"))
    assert (names("red"), names("blue"), names("green")) == (["b"], ["a", "c"], [])
    store.delete(obj("b", 6))
    assert names("red") == []
    with pytest.raises(KeyError):
        store.by_index("shape", "round")


def test_namespaces_are_apart() -> None:
    store = Store(whole)
    one, other = obj("a", 1), obj("a", 2)
    one["metadata"]["namespace"], other["metadata"]["namespace"] = "one", "other"
    store.replace([one, other], "2")
    assert (store.get("a", "one"), store.get("a", "other"), store.get("a")) == (one, other, None)


def test_only_what_the_transform_makes_is_held() -> None:
    store = Store(lambda obj: metadata(obj)["labels"].get("colour"))
    store.update(obj("a", 1, colour="red"))
    assert store.objects() == ["red"]


def test_a_handler_that_fails_does_not_concern_the_others(world: World) -> None:
    store = Store(whole)

    def fail(_: Event[KubeObject]) -> None:
        raise ValueError("on purpose")

    events: list[Event[KubeObject]] = []
    store.add_event_handler(fail)
    store.add_event_handler(events.append)
    store.update(obj("a", 1))
    assert len(events) == 1
