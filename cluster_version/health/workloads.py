"""Whether what a release runs is well, as the API server reports.

A rollout that is on its way holds nothing up. Source of the rules: upstream's notes, section 10.5.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject, condition, is_deleting, name_of, namespace_of
from cluster_version.errors import UpdateError
from cluster_version.payload.task_graph import State
from olm_content.formats.go_text import quote
from olm_runtime.errors import TransientError

Json = Mapping[str, Any]


def judge(live: KubeObject, state: State) -> None:
    """Raises UpdateError or TransientError while an object that was applied is not well."""
    if state is State.INITIALIZING:
        return
    match live.get("kind"):
        case "CustomResourceDefinition":
            _definition(live)
        case "Deployment":
            _deployment(live)
        case "DaemonSet":
            _not_deleted(live, "daemonset")
        case "Job":
            _job(live)


def _definition(live: KubeObject) -> None:
    named = f"CustomResourceDefinition {name_of(live)}"
    established = condition(live, "Established")
    if established is None:
        found = (live.get("status") or {}).get("conditions") or []
        problem = f"does not declare an Established status condition: {_as_go_prints(found)}"
        raise TransientError(f"{named} {problem}")
    if established.get("status") != "True":
        problem = f"Established={established.get('status')}, {_reason_of(established)}"
        raise TransientError(f"{named} {problem}")


def _deployment(live: KubeObject) -> None:
    place = _not_deleted(live, "deployment")
    named = f"deployment {place}"
    status = live.get("status") or {}
    failure = condition(live, "ReplicaFailure")
    available, progressing = condition(live, "Available"), condition(live, "Progressing")
    if _is(failure, "True"):
        raise UpdateError(
            f"{named} has a replica failure {_reason_of(failure)}",
            reason="WorkloadNotProgressing",
            names=[place],
            detail=f"{named} has some pods failing; unavailable "
            f"replicas={status.get('unavailableReplicas') or 0}",
        )
    if _is(available, "False") and _is(progressing, "False"):
        reasons = " or progressing ".join(_bracketed(each) for each in (available, progressing))
        raise UpdateError(
            f"{named} is not available {reasons}",
            reason="WorkloadNotAvailable",
            names=[place],
            detail=f"{named} is not available and not progressing; {_counts(status)}",
        )
    if (
        _is(progressing, "False")
        and _reason_and_message(progressing)[0] == "ProgressDeadlineExceeded"
    ):
        problem = f"{named} is Progressing=False: {_reason_of(progressing)}"
        raise UpdateError(problem, reason="WorkloadNotProgressing", names=[place], detail=problem)


def _not_deleted(live: KubeObject, kind: str) -> str:
    place = f"{namespace_of(live)}/{name_of(live)}"
    if is_deleting(live):
        raise TransientError(f"{kind} {place} is being deleted")
    return place


def _job(live: KubeObject) -> None:
    """A Job that is at work holds nothing up, one that failed does."""
    status = live.get("status") or {}
    if status.get("succeeded") or status.get("active") or not status.get("failed"):
        return
    reason, message = "DeadlineExceeded", "Job was active longer than specified deadline"
    for each in (status.get("conditions") or ())[:1]:
        reason, message = _reason_and_message(each)
    raise TransientError(f"deadline exceeded, reason: {quote(reason)}, message: {quote(message)}")


def _is(found: Json | None, status: str) -> bool:
    return found is not None and found.get("status") == status


def _reason_and_message(found: Json | None) -> tuple[str, str]:
    known = found or {}
    return known.get("reason") or "", known.get("message") or ""


def _reason_of(found: Json | None) -> str:
    return ": ".join(_reason_and_message(found))


def _bracketed(found: Json | None) -> str:
    reason, message = _reason_and_message(found)
    return f"{reason} ({message})"


def _counts(status: Json) -> str:
    total = status.get("replicas") or 0
    return ", ".join(
        f"{word} replicas={status.get(f'{word}Replicas') or 0} of {total}"
        for word in ("updated", "available")
    )


def _as_go_prints(conditions: Sequence[Json]) -> str:
    """Conditions as Go prints a list of structs; they do not have the one that is looked for."""
    return f"[{' '.join(map(_fields, conditions))}]"


def _fields(found: Json) -> str:
    since = str(found.get("lastTransitionTime") or "0001-01-01T00:00:00Z")
    moment = since.replace("T", " ").replace("Z", " +0000 UTC")
    named = (found.get(field) or "" for field in ("type", "status"))
    return f"{{{' '.join([*named, moment, *_reason_and_message(found)])}}}"
