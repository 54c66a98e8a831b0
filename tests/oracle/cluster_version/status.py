"""Statuses of ClusterVersions: family g, operation `status`."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from api.conditions import ConditionStatus
from cluster_version.decisions.acceptance import Acceptance, Retrieved, Step
from cluster_version.decisions.target import Target
from cluster_version.decisions.validation import field_errors
from cluster_version.payload.capabilities import ClusterCapabilities
from cluster_version.payload.release import Release
from cluster_version.status.whole import WorkerState, status_after
from tests.oracle.cluster_version.health import error_of

Json = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _status(given: Json) -> Json:
    found = given.get("capabilities") or {}
    cluster_version = given.get("cv") or given.get("clusterVersion")
    state = WorkerState(
        release=_release(given.get("actual") or {}),
        hash=given.get("versionHash") or "",
        own=_release(given.get("release") or {}),
        known=[_release(each) for each in given.get("graphUpdates") or ()],
        generation=given.get("generation") or 0,
        verified=bool(given.get("verified")),
        capabilities=ClusterCapabilities(
            frozenset(found.get("knownCapabilities") or ()),
            frozenset(found.get("enabledCapabilities") or ()),
            frozenset(given.get("implicitlyEnabled") or ()),
        ),
        acceptance=_acceptance(given.get("load") or {}),
        completed=given.get("completed") or 0,
        done=given.get("done") or 0,
        total=given.get("total") or 0,
        reconciling=bool(given.get("reconciling")),
        errors=[error for error in map(error_of, given.get("errors") or ()) if error],
        begun={
            name: NOW - timedelta(minutes=minutes)
            for name, minutes in (given.get("coStartedMinutesAgo") or {}).items()
        },
        faults=field_errors(cluster_version) if cluster_version else (),
    )
    after = status_after(given.get("status") or {}, state, NOW)
    kinds = ("type", "status", "reason", "message")
    return {
        "conditions": [{key: each.get(key, "") for key in kinds} for each in after["conditions"]],
        "desired": after["desired"],
        "history": [_entry(each) for each in after["history"]] or None,
        "observedGeneration": after["observedGeneration"],
        "versionHash": after["versionHash"],
    }


def _entry(entry: Json) -> Json:
    shown = {key: entry[key] for key in ("image", "state", "verified", "version")}
    risks = {"acceptedRisks": entry["acceptedRisks"]} if entry.get("acceptedRisks") else {}
    return {**shown, **risks, "completed": entry["completionTime"] is not None}


def _release(given: Json) -> Release:
    version, image, url = (given.get(key) or "" for key in ("version", "image", "url"))
    return Release(version, image, url, tuple(given.get("channels") or ()))


def _acceptance(load: Json) -> Acceptance | None:
    if not load.get("step"):
        return None
    update = load.get("update") or {}
    step = Step(load["step"])
    unfinished = ConditionStatus.FALSE if load.get("failure") else ConditionStatus.UNKNOWN
    return Acceptance(
        Target(update.get("version") or "", update.get("image") or "", bool(update.get("force"))),
        step,
        ConditionStatus.TRUE if step is Step.LOADED else unfinished,
        load.get("message") or "",
        Retrieved(local=bool(load.get("local"))),
        load.get("acceptedRisks") or "",
    )


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {"status": _status}
