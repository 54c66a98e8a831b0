"""The history of a ClusterVersion: which releases it has had, the newest first.

Source of the rules: upstream's notes, section 12.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from api.wire import timestamp

MAX_ENTRIES = 100
MINOR = 2
"""How many numbers of a version are its minor version."""
NEWEST_RETAINED = 5


class State(StrEnum):
    """Whether all of a release was applied once."""

    COMPLETED = "Completed"
    PARTIAL = "Partial"


@dataclass(frozen=True, slots=True)
class Entry:
    """A release; `completed` is when it was reached or left, None while it is worked towards."""

    image: str
    version: str
    state: State
    started: datetime | None = None
    completed: datetime | None = None
    verified: bool = False
    accepted_risks: str = ""


@dataclass(frozen=True, slots=True)
class Reached:
    """What a worker reports of the release that it applies.

    accepted_risks  what was reported and passed over when it was loaded; of one from the own image
                    (`local`) nothing is known any more
    """

    image: str
    version: str
    is_completed: bool = False
    verified: bool = False
    local: bool = False
    accepted_risks: str = ""


def read(history: Iterable[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The entries of a status."""
    return tuple(
        Entry(
            each.get("image") or "",
            each.get("version") or "",
            State(each.get("state") or State.PARTIAL),
            _time(each.get("startedTime")),
            _time(each.get("completionTime")),
            verified=bool(each.get("verified")),
            accepted_risks=each.get("acceptedRisks") or "",
        )
        for each in history
    )


def written(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Entries as a status has them."""
    return [
        {
            "state": entry.state.value,
            "startedTime": entry.started and timestamp(entry.started),
            "completionTime": entry.completed and timestamp(entry.completed),
            "version": entry.version,
            "image": entry.image,
            "verified": entry.verified,
            **({"acceptedRisks": entry.accepted_risks} if entry.accepted_risks else {}),
        }
        for entry in entries
    ]


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def recorded(history: Sequence[Entry], reached: Reached, now: datetime) -> tuple[Entry, ...]:
    """The history after a report; one without image could not be repeated and is not part of it."""
    if not reached.image:
        return tuple(history)
    newest, rest = _newest(history, reached, now)
    if reached.is_completed:
        completed = newest.completed or now
        newest = replace(newest, state=State.COMPLETED, completed=completed)
    newest = replace(newest, verified=newest.verified or reached.verified)
    if not reached.local:
        newest = replace(newest, accepted_risks=reached.accepted_risks)
    return pruned((newest, *rest))


def _newest(
    history: Sequence[Entry], reached: Reached, now: datetime
) -> tuple[Entry, Sequence[Entry]]:
    """The entry that a report is about, and those before it."""
    begun = Entry(reached.image, reached.version, State.PARTIAL, now)
    if not history:
        return begun, ()
    last, *rest = history
    same = _same_release(last, reached)
    if same is not None:
        return same, rest
    return begun, (replace(last, completed=last.completed or now), *rest)


def _same_release(entry: Entry, reached: Reached) -> Entry | None:
    """The entry with what was not known of it yet; None if it is another release's."""
    if entry.image == reached.image and entry.version in ("", reached.version):
        return replace(entry, version=reached.version)
    if entry.image == reached.image and not reached.version:
        return entry
    if reached.version and entry.version == reached.version and not entry.image:
        return replace(entry, image=reached.image)
    return None


# --- what is forgotten first -----------------------------------------------------------------

_RETAINED, _INTERESTING, _IN_MINOR_UPDATE, _IN_PATCH_UPDATE = 1000.0, 30.0, 20.0, -20.0
_BY_AGE = -1.01


def pruned(history: Sequence[Entry], most: int = MAX_ENTRIES) -> tuple[Entry, ...]:
    """The history without the entry that says least, if there are more than `most`."""
    if len(history) <= most:
        return tuple(history)
    least = min(range(len(history)), key=lambda index: _weight(history, index, most))
    return (*history[:least], *history[least + 1 :])


def _weight(history: Sequence[Entry], index: int, most: int) -> float:
    """How much an entry says next to the completed ones around it; of two the newer says more."""
    completed = [at for at, each in enumerate(history) if each.state is State.COMPLETED]
    weight = _BY_AGE * index
    if index < NEWEST_RETAINED or index == most or index in completed[:1]:
        return weight + _RETAINED
    newer = next((_numbers(history[at]) for at in reversed(completed) if at < index), None)
    older = next((_numbers(history[at]) for at in completed if at > index), None)
    if history[index].state is State.COMPLETED:
        own = _numbers(history[index])[:MINOR]
        is_end = any(near is None or near[:MINOR] != own for near in (newer, older))
        return weight + (_INTERESTING if is_end else 0.0)
    if newer is None or older is None or newer == older:
        return weight
    return weight + (_IN_PATCH_UPDATE if newer[:MINOR] == older[:MINOR] else _IN_MINOR_UPDATE)


def _numbers(entry: Entry) -> list[str]:
    """Major, minor and patch version as text, as far as they are there."""
    return entry.version.split(".")[: MINOR + 1]
