"""Operator: everything in the cluster that belongs to an installed package."""

from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import LabelSelector, ObjectMeta
from api.operators import names
from api.operators.common import ComponentCondition, ObjectReference
from api.schema import ATOMIC_MAP, Doc, Presence


class Component(ObjectReference, frozen=True, kw_only=True):
    """An object of the operator."""

    conditions: Annotated[
        tuple[ComponentCondition, ...], Doc("The conditions of the object, where it has any.")
    ] = ()


class Components(Struct, frozen=True, kw_only=True):
    """The objects of the operator."""

    label_selector: Annotated[
        LabelSelector, Doc("The label that all of them have."), ATOMIC_MAP, Presence.REQUIRED
    ] = field(default_factory=LabelSelector)
    refs: Annotated[tuple[Component, ...], Doc("The objects that have it.")] = ()


class OperatorSpec(Struct, frozen=True, kw_only=True):
    """There is nothing to say."""


class OperatorStatus(Struct, frozen=True, kw_only=True):
    """What belongs to the operator."""

    components: Annotated[Components | None, Doc("The objects of the operator.")] = None


class Operator(Struct, frozen=True, kw_only=True):
    """An installed package, named PACKAGE.NAMESPACE, and everything that belongs to it."""

    metadata: ObjectMeta
    spec: Annotated[OperatorSpec, Doc("There is nothing to say.")] = field(
        default_factory=OperatorSpec
    )
    status: Annotated[OperatorStatus, Doc("What belongs to the operator.")] = field(
        default_factory=OperatorStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1)
