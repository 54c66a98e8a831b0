"""Whether the APIs of an operator fit the OperatorGroups whose namespaces meet its own group's."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from api.objects import GVK
from olm_classic.operator_groups.targets import intersect


class Verdict(StrEnum):
    """What has to be done about the APIs of an operator."""

    NO_CONFLICT = "NoAPIConflict"
    ADD = "AddAPIs"
    REMOVE = "RemoveAPIs"
    CONFLICT = "APIConflict"


class ConflictReason(StrEnum):
    """Why an operator fails on account of its APIs, as its status says."""

    STATIC = "CannotModifyStaticOperatorGroupProvidedAPIs"
    INTERSECTION = "InterOperatorGroupOwnerConflict"


@dataclass(frozen=True, slots=True)
class GroupSurface:
    """An OperatorGroup's target set, and the APIs of its annotation."""

    targets: frozenset[str]
    apis: frozenset[GVK]
    static: bool = False
    """Its annotation is the user's, and not to be changed."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, and either the APIs that the group has from now on or why the operator fails.

    Both are None when there is nothing to do.
    """

    verdict: Verdict
    apis: frozenset[GVK] | None = None
    reason: ConflictReason | None = None


def judge(apis: frozenset[GVK], group: GroupSurface, others: Iterable[GroupSurface]) -> Judgement:
    """Compare the APIs that an operator provides with its own group and with all other groups."""
    verdict = _verdict(apis, group, others)
    if verdict is Verdict.NO_CONFLICT:
        return Judgement(verdict)
    if verdict is Verdict.CONFLICT:
        return Judgement(verdict, reason=ConflictReason.INTERSECTION)
    if group.static:
        return Judgement(verdict, reason=ConflictReason.STATIC)
    changed = group.apis | apis if verdict is Verdict.ADD else group.apis - apis
    return Judgement(verdict, apis=changed)


def _verdict(apis: frozenset[GVK], group: GroupSurface, others: Iterable[GroupSurface]) -> Verdict:
    taken = any(
        intersect(group.targets, other.targets) and not apis.isdisjoint(other.apis)
        for other in others
    )
    if apis <= group.apis:
        return Verdict.REMOVE if taken else Verdict.NO_CONFLICT
    return Verdict.CONFLICT if taken else Verdict.ADD
