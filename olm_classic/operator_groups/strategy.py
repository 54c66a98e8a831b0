"""What an OperatorGroup lets upgrades start from."""

from collections.abc import Iterable

from api.objects import KubeObject
from api.operators.v1.operatorgroup import UpgradeStrategy


def fails_forward(groups: Iterable[KubeObject]) -> bool:
    """Whether one of the groups allows an upgrade to start from what failed."""
    strategies = ((group.get("spec") or {}).get("upgradeStrategy") for group in groups)
    return UpgradeStrategy.UNSAFE_FAIL_FORWARD in strategies
