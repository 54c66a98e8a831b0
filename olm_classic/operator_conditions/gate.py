"""Whether an operator may be replaced, as its OperatorCondition says."""

from collections.abc import Iterable, Mapping
from typing import Any

from api.objects import KubeObject, metadata
from api.operators.v2.operatorcondition import UPGRADEABLE

_Conditions = Iterable[Mapping[str, Any]] | None


def not_upgradeable(condition: KubeObject | None) -> str:
    """Why an operator may not be replaced now; empty where it may, or says nothing.

    `condition` is its OperatorCondition as of v2, None if it has none. What an administrator
    overrides holds whatever the operator says.
    """
    if condition is None:
        return ""
    override = _upgradeable((condition.get("spec") or {}).get("overrides"))
    if override is not None:
        return "" if override.get("status") == "True" else _refused(override)
    said = _upgradeable((condition.get("status") or {}).get("conditions"))
    if said is None:
        return ""
    # Without a generation it is of none that there ever was.
    if said.get("observedGeneration", 0) != metadata(condition).get("generation"):
        status = said.get("status")
        return f'the operatorcondition status "{UPGRADEABLE}"="{status}" is outdated'
    return _refused(said) if said.get("status") == "False" else ""


def _upgradeable(conditions: _Conditions) -> Mapping[str, Any] | None:
    return next((each for each in conditions or () if each.get("type") == UPGRADEABLE), None)


def _refused(condition: Mapping[str, Any]) -> str:
    return f"the operator is not upgradeable: {condition.get('message', '')}"
