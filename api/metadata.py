"""What objects of every group say of themselves and of others: metadata, label selectors."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Struct, field

from api.schema import ATOMIC_LIST, Doc


class OwnerReference(Struct, frozen=True, kw_only=True):
    """An object that this one belongs to."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


class ObjectMeta(Struct, frozen=True, kw_only=True):
    """The metadata that controllers read; the API server defines and checks it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def is_deleted(self) -> bool:
        """Whether deletion was asked for and waits for finalizers."""
        return self.deletion_timestamp is not None


class LabelSelectorRequirement(Struct, frozen=True, kw_only=True):
    """One expression of a selector."""

    key: Annotated[str, Doc("The label that is looked at.")]
    operator: Annotated[
        str,
        Doc(
            "In and NotIn compare the label with values; Exists and DoesNotExist only ask whether"
            " it is there."
        ),
    ]
    values: Annotated[
        tuple[str, ...],
        Doc("Needed for In and NotIn, and not allowed for Exists and DoesNotExist."),
        ATOMIC_LIST,
    ] = ()


class LabelSelector(Struct, frozen=True, kw_only=True):
    """Which objects are meant, by their labels; every requirement must hold."""

    match_labels: Annotated[
        Mapping[str, str], Doc("Labels that must be there with exactly these values.")
    ] = field(default_factory=dict)
    match_expressions: Annotated[
        tuple[LabelSelectorRequirement, ...],
        Doc("Expressions over labels, of which every one must hold."),
        ATOMIC_LIST,
    ] = ()
