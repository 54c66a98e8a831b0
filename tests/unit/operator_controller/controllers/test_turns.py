"""Since when somebody waits for an extension."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_runtime.controller.handlers import Change
from olm_runtime.lanes import Place, Priority
from olm_runtime.watch.store import Event
from operator_controller.controllers.turns import URGENT_SECONDS, Turns

NAME = "ext"


class World:
    """Turns, and a clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0
        self.turns = Turns(lambda: self.now)

    def see(self, obj: KubeObject | None, *, at: float) -> None:
        self.now = at
        self.turns.note(event(obj))

    def place(self) -> Place | None:
        return self.turns.place(NAME)


@pytest.fixture
def world() -> World:
    return World()


def event(obj: KubeObject | None) -> Change:
    return Event(("", NAME), extension(), obj)


def extension(
    generation: int = 1, seen: int | None = None, *, reason: str = "Succeeded", **extra: Any
) -> KubeObject:
    """One whose status is about the generation `seen`; one without any status by default."""
    found: KubeObject = {"metadata": {"name": NAME, "generation": generation, **extra}}
    if seen is not None:
        progressing = {"type": "Progressing", "reason": reason, "observedGeneration": seen}
        installed = {"bundle": {"version": "1.0.0"}} if reason == "Succeeded" else None
        found["status"] = {"conditions": [progressing], "install": installed}
    return found


def test_a_first_installation_is_urgent_from_its_first_event_on(world: World) -> None:
    world.see(extension(), at=100)
    world.see(extension(1, 1, reason="Retrying"), at=105)
    assert world.place() == Place(Priority.HIGH, 100)


def test_one_is_begun_once_what_it_asks_for_is_rolled_out(world: World) -> None:
    world.see(extension(1, 1, reason="RollingOut"), at=100)
    assert world.place() == Place(Priority.HIGH, 100, begun=True)
    world.see(extension(2, 1, reason="RollingOut"), at=200)
    assert world.place() == Place(Priority.HIGH, 200)
    world.see(extension(2, 2, reason="RollingOut"), at=205)
    assert world.place() == Place(Priority.HIGH, 200, begun=True)


def test_one_that_is_not_done_for_long_goes_with_the_others(world: World) -> None:
    world.see(extension(), at=100)
    world.now = 100 + URGENT_SECONDS
    assert world.place() == Place(Priority.NORMAL, 100)


def test_a_changed_spec_has_the_place_of_its_change(world: World) -> None:
    world.see(extension(1, 1), at=100)
    assert world.place() is None
    world.see(extension(2, 1), at=200)
    world.see(extension(2, 1), at=300)
    assert world.place() == Place(Priority.NORMAL, 200)
    world.see(extension(2, 2), at=400)
    assert world.place() is None


def test_a_deletion_has_the_place_of_its_beginning_until_it_is_over(world: World) -> None:
    world.see(extension(2, 2, deletionTimestamp="2026-01-01T00:00:00Z"), at=100)
    assert world.place() == Place(Priority.NORMAL, 100)
    world.see(None, at=200)
    assert world.place() is None


def test_one_that_is_suspended_waits_for_nothing(world: World) -> None:
    world.see(extension(1, 1, reason="Suspended"), at=100)
    assert world.place() is None
