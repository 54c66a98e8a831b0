"""Which extensions are enqueued for new content: those whose package it changed, no others."""

from collections.abc import Collection
from dataclasses import dataclass, field

import pytest

from api.objects import KubeObject
from olm_runtime.errors import TransientError
from olm_runtime.lanes import Priority
from olm_runtime.outcome import Done, Outcome, Retry
from olm_runtime.watch.store import Event
from operator_controller.controllers import package_index
from operator_controller.controllers.catalog_changes import CatalogChanges
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.io.catalogs import Comparison


@dataclass
class Catalogs:
    """One catalog whose packages last changed as `changed` says; None for not to be asked.

    `known`: those of which its present content was known before it was compared.
    """

    source: str = "one"
    changed: dict[str, str | None] = field(default_factory=dict)
    without: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)
    gone: bool = False
    serving: str = "True"
    forgotten: list[str] = field(default_factory=list)
    retained: list[set[str]] = field(default_factory=list)

    def find_catalog(self, name: str) -> KubeObject | None:
        serving = {"type": "Serving", "status": self.serving}
        status = {"resolvedSource": {"image": {"ref": self.source}}, "conditions": [serving]}
        return None if self.gone else {"metadata": {"name": name, "labels": {}}, "status": status}

    async def compare(self, raw: KubeObject, package: str) -> Comparison:
        found = self.changed[package]
        if found is None:
            raise TransientError("down", within=5.0)
        return Comparison(found, package not in self.without, package in self.known)

    async def forget(self, catalog: str) -> None:
        self.forgotten.append(catalog)

    async def keep_only(self, catalog: str, packages: Collection[str]) -> None:
        assert catalog == "catalog"
        self.retained.append(set(packages))


class World:
    def __init__(self) -> None:
        self.catalogs = Catalogs(changed={"p": "one", "q": "one"})
        self.enqueued: list[str] = []
        index = self.index = PackageIndex()
        for name, package in (("a", "p"), ("b", "p"), ("c", "q")):
            source = {"catalog": {"packageName": package}}
            index.update({"metadata": {"name": name}, "spec": {"source": source}})
        self.urgent: list[str] = []
        self.all_known = True
        self.changes = CatalogChanges(
            self.catalogs, index, self.enqueue, all_known=lambda: self.all_known
        )
        self.outcomes: list[Outcome] = []

    def enqueue(
        self, name: str, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
    ) -> None:
        self.enqueued.append(name)
        if priority is Priority.NORMAL:
            self.urgent.append(name)

    def come(self, *, initial: bool = True) -> None:
        """The catalog comes into the store, as it is."""
        now = self.catalogs.find_catalog("catalog")
        self.changes.on_event(Event(("", "catalog"), None, now, initial), self.enqueue)

    async def see(self, source: str, **changed: str | None) -> list[str]:
        """Who is enqueued when the catalog has the content `source`."""
        self.catalogs.source = source
        self.catalogs.changed.update(changed)
        self.enqueued.clear()
        self.urgent.clear()
        self.outcomes.append(await self.changes.reconcile("catalog"))
        return sorted(self.enqueued)


async def test_all_are_enqueued_for_a_catalog_that_was_not_known() -> None:
    assert await World().see("one") == ["a", "b", "c"]


async def test_a_new_catalog_without_the_package_has_low_priority_but_its_loss_does_not() -> None:
    world = World()
    world.catalogs.without = {"p"}
    assert await world.see("one") == ["a", "b", "c"]
    assert world.urgent == ["c"]
    world.catalogs.without = {"p", "q"}
    assert await world.see("two", q="two") == ["c"]
    assert world.urgent == ["c"]


async def test_those_are_enqueued_first_whose_package_no_catalog_had() -> None:
    world = World()
    world.catalogs.without = {"q"}
    await world.see("one")
    world.catalogs.without.clear()
    await world.see("two", p="two", q="two")
    assert world.enqueued == ["c", "a", "b"]


