"""Cases of what becomes of one manifest on a cluster, in the format of the goldens."""

from typing import Any

from api.objects import KubeObject
from cluster_version.apply.merging import merged
from cluster_version.apply.requests import Request, Verb, request_for
from cluster_version.payload.task_graph import State
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
GENERIC = "custom"


def _merge(given: Json) -> Json:
    """The object of a manifest on the cluster as upstream would write it."""
    live = given["existing"]
    try:
        after = merged(live, given["required"])
    except TerminalError as error:
        return {"error": error.message}
    shown = {key: value for key, value in after.items() if key != "status"}
    return {"modified": after is not live, "merged": _without_nulls(shown)}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _apply(given: Json) -> Json:
    """What is asked of the API server, and for kinds without types what is there after it."""
    live = given["existing"]
    try:
        request = request_for(given["required"], live, State.UPDATING)
    except TerminalError as error:
        return {"error": error.message, "verbs": ["get"]}
    output: Json = {"error": None, "verbs": ["get", *([request.verb.value] if request else ())]}
    if given["kind"] == GENERIC:
        return {**output, "result": _result(live, request)}
    return {**output, "changed": request is not None}


def _result(live: KubeObject | None, request: Request | None) -> KubeObject | None:
    if request is None:
        return live
    return None if request.verb is Verb.DELETE else request.object


OPERATIONS = {"merge": _merge, "apply": _apply}
"""What is computed for each operation of the family."""
