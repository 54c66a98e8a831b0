"""The condition Upgradeable among others."""

from datetime import UTC, datetime

from api.conditions import Condition, ConditionStatus
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.upgradeable import set_upgradeable

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HELD = Condition(type="Upgradeable", status=ConditionStatus.FALSE, reason="R", message="m")


def kinds_after(upgradeable: Condition | None, *before: str) -> list[str]:
    conditions = ConditionList.of([{"type": kind, "status": "False"} for kind in before], NOW)
    set_upgradeable(conditions, upgradeable)
    return [each["type"] for each in conditions.conditions]


def test_it_takes_its_place_and_that_of_older_ones() -> None:
    before = ("A", "Upgradeable", "UpgradeableAdminAckRequired", "B")
    assert kinds_after(HELD, *before) == ["A", "Upgradeable", "B"]
    assert kinds_after(None, *before) == ["A", "B"]
    assert kinds_after(HELD, "A") == ["A", "Upgradeable"]
