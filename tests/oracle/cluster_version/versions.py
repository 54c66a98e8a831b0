"""Versions and history: family c."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from cluster_version.status import history
from olm_content.versions import VersionError, parse_version

Json = dict[str, Any]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def _semver(given: Json) -> Json:
    output: Json = {}
    keys = []
    for name in ("a", "b"):
        try:
            keys.append(parse_version(given[name]).key)
            output[f"{name}Error"] = None
        except VersionError as error:
            output[f"{name}Error"] = error.message
    if len(keys) > 1:
        output["compare"] = (keys[0] > keys[1]) - (keys[0] < keys[1])
    return output


def _history(given: Json) -> Json:
    entries: tuple[history.Entry, ...] = ()
    desired = {"image": "", "version": ""}
    for number, step in enumerate(given["steps"]):
        asked = step.get("desired") or {}
        reached = history.Reached(
            asked.get("image") or "",
            asked.get("version") or "",
            is_completed=bool(step.get("completed")),
            verified=bool(step.get("verified")),
            local=bool(step.get("local")),
            accepted_risks=step.get("acceptedRisks") or "",
        )
        entries = history.recorded(entries, reached, BEGIN + timedelta(seconds=number))
        if reached.image:
            desired = {"image": reached.image, "version": reached.version}
    written = [_entry(entry) for entry in entries]
    is_empty_list = bool(given["steps"]) and not written
    return {"history": written or None, "desired": desired, "historyIsEmptyList": is_empty_list}


def _entry(entry: history.Entry) -> Json:
    risks = {"acceptedRisks": entry.accepted_risks} if entry.accepted_risks else {}
    return {
        **risks,
        "completedStep": _step(entry.completed),
        "image": entry.image,
        "startedStep": _step(entry.started),
        "state": entry.state.value,
        "verified": entry.verified,
        "version": entry.version,
    }


def _step(time: datetime | None) -> int | None:
    return None if time is None else (time - BEGIN).seconds


def _prune(given: Json) -> Json:
    entries = [
        history.Entry(
            f"{number}:{each.get('image')}", each.get("version") or "", history.State(each["state"])
        )
        for number, each in enumerate(given["history"] or ())
    ]
    left = history.pruned(entries, given["max"])
    removed = [number for number, entry in enumerate(entries) if entry not in left]
    return {"length": len(left), "removedIndex": removed[0] if removed else -1}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "semver": _semver,
    "history": _history,
    "prune": _prune,
}
