"""Conditions as ClusterVersions and ClusterOperators have them, in the order in which they came."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from api.conditions import ConditionStatus, bounded_message
from api.wire import timestamp

Json = dict[str, Any]


@dataclass(slots=True)
class ConditionList:
    """Conditions that are set and removed by type."""

    now: datetime
    conditions: list[Json] = field(default_factory=list)

    @classmethod
    def of(cls, conditions: Iterable[Mapping[str, Any]], now: datetime) -> "ConditionList":
        """The conditions of a status."""
        return cls(now, [dict(each) for each in conditions])

    def has(self, kind: str) -> bool:
        """Whether there is a condition of a type."""
        return any(each.get("type") == kind for each in self.conditions)

    def set(self, kind: str, status: ConditionStatus, reason: str = "", message: str = "") -> None:
        """Sets a condition in its place; its time moves when its status does."""
        said = {"status": status.value, "reason": reason, "message": bounded_message(message)}
        fields = {key: value for key, value in said.items() if value}
        begun = timestamp(self.now)
        for place, before in enumerate(self.conditions):
            if before.get("type") != kind:
                continue
            if before.get("status") == status.value:
                begun = before.get("lastTransitionTime") or begun
            self.conditions[place] = {"type": kind, **fields, "lastTransitionTime": begun}
            return
        self.conditions.append({"type": kind, **fields, "lastTransitionTime": begun})

    def remove(self, kind: str) -> None:
        """Removes a condition, if there is one."""
        self.conditions = [each for each in self.conditions if each.get("type") != kind]
