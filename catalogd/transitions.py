"""What changed from one status to the next, as users read it in `kubectl describe`. Pure."""

from api.conditions import Condition
from api.olm.v1.clustercatalog import ClusterCatalogStatus
from api.olm.v1.conditions import ConditionType, Reason
from olm_runtime.event import Happening

NEW_CONTENT = "Unpacked"
GOOD = frozenset(
    {Reason.SUCCEEDED.value, Reason.AVAILABLE.value, Reason.UPDATED.value, Reason.UNCHANGED.value}
)
INTENDED = frozenset({Reason.USER_SPECIFIED_UNAVAILABLE.value})


def transitions(before: ClusterCatalogStatus, after: ClusterCatalogStatus) -> tuple[Happening, ...]:
    """The changes, new content first. A condition that only got newer is none."""
    found: list[Happening] = []
    source = after.resolved_source
    if source is not None and source != before.resolved_source:
        note = f"Unpacked {source.image.ref}"
        found.append(Happening(ConditionType.PROGRESSING.value, NEW_CONTENT, note))
    known = {condition.type: _meaning(condition) for condition in before.conditions}
    found += (
        _transition(condition)
        for condition in after.conditions
        if known.get(condition.type) != _meaning(condition) and not _is_shown_elsewhere(condition)
    )
    return tuple(found)


def _is_shown_elsewhere(condition: Condition) -> bool:
    """A refresh that failed is the message of Progressing, too."""
    return condition.type == ConditionType.REFRESHED and condition.reason not in GOOD


def _meaning(condition: Condition) -> tuple[str, str, str]:
    return condition.status, condition.reason, condition.message


def _transition(condition: Condition) -> Happening:
    return Happening(
        action=condition.type,
        reason=condition.reason,
        note=condition.message or f"{condition.type} is {condition.status}",
        warning=condition.reason not in GOOD | INTENDED,
    )
