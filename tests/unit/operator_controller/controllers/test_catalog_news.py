"""Which extensions hear of new content: those whose package it changed, and nobody else."""

from dataclasses import dataclass, field

from api.objects import KubeObject
from olm_runtime.errors import TransientError
from olm_runtime.outcome import Done, Outcome, Retry
from operator_controller.controllers.catalog_news import CatalogNews
from operator_controller.controllers.wants import Wants


@dataclass
class Catalogs:
    """One catalog whose packages last changed as `changed` says; None for not to be asked."""

    source: str = "one"
    changed: dict[str, str | None] = field(default_factory=dict)
    without: set[str] = field(default_factory=set)
    gone: bool = False
    serving: str = "True"
    forgotten: list[str] = field(default_factory=list)

    async def find_catalog(self, name: str) -> KubeObject | None:
        serving = {"type": "Serving", "status": self.serving}
        status = {"resolvedSource": {"image": {"ref": self.source}}, "conditions": [serving]}
        return None if self.gone else {"metadata": {"name": name, "labels": {}}, "status": status}

    async def changed_in(self, raw: KubeObject, package: str) -> tuple[str, bool]:
        found = self.changed[package]
        if found is None:
            raise TransientError("down", within=5.0)
        return found, package not in self.without

    async def forget(self, catalog: str) -> None:
        self.forgotten.append(catalog)


class World:
    def __init__(self) -> None:
        self.catalogs = Catalogs(changed={"p": "one", "q": "one"})
        self.rung: list[str] = []
        wants = Wants()
        for name, package in (("a", "p"), ("b", "p"), ("c", "q")):
            source = {"catalog": {"packageName": package}}
            wants.note({"metadata": {"name": name}, "spec": {"source": source}})
        self.hurried: list[str] = []
        self.news = CatalogNews(self.catalogs, wants, self.ring)
        self.outcomes: list[Outcome] = []

    def ring(self, name: str, /, *, hurry: bool = True) -> None:
        self.rung.append(name)
        if hurry:
            self.hurried.append(name)

    async def heard(self, source: str, **changed: str | None) -> list[str]:
        """Who hears when the catalog has the content `source`."""
        self.catalogs.source = source
        self.catalogs.changed.update(changed)
        self.rung.clear()
        self.hurried.clear()
        self.outcomes.append(await self.news.reconcile("catalog"))
        return sorted(self.rung)


async def test_all_hear_of_a_catalog_that_was_not_known() -> None:
    assert await World().heard("one") == ["a", "b", "c"]


async def test_a_new_catalog_without_the_package_is_no_hurry_but_its_loss_is() -> None:
    world = World()
    world.catalogs.without = {"p"}
    assert await world.heard("one") == ["a", "b", "c"]
    assert world.hurried == ["c"]
    world.catalogs.without = {"p", "q"}
    assert await world.heard("two", q="two") == ["c"]
    assert world.hurried == ["c"]


async def test_those_hear_first_whose_package_no_catalog_had() -> None:
    world = World()
    world.catalogs.without = {"q"}
    await world.heard("one")
    world.catalogs.without.clear()
    await world.heard("two", p="two", q="two")
    assert world.rung == ["c", "a", "b"]


async def test_only_those_hear_whose_package_changed() -> None:
    world = World()
    await world.heard("one")
    assert await world.heard("two", p="two") == ["a", "b"]
    assert await world.heard("three", q="three") == ["c"]
    assert await world.heard("four") == []


async def test_nobody_hears_twice_of_the_same() -> None:
    world = World()
    await world.heard("one")
    await world.heard("two", p="two")
    assert await world.heard("two") == []


async def test_what_was_the_same_before_the_start_is_no_news() -> None:
    assert await World().heard("two", p="two") == ["a", "b"]


async def test_a_change_that_was_missed_in_between_is_told() -> None:
    world = World()
    await world.heard("one")
    assert await world.heard("three", p="two") == ["a", "b"]


async def test_all_concerned_hear_of_an_outage_and_of_its_end() -> None:
    world = World()
    await world.heard("one")
    assert await world.heard("two", p=None) == ["a", "b"]
    assert await world.heard("three", p="one") == ["a", "b"]
    assert await world.heard("three") == []


async def test_an_outage_is_told_once_and_its_end_is_looked_for() -> None:
    world = World()
    assert await world.heard("one", p=None) == ["a", "b", "c"]
    assert await world.heard("one") == []
    assert await world.heard("one", p="one") == ["a", "b"]
    assert world.outcomes == [Retry("down", 5.0), Retry("down", 5.0), Done()]


async def test_a_catalog_that_does_not_serve_is_waited_for() -> None:
    world = World()
    world.catalogs.serving = "False"
    await world.heard("one", p=None)
    assert world.outcomes == [Done()]


async def test_a_catalog_that_is_gone_is_forgotten() -> None:
    world = World()
    await world.heard("one")
    world.catalogs.gone = True
    assert await world.heard("one") == []
    assert world.catalogs.forgotten == ["catalog"]
    world.catalogs.gone = False
    assert await world.heard("one") == ["a", "b", "c"]
