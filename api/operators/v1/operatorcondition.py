"""OperatorCondition in its first version: operators wrote their conditions into the status."""

from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import ObjectMeta
from api.operators import names
from api.operators.v2.operatorcondition import OperatorConditionStatus, Overrides
from api.schema import Doc


class OperatorConditionSpec(Struct, frozen=True, kw_only=True):
    """What an administrator says instead of the operator, and who may write."""

    service_accounts: Annotated[
        tuple[str, ...], Doc("ServiceAccounts that may write this object.")
    ] = ()
    deployments: Annotated[tuple[str, ...], Doc("Deployments of the operator.")] = ()
    overrides: Overrides = ()


class OperatorCondition(Struct, frozen=True, kw_only=True):
    """What an operator says of itself, to hold an upgrade back for example."""

    metadata: ObjectMeta
    spec: Annotated[
        OperatorConditionSpec,
        Doc("What an administrator says instead of the operator, and who may write."),
    ] = field(default_factory=OperatorConditionSpec)
    status: Annotated[OperatorConditionStatus, Doc("What the operator says.")] = field(
        default_factory=OperatorConditionStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1)
