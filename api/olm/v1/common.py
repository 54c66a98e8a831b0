"""What several kinds share: metadata, label selectors, name patterns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from api.schema import ATOMIC_LIST, Doc, Rule, matches

LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
"""A DNS label (RFC 1123); the limit of 63 characters is stated separately."""

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
"""A DNS subdomain (RFC 1123); the limit of 253 characters is stated separately."""


def subdomain(called: str) -> Rule:
    """The value is a DNS subdomain; `called` names it in the message."""
    return matches(
        SUBDOMAIN,
        f"{called} must be a valid DNS1123 subdomain. It must contain only lowercase"
        " alphanumeric characters, hyphens (-) or periods (.), start and end with an"
        " alphanumeric character, and be no longer than 253 characters",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerReference:
    """An object that this one belongs to."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False
    block_owner_deletion: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectMeta:
    """The metadata that controllers read; the API server defines and checks it."""

    name: str = ""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelectorRequirement:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelector:
    """Which objects are meant, by their labels; every requirement must hold."""

    match_labels: Annotated[
        Mapping[str, str], Doc("Labels that must be there with exactly these values.")
    ] = field(default_factory=dict)
    match_expressions: Annotated[
        tuple[LabelSelectorRequirement, ...],
        Doc("Expressions over labels, of which every one must hold."),
        ATOMIC_LIST,
    ] = ()
