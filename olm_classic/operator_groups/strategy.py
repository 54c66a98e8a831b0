"""What an OperatorGroup lets upgrades start from."""

from collections.abc import Iterable

from api.objects import KubeObject

UNSAFE_FAIL_FORWARD = "TechPreviewUnsafeFailForward"
"""`UpgradeStrategy` of the API, whose models a process that only resolves does without."""


def fails_forward(groups: Iterable[KubeObject]) -> bool:
    """Whether one of the groups allows an upgrade to start from what failed."""
    strategies = ((group.get("spec") or {}).get("upgradeStrategy") for group in groups)
    return UNSAFE_FAIL_FORWARD in strategies
