"""The status of a ClusterServiceVersion: its phase, what it has to wait for, certificates."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import Struct, field

from api.schema import Doc, Embedded


class PhaseChange(Struct, frozen=True, kw_only=True):
    """A phase, and why it was entered."""

    phase: Annotated[str, Doc("Pending, InstallReady, Installing, Succeeded, and so on.")] = ""
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[str, Doc("What happened, made for people to read.")] = ""
    last_update_time: Annotated[datetime | None, Doc("When this was last written.")] = None
    last_transition_time: Annotated[datetime | None, Doc("When the phase was entered.")] = None


class Dependent(Struct, frozen=True, kw_only=True):
    """A part of a requirement, a rule of a ServiceAccount for example."""

    group: Annotated[str, Doc("Group of the part.")]
    version: Annotated[str, Doc("Version of the part.")]
    kind: Annotated[str, Doc("Kind of the part.")]
    status: Annotated[str, Doc("Satisfied or NotSatisfied.")]
    uuid: Annotated[str, Doc("UID of the part.")] = ""
    message: Annotated[str, Doc("What the part is.")] = ""


class Requirement(Struct, frozen=True, kw_only=True):
    """Something that must be there before the operator is installed."""

    group: Annotated[str, Doc("Group of the object.")]
    version: Annotated[str, Doc("Version of the object.")]
    kind: Annotated[str, Doc("Kind of the object.")]
    name: Annotated[str, Doc("Name of the object.")]
    status: Annotated[str, Doc("Present, NotPresent, PresentNotSatisfied, and so on.")]
    message: Annotated[str, Doc("What was found; may be empty.")]
    uuid: Annotated[str, Doc("UID of the object.")] = ""
    dependents: Annotated[tuple[Dependent, ...], Doc("Parts of the requirement.")] = ()


class ClusterServiceVersionStatus(PhaseChange, frozen=True, kw_only=True):
    """How the operator is."""

    conditions: Annotated[tuple[PhaseChange, ...], Doc("The phases so far.")] = ()
    requirement_status: Annotated[
        tuple[Requirement, ...], Doc("What must be there before the operator is installed.")
    ] = ()
    certs_last_updated: Annotated[
        datetime | None, Doc("When the certificates of its servers were made.")
    ] = None
    certs_rotate_at: Annotated[
        datetime | None, Doc("When the certificates of its servers are made anew.")
    ] = None
    cleanup: Annotated[Mapping[str, Any], Doc("Not used."), Embedded("CleanupStatus")] = field(
        default_factory=dict
    )
