"""Since when somebody waits for an extension, which all its requests have in common. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.objects import KubeObject, condition, is_deleting, metadata, name_of
from api.olm.v1.conditions import ConditionType, Reason
from olm_runtime.controller.handlers import Change
from olm_runtime.lanes import Place, Priority

URGENT_SECONDS = 30.0
"""So long a first installation goes before all else: what cannot be installed must not for ever."""

AT_REST = (Reason.SUCCEEDED, Reason.ARCHIVED, Reason.SUSPENDED)


@dataclass(slots=True)
class _Asked:
    """What was asked for, and when, in seconds of the monotonic clock; whether it is rolled out."""

    since: float
    generation: int
    first: bool
    begun: bool = False


@dataclass(slots=True)
class Turns:
    """The extensions that are on their way to what their specs ask for.

    `monotonic` is the clock of the work queues, in seconds.
    """

    monotonic: Callable[[], float]
    _asked: dict[str, _Asked] = field(default_factory=dict)

    def note(self, event: Change) -> None:
        """A change of a ClusterExtension: it asks for something new, or has what it asked for."""
        name, now = name_of(event.object), event.new
        if now is None or (is_at_rest(now) and not is_deleting(now)):
            self._asked.pop(name, None)
            return
        generation = int(metadata(now).get("generation") or 0)
        known = self._asked.get(name)
        if known is None or known.generation != generation:
            first = not is_installed(now) and not is_deleting(now)
            known = self._asked[name] = _Asked(self.monotonic(), generation, first)
        known.begun = _progress_now(now).get("reason") == Reason.ROLLING_OUT

    def place(self, extension: str) -> Place | None:
        """That of the requests of an extension; None for one that asks for nothing."""
        asked = self._asked.get(extension)
        if asked is None:
            return None
        urgent = asked.first and self.monotonic() - asked.since < URGENT_SECONDS
        priority = Priority.HIGH if urgent else Priority.NORMAL
        return Place(priority, asked.since, asked.begun)


def is_at_rest(obj: KubeObject) -> bool:
    """Whether its status says that its spec, as it is now, has been done."""
    return _progress_now(obj).get("reason") in AT_REST


def progress_of(obj: KubeObject) -> Mapping[str, Any]:
    """The condition that says how it is getting on; empty if there is none."""
    return condition(obj, ConditionType.PROGRESSING) or {}


def _progress_now(obj: KubeObject) -> Mapping[str, Any]:
    """The same, if it is about the spec as it is now."""
    found = progress_of(obj)
    known = found.get("observedGeneration") == metadata(obj).get("generation")
    return found if known else {}


def is_installed(obj: KubeObject) -> bool:
    """Whether a ClusterExtension has any version installed."""
    return bool((obj.get("status") or {}).get("install"))
