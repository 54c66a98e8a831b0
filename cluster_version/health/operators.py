"""Whether a component is where a release has it, as its ClusterOperator reports.

Source of the rules: upstream's notes, section 10.5.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.objects import KubeObject, condition, name_of
from cluster_version.errors import Effect, Plural, UpdateError
from cluster_version.payload.task_graph import State

Json = Mapping[str, Any]


def judge(manifest: KubeObject, live: KubeObject, state: State) -> None:
    """Raises UpdateError while a ClusterOperator is not as the manifest of a release has it."""
    name = name_of(manifest)
    wanted = _versions(manifest)
    if not wanted:
        raise _error(name, "NoVersions", Effect.FAIL, "does not declare", "do not declare")
    undone = sorted(_undone(wanted, _versions(live)))
    available, degraded = condition(live, "Available"), condition(live, "Degraded")
    progressing = condition(live, "Progressing")
    facts = {
        "available": _is(available, "True"),
        "progressing": not _is(progressing, "False"),
        "degraded": not _is(degraded, "False"),
    }
    summary = ", ".join(f"{key}={str(value).lower()}" for key, value in facts.items())
    detail = f"cluster operator {name}: {summary}, undone={', '.join(undone)}"
    if not facts["available"]:
        detail = _said(name, available, ": ") or detail
        raise _error(name, "NotAvailable", Effect.FAIL, "is not", "are not", detail)
    is_first = state is State.INITIALIZING
    if facts["degraded"]:
        effect = Effect.REPORT if is_first else Effect.FAIL_AFTER_INTERVAL
        raise _error(name, "Degraded", effect, "is", "are", _said(name, degraded, ", ") or detail)
    if undone and not is_first:
        detail = "is available and not degraded but has not finished updating to target version"
        detail = f"cluster operator {name} {detail}"
        raise _error(name, "Updating", Effect.NONE, "is", "are", detail)


_WORDS = {
    "NoVersions": "expected versions",
    "NotAvailable": "available",
    "Degraded": "degraded",
    "Updating": "updating versions",
}


def _error(
    name: str, problem: str, effect: Effect, singular: str, plural: str, detail: str = ""
) -> UpdateError:
    words = _WORDS[problem]
    return UpdateError(
        f"Cluster operator {name} {singular} {words}",
        reason=f"ClusterOperator{problem}",
        effect=effect,
        names=[name],
        plural=Plural(f"ClusterOperators{problem}", f"Cluster operators %s {plural} {words}"),
        detail=detail,
    )


def _is(found: Json | None, status: str) -> bool:
    return found is not None and found.get("status") == status


def _said(name: str, found: Json | None, separator: str) -> str:
    """What a condition says itself, if it says anything."""
    if not found or not found.get("message"):
        return ""
    state = f"{found['type']}={found.get('status')}"
    return (
        f"cluster operator {name} is {state}: {found.get('reason') or ''}{separator}"
        f"{found['message']}"
    )


def _versions(operator: KubeObject) -> Sequence[Json]:
    return (operator.get("status") or {}).get("versions") or ()


def _undone(wanted: Sequence[Json], found: Sequence[Json]) -> Iterator[str]:
    """What is not at the version of the release; of two entries of a name the first counts."""
    current = {each["name"]: each.get("version") or "" for each in reversed(found)}
    for each in wanted:
        name, version = each["name"], each.get("version") or ""
        before = current.get(name, "")
        if before != version:
            yield f"{name} from {before} to {version}" if before else f"{name} to {version}"
