"""The status of an OperatorGroup."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from api import wire
from api.conditions import Condition, ConditionStatus, merge_conditions
from api.objects import KubeObject, gvk_of, metadata, name_of, namespace_of
from api.operators.common import ObjectReference
from api.operators.v1.operatorgroup import OperatorGroup

MULTIPLE = "MultipleOperatorGroup"
ACCOUNT = "OperatorGroupServiceAccount"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of a group.

    several     whether its namespace has another one
    account     the service account that it names, where that exists
    namespaces  those that it selects; None where they cannot be told: then they stay as they were
    """

    several: bool = False
    account: KubeObject | None = None
    namespaces: list[str] | None = None


def status_of(group: OperatorGroup, found: Found, now: datetime) -> dict[str, Any]:
    """The status as JSON. A group that selects nothing says so with an empty list."""
    before = group.status
    reference = _reference(found.account) if found.account is not None else None
    namespaces = before.namespaces
    if found.namespaces is not None and set(found.namespaces) != set(namespaces):
        namespaces = tuple(found.namespaces)
    same = (namespaces, reference) == (before.namespaces, before.service_account_ref)
    status = wire.write(
        replace(
            before,
            namespaces=namespaces,
            service_account_ref=reference,
            conditions=_conditions(group, found, now),
            last_updated=before.last_updated if same and before.last_updated else now,
        )
    )
    if found.namespaces is not None:
        status.setdefault("namespaces", [])
    return status


def _conditions(group: OperatorGroup, found: Found, now: datetime) -> tuple[Condition, ...]:
    """What is wrong, before the conditions of others; what is right again has none."""
    wrong = list(_problems(group, found))
    gone = {MULTIPLE, ACCOUNT} - {each.type for each in wrong}
    remaining = [each for each in group.status.conditions if each.type not in gone]
    return merge_conditions(remaining, wrong, now)


def _problems(group: OperatorGroup, found: Found) -> Iterator[Condition]:
    if found.several:
        text = "Multiple OperatorGroup found in the same namespace"
        yield _condition(MULTIPLE, "MultipleOperatorGroupsFound", text)
    account = group.spec.service_account_name
    if account and found.account is None:
        text = f"ServiceAccount {account} not found"
        yield _condition(ACCOUNT, "ServiceAccountNotFound", text)


def _condition(kind: str, reason: str, message: str) -> Condition:
    return Condition(type=kind, status=ConditionStatus.TRUE, reason=reason, message=message)


def _reference(account: KubeObject) -> ObjectReference:
    """Without its version, which changes with everything that is written to the account."""
    kind = gvk_of(account)
    return ObjectReference(
        api_version=kind.api_version,
        kind=kind.kind,
        namespace=namespace_of(account),
        name=name_of(account),
        uid=str(metadata(account)["uid"]),
    )