async def test_only_those_are_enqueued_whose_package_changed() -> None:
    world = World()
    await world.see("one")
    assert await world.see("two", p="two") == ["a", "b"]
    assert await world.see("three", q="three") == ["c"]
    assert await world.see("four") == []


async def test_the_same_content_enqueues_nobody_twice() -> None:
    world = World()
    await world.see("one")
    await world.see("two", p="two")
    assert await world.see("two") == []


async def test_what_was_the_same_before_the_start_is_no_change() -> None:
    assert await World().see("two", p="two") == ["a", "b"]


async def test_after_a_start_nobody_is_enqueued_for_what_was_known_before_it() -> None:
    world = World()
    world.catalogs.known = {"p"}
    world.come()
    assert await world.see("one") == ["c"]
    assert await world.see("two", p="two") == ["a", "b"]


async def test_content_that_came_just_after_the_start_enqueues_whom_it_concerns() -> None:
    world = World()
    world.catalogs.known = {"p", "q"}
    world.come()
    assert await world.see("two", p="two") == ["a", "b"]


async def test_a_catalog_that_was_made_after_the_start_is_new_though_its_content_is_known() -> None:
    world = World()
    world.catalogs.known = {"p", "q"}
    world.come(initial=False)
    assert await world.see("one") == ["a", "b", "c"]


async def test_a_catalog_that_was_made_anew_after_the_start_is_new() -> None:
    world = World()
    world.catalogs.known = {"p", "q"}
    world.come()
    known = world.catalogs.find_catalog("catalog")
    world.changes.on_event(Event(("", "catalog"), known, None), world.enqueue)
    assert await world.see("one") == ["a", "b", "c"]


async def test_a_change_that_was_missed_in_between_is_seen() -> None:
    world = World()
    await world.see("one")
    assert await world.see("three", p="two") == ["a", "b"]


async def test_all_concerned_are_enqueued_for_an_outage_and_for_its_end() -> None:
    world = World()
    await world.see("one")
    assert await world.see("two", p=None) == ["a", "b"]
    assert await world.see("three", p="one") == ["a", "b"]
    assert await world.see("three") == []


async def test_an_outage_enqueues_once_and_its_end_is_looked_for() -> None:
    world = World()
    assert await world.see("one", p=None) == ["a", "b", "c"]
    assert await world.see("one") == []
    assert await world.see("one", p="one") == ["a", "b"]
    assert world.outcomes == [Retry("down", 5.0), Retry("down", 5.0), Done()]


async def test_a_catalog_that_does_not_serve_is_waited_for() -> None:
    world = World()
    world.catalogs.serving = "False"
    await world.see("one", p=None)
    assert world.outcomes == [Done()]


async def test_a_catalog_that_is_gone_is_forgotten() -> None:
    world = World()
    await world.see("one")
    world.catalogs.gone = True
    assert await world.see("one") == []
    assert world.catalogs.forgotten == ["catalog"]
    world.catalogs.gone = False
    assert await world.see("one") == ["a", "b", "c"]


async def test_packages_that_nobody_asks_for_any_more_are_dropped_with_the_next_content() -> None:
    world = World()
    await world.see("one")
    world.index.remove("a")
    world.index.remove("c")
    await world.see("two")
    assert world.catalogs.retained == [{"p", "q"}, {"p"}]


async def test_nothing_is_dropped_before_all_extensions_are_known() -> None:
    world = World()
    world.all_known = False
    await world.see("one")
    assert world.catalogs.retained == []


def test_who_asks_for_a_package_is_found_without_a_look_at_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, looked = World(), list[object]()

    def selects(*of: object) -> bool:
        looked.append(of)
        return True

    monkeypatch.setattr(package_index, "selects", selects)
    assert sorted(world.index.extensions_of("q", {})) == ["c"]
    assert len(looked) == 1
