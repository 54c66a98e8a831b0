"""ClusterObjectSet: one revision of what an extension puts into the cluster."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import UNOBSERVED, Conditions, ObservedGeneration
from api.metadata import ObjectMeta
from api.olm.v1 import names
from api.olm.v1.common import LABEL
from api.olm.v1.probes import ProgressionProbes
from api.schema import (
    ANY_FIELDS,
    EMBEDDED_OBJECT,
    INT32,
    INT64,
    Doc,
    Presence,
    Rule,
    between,
    immutable,
    list_map,
    matches,
    max_items,
    max_length,
    min_length,
)

MAX_PHASES = 20
MAX_OBJECTS_PER_PHASE = 50

PHASE_NAME = matches(
    LABEL,
    "the value must consist of only lowercase alphanumeric characters and hyphens,"
    " and must start and end with an alphanumeric character.",
)


class LifecycleState(StrEnum):
    """Whether the revision is worked on."""

    ACTIVE = "Active"
    ARCHIVED = "Archived"


class CollisionProtection(StrEnum):
    """What may be done to objects that are already there."""

    PREVENT = "Prevent"
    IF_NO_CONTROLLER = "IfNoController"
    NONE = "None"


class ObjectRef(Struct, frozen=True, kw_only=True):
    """Where an object stands when it does not stand in the revision itself."""

    name: Annotated[str, Doc("Name of the Secret."), min_length(1), max_length(253)]
    key: Annotated[
        str,
        Doc("Key in the Secret's data under which the object stands as JSON, also gzipped."),
        min_length(1),
        max_length(253),
    ]
    namespace: Annotated[str, Doc("Namespace of the Secret."), max_length(63)] = ""


class PhaseObject(Struct, frozen=True, kw_only=True):
    """One object of a phase."""

    object: Annotated[
        Mapping[str, Any] | None, Doc("The object itself."), EMBEDDED_OBJECT, ANY_FIELDS
    ] = None
    ref: Annotated[
        ObjectRef | None,
        Doc("Key of an immutable Secret that holds the object; for what would be too large here."),
    ] = None
    collision_protection: Annotated[
        CollisionProtection | None, Doc("For this object, instead of what its phase says.")
    ] = None


ONE_OF_OBJECT_AND_REF = Rule(
    "has(self.object) != has(self.ref)",
    "exactly one of the fields in [object ref] must be set",
)


class Phase(Struct, frozen=True, kw_only=True):
    """Objects that are applied together, before those of the next phase."""

    name: Annotated[str, Doc("Name of the phase."), min_length(1), max_length(63), PHASE_NAME]
    objects: Annotated[
        tuple[
            Annotated[PhaseObject, Doc("One object, here or in a Secret."), ONE_OF_OBJECT_AND_REF],
            ...,
        ],
        Doc("The objects of the phase, applied in any order."),
        max_items(MAX_OBJECTS_PER_PHASE),
    ]
    collision_protection: Annotated[
        CollisionProtection | None,
        Doc("For the objects of this phase, instead of what spec says."),
    ] = None


class ClusterObjectSetSpec(Struct, frozen=True, kw_only=True):
    """The objects of one revision, and how they are put into the cluster."""

    lifecycle_state: Annotated[
        LifecycleState,
        Doc(
            """
            Active: the objects are created and kept as they stand here. Two revisions of an
            extension can be active while the newer one is being rolled out.

            Archived: the revision is history. Objects that no newer revision took over are
            removed. There is no way back.
            """
        ),
        Rule("oldSelf != 'Archived' || self == 'Archived'", "cannot un-archive"),
    ]
    revision: Annotated[
        int,
        Doc("Number of the revision: 1 for the first of an extension, then one higher each time."),
        INT64,
        between(1),
        immutable("revision is immutable"),
    ]
    collision_protection: Annotated[
        CollisionProtection,
        Doc(
            """
            What may be done to objects that are already there. A phase and an object can say
            otherwise for themselves.

            Prevent: leave every object alone that this extension did not create.

            IfNoController: take over objects that no controller owns.

            None: take over any object, also from another controller, which may take it back.
            """
        ),
        immutable("collisionProtection is immutable"),
    ]
    phases: Annotated[
        tuple[Annotated[Phase, Doc("Objects that are applied together.")], ...],
        Doc(
            """
            The objects, in the order in which they are applied: a phase begins when all objects
            of the one before it are there and pass their probes.
            """
        ),
        max_items(MAX_PHASES),
        list_map("name"),
        Rule("self == oldSelf || oldSelf.size() == 0", "phases is immutable"),
    ] = ()
    progress_deadline_minutes: Annotated[
        int | None,
        Doc(
            """
            Minutes after its creation in which the revision must have been rolled out, else it is
            reported as failed. Without it there is no end to waiting.
            """
        ),
        INT32,
        between(10, 720),
    ] = None
    progression_probes: ProgressionProbes = ()

    def protection_of(self, phase: Phase, entry: PhaseObject) -> CollisionProtection:
        """What holds for an object: its own word over the phase's over the revision's."""
        return entry.collision_protection or phase.collision_protection or self.collision_protection


class ObservedPhase(Struct, frozen=True, kw_only=True):
    """What the objects of a phase were when they were first read."""

    name: Annotated[str, Doc("Name of the phase."), min_length(1), max_length(63), PHASE_NAME]
    digest: Annotated[
        str,
        Doc("Digest of its objects, for example sha256:0123."),
        min_length(1),
        max_length(256),
        matches("^[a-z0-9]+:[a-f0-9]+$", "digest must be in the format '<algorithm>:<hex>'"),
    ]


class ClusterObjectSetStatus(Struct, frozen=True, kw_only=True):
    """How far the revision has come."""

    conditions: Annotated[
        Conditions,
        Doc(
            """
            Progressing: True with reason RollingOut, Succeeded when everything is in place, or
            Retrying after an error that may pass. False with reason Blocked, Archived or
            ProgressDeadlineExceeded. Unknown with reason Suspended while it, or its extension, has
            the annotation olm.operatorframework.io/suspend.

            Available: whether all objects pass their probes.

            Succeeded: True since the revision was in place for the first time.
            """
        ),
    ] = ()
    observed_generation: ObservedGeneration = UNOBSERVED
    observed_phases: Annotated[
        tuple[Annotated[ObservedPhase, Doc("One phase as it was first read.")], ...],
        Doc("Digests of the phases as they were first read, so that no Secret can be swapped."),
        max_items(MAX_PHASES),
        list_map("name"),
        Rule("self == oldSelf || oldSelf.size() == 0", "observedPhases is immutable"),
    ] = ()


class ClusterObjectSet(Struct, frozen=True, kw_only=True):
    """One revision of what an extension puts into the cluster.

    operator-controller makes one for each version or configuration that it installs, and keeps
    the last ones as history. The objects in it do not change any more.
    """

    metadata: Annotated[ObjectMeta, Presence.NOT_REQUIRED]
    spec: Annotated[
        ClusterObjectSetSpec,
        Doc("The objects of the revision, and how they are put into the cluster."),
        Presence.NOT_REQUIRED,
    ]
    status: Annotated[
        ClusterObjectSetStatus, Doc("How far the revision has come."), Presence.DEFAULTED
    ] = field(default_factory=ClusterObjectSetStatus)

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)
