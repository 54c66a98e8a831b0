"""The condition Upgradeable in a status."""

from api.conditions import Condition
from cluster_version.decisions.upgradeable import UPGRADEABLE
from cluster_version.status.condition_list import ConditionList


def set_upgradeable(conditions: ConditionList, upgradeable: Condition | None) -> None:
    """Sets or removes the condition; those that older releases split off are gone."""
    kinds = [str(each.get("type")) for each in conditions.conditions]
    for kind in kinds:
        if kind.startswith(UPGRADEABLE) and (upgradeable is None or kind != UPGRADEABLE):
            conditions.remove(kind)
    if upgradeable is not None:
        conditions.set(UPGRADEABLE, upgradeable.status, upgradeable.reason, upgradeable.message)
