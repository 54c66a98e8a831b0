"""Whether what was applied is well, and errors together: families g, but for statuses."""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from cluster_version.errors import Effect, Plural, UpdateError
from cluster_version.health import operators, workloads
from cluster_version.health.summaries import NO_KIND, Cause, cause_of, in_short, summarize
from cluster_version.health.tasks import described, not_applied
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import State
from olm_runtime.errors import OLMError, TransientError

Json = dict[str, Any]
CANCELLED = frozenset({"context", "cancel", "canceled", "cancelled"})


def _health(given: Json) -> Json:
    state = State(given["mode"])
    live = {"kind": given["kind"], **given["actual"]}
    try:
        if given["kind"] == "ClusterOperator":
            operators.judge(given["expected"], live, state)
        else:
            workloads.judge(live, state)
    except OLMError as error:
        return {"error": as_json(error)}
    return {"error": None}


def as_json(error: OLMError | None) -> Json | None:
    """An error as cases have it."""
    if error is None:
        return None
    if not isinstance(error, UpdateError):
        return {"message": error.message}
    found = {
        "reason": error.reason,
        "message": error.message,
        "effect": error.effect.value if error.effect else "",
        "name": error.name,
    }
    more = {
        "names": list(error.names) if len(error.names) > 1 else None,
        "pluralReason": error.plural and error.plural.reason,
        "nested": error.detail,
    }
    return found | {key: value for key, value in more.items() if value}


def error_of(given: Json) -> OLMError | None:
    """An error of a case; None for a cancellation."""
    if given.get("type") in CANCELLED:
        return None
    if given.get("type") not in (None, "update"):
        return TransientError(given.get("message") or "")
    plural = Plural(given.get("pluralReason") or "", given.get("pluralMessageFormat") or "")
    return UpdateError(
        given.get("message") or "",
        reason=given.get("reason") or "",
        effect=Effect(given["effect"]) if given.get("effect") else None,
        names=[given["name"]] if given.get("name") else [],
        plural=plural if plural.reason else None,
    )


def _summarize(given: Json) -> Json:
    return _with_summary(summarize([e for e in map(error_of, given["errors"] or ()) if e]))


def _with_summary(error: OLMError | None) -> Json:
    if not isinstance(error, UpdateError):
        return {"error": as_json(error)}
    return {"error": as_json(error), "summaryForReason": in_short(error.reason, error.name)}


def _task_error(given: Json) -> Json:
    meta = {key: given[key] for key in ("name", "namespace") if given.get(key)}
    manifest = Manifest(given["file"], {"kind": given["kind"], "metadata": meta})
    cause = _cause_of(given["error"])
    place = given["index"], given["total"]
    found = not_applied(manifest, *place, cause)
    return {
        **_with_summary(found),
        "attempts": 3,
        "taskString": described(manifest, *place),
    }


def _cause_of(kind: str) -> Cause:
    """Of an error whose kind is named as by the API server, or by upstream's function for it."""
    if "match" in kind.lower():
        return NO_KIND
    if "unexpected" in kind.lower():
        return cause_of(HTTPStatus.BAD_GATEWAY, "")
    return cause_of(0, {"Internal": "InternalError"}.get(kind, kind))


def _reason_summary(given: Json) -> Json:
    return {"summary": in_short(given["reason"], given["name"])}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "health": _health,
    "summarize": _summarize,
    "taskerror": _task_error,
    "reasonsummary": _reason_summary,
}
