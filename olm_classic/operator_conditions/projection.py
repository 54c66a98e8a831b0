"""What an operator says in the spec of its OperatorCondition, as the status repeats it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from api.objects import KubeObject, metadata


def projected(condition: KubeObject, now: datetime) -> dict[str, Any]:
    """The status, which says of which generation of the spec it is.

    What is only in the status stays: operators of version v1 write it themselves. One that has
    the same status and generation stays, too.
    """
    generation = metadata(condition).get("generation") or 0
    status = condition.get("status") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    for said in (condition.get("spec") or {}).get("conditions") or ():
        before = conditions.get(said["type"])
        if before is None or not _is_current(before, said, generation):
            conditions[said["type"]] = _repeated(before, said, generation, now)
    return {**status, "conditions": list(conditions.values())} if conditions else dict(status)


def _is_current(before: Mapping[str, Any], said: Mapping[str, Any], generation: int) -> bool:
    observed: int = before.get("observedGeneration") or 0
    return before.get("status") == said.get("status") and observed >= generation


def _repeated(
    before: Mapping[str, Any] | None, said: Mapping[str, Any], generation: int, now: datetime
) -> dict[str, Any]:
    since = said.get("lastTransitionTime")
    if before is not None and before.get("status") == said.get("status"):
        since = before.get("lastTransitionTime")
    time = since or now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**said, "lastTransitionTime": time, "observedGeneration": generation}
