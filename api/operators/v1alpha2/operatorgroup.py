"""OperatorGroup in its first version, which clients may still use."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import LabelSelector, ObjectMeta
from api.operators import names
from api.operators.common import Reference
from api.schema import SET, Doc, Key, Presence


class OperatorGroupSpec(Struct, frozen=True, kw_only=True):
    """Which namespaces are meant, and whose rights installs have."""

    selector: Annotated[
        LabelSelector | None,
        Doc("Namespaces by their labels. Without effect beside targetNamespaces."),
    ] = None
    target_namespaces: Annotated[
        tuple[str, ...],
        Doc("Namespaces by name. Without them and without selector, all are meant."),
        SET,
    ] = ()
    service_account_name: Annotated[
        str, Doc("ServiceAccount of the namespace with whose rights operators are installed.")
    ] = ""
    static_provided_apis: Annotated[
        bool,
        Key("staticProvidedAPIs"),
        Doc("Leave the annotation olm.providedAPIs as it is, whatever operators provide."),
    ] = False


class OperatorGroupStatus(Struct, frozen=True, kw_only=True):
    """The namespaces that are meant."""

    last_updated: Annotated[
        datetime | None, Doc("When the namespaces last changed."), Presence.REQUIRED
    ] = None
    namespaces: Annotated[
        tuple[str, ...], Doc("The namespaces; an empty name stands for all."), SET
    ] = ()
    service_account_ref: Annotated[
        Reference | None, Doc("The ServiceAccount with whose rights operators are installed.")
    ] = None


class OperatorGroup(Struct, frozen=True, kw_only=True):
    """The namespaces that the operators of this namespace work in."""

    metadata: ObjectMeta
    spec: Annotated[
        OperatorGroupSpec,
        Doc("Which namespaces are meant, and whose rights installs have."),
    ] = field(default_factory=OperatorGroupSpec)
    status: Annotated[OperatorGroupStatus, Doc("The namespaces that are meant.")] = field(
        default_factory=OperatorGroupStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1ALPHA2)
