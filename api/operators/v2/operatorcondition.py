"""OperatorCondition: what an operator says of itself that nobody could see from outside."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import Condition
from api.metadata import ObjectMeta
from api.operators import names
from api.schema import Doc

UPGRADEABLE = "Upgradeable"
"""The one type of condition that is acted upon."""


class Override(Condition, frozen=True, kw_only=True):
    """What an administrator says instead of the operator."""

    last_transition_time: Annotated[datetime | None, Doc("When the status last changed.")] = None


Overrides = Annotated[
    tuple[Override, ...],
    Doc("What holds instead of the operator's conditions of the same types."),
]


class OperatorConditionSpec(Struct, frozen=True, kw_only=True):
    """What the operator says, what an administrator says instead, and who may write."""

    service_accounts: Annotated[
        tuple[str, ...], Doc("ServiceAccounts that may write this object.")
    ] = ()
    deployments: Annotated[tuple[str, ...], Doc("Deployments of the operator.")] = ()
    overrides: Overrides = ()
    conditions: Annotated[
        tuple[Condition, ...],
        Doc("What the operator says. Upgradeable with status False holds upgrades back."),
    ] = ()


class OperatorConditionStatus(Struct, frozen=True, kw_only=True):
    """What the operator said last."""

    conditions: Annotated[
        tuple[Condition, ...], Doc("The conditions of spec, with the generation that they are of.")
    ] = ()


class OperatorCondition(Struct, frozen=True, kw_only=True):
    """What an operator says of itself, to hold an upgrade back for example."""

    metadata: ObjectMeta
    spec: Annotated[
        OperatorConditionSpec,
        Doc("What the operator says, what an administrator says instead, and who may write."),
    ] = field(default_factory=OperatorConditionSpec)
    status: Annotated[OperatorConditionStatus, Doc("What the operator said last.")] = field(
        default_factory=OperatorConditionStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V2)
