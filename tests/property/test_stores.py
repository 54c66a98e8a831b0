"""A store against a server whose lists, events and answers arrive in any order."""

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from api.objects import KubeObject, labels_of, metadata, name_of
from olm_runtime.watch.store import Event, Store
from tests.property.scale import cases

pytestmark = pytest.mark.property

NAMES = st.sampled_from(["a", "b", "c"])
COLOURS = st.sampled_from(["red", "blue"])


@dataclass
class Server:
    """The truth, and the events of it in order."""

    objects: dict[str, KubeObject] = field(default_factory=dict)
    events: list[tuple[str, KubeObject]] = field(default_factory=list)
    version: int = 0
    uids: int = 0

    def write(self, name: str, colour: str) -> KubeObject:
        self.version += 1
        known = self.objects.get(name)
        if known is None:
            self.uids += 1
        uid = metadata(known)["uid"] if known else f"uid-{self.uids}"
        meta = {"name": name, "uid": uid, "resourceVersion": str(self.version)}
        made = {"metadata": meta | {"labels": {"colour": colour}}}
        self.objects[name] = made
        self.events.append(("MODIFIED" if known else "ADDED", made))
        return made

    def remove(self, name: str) -> KubeObject | None:
        """Deletes an object, or takes the label from it that it is selected by."""
        known = self.objects.pop(name, None)
        if known is not None:
            self.version += 1
            meta = metadata(known) | {"resourceVersion": str(self.version)}
            self.events.append(("DELETED", {"metadata": meta}))
        return known

    def select(self, obj: KubeObject) -> None:
        """Gives it the label again."""
        if name_of(obj) not in self.objects:
            self.version += 1
            meta = metadata(obj) | {"resourceVersion": str(self.version)}
            self.objects[name_of(obj)] = {"metadata": meta}
            self.events.append(("ADDED", {"metadata": meta}))


class Histories(RuleBasedStateMachine):
    """Answers and lists may be late; the watch has each event, in order, from its first list on."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server()
        self.store = Store(lambda obj: obj, {"colour": lambda obj: [labels_of(obj)["colour"]]})
        self.mirror: dict[str, KubeObject] = {}
        self.store.add_event_handler(self.mirrored)
        self.store.replace([], "0")
        self.passed = 0
        self.late: list[KubeObject] = []
        self.unselected: list[KubeObject] = []
        self.lists: list[tuple[list[KubeObject], str]] = []

    def mirrored(self, event: Event[KubeObject]) -> None:
        assert self.mirror.get(event.key[1]) == event.old
        if event.new is None:
            del self.mirror[event.key[1]]
        else:
            self.mirror[event.key[1]] = event.new

    @rule(name=NAMES, colour=COLOURS)
    def somebody_writes(self, name: str, colour: str) -> None:
        self.server.write(name, colour)

    @rule(name=NAMES)
    def somebody_deletes(self, name: str) -> None:
        self.server.remove(name)

    @rule(name=NAMES)
    def somebody_takes_the_label(self, name: str) -> None:
        known = self.server.remove(name)
        if known is not None:
            self.unselected.append(known)

    @rule()
    def somebody_gives_the_label_again(self) -> None:
        if self.unselected:
            self.server.select(self.unselected.pop())

    @rule(name=NAMES, colour=COLOURS, soon=st.booleans())
    def we_write(self, name: str, colour: str, soon: bool) -> None:
        answer = self.server.write(name, colour)
        if not soon:
            self.late.append(answer)
            return
        self.store.update(answer)
        assert self.store.get(name) == answer

    @rule(name=NAMES)
    def we_delete(self, name: str) -> None:
        gone, stored = self.server.remove(name), self.store.get(name)
        if gone and stored and metadata(gone)["uid"] == metadata(stored)["uid"]:
            self.store.delete(stored)
            assert self.store.get(name) is None

    @rule()
    def an_answer_arrives(self) -> None:
        if self.late:
            self.store.update(self.late.pop(0))

    @rule()
    def a_list_is_made(self) -> None:
        self.lists.append((list(self.server.objects.values()), str(self.server.version)))

    @rule()
    def a_list_arrives(self) -> None:
        if self.lists:
            objects, version = self.lists.pop(0)
            self.store.replace(objects, version)

    @rule()
    def an_event_arrives(self) -> None:
        if self.passed < len(self.server.events):
            kind, obj = self.server.events[self.passed]
            self.passed += 1
            (self.store.delete if kind == "DELETED" else self.store.update)(obj)

    @invariant()
    def handlers_saw_all(self) -> None:
        assert {name_of(obj): obj for obj in self.store.objects()} == self.mirror

    @invariant()
    def indexes_are_right(self) -> None:
        for colour in ("red", "blue"):
            found = [name_of(obj) for obj in self.store.by_index("colour", colour)]
            wanted = [n for n, o in self.mirror.items() if labels_of(o)["colour"] == colour]
            assert sorted(found) == sorted(wanted)

    @invariant()
    def what_the_watch_has_passed_is_known(self) -> None:
        if self.passed == len(self.server.events):
            assert self.mirror == self.server.objects

    def teardown(self) -> None:
        while self.lists:
            self.a_list_arrives()
        while self.late:
            self.an_answer_arrives()
        while self.passed < len(self.server.events):
            self.an_event_arrives()
        assert self.mirror == self.server.objects


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=cases(300), stateful_step_count=40, deadline=None)
