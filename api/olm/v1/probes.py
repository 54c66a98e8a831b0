"""Progression probes: what must hold for objects of a revision before the next phase begins."""

from enum import StrEnum
from typing import Annotated

from msgspec import Struct

from api.metadata import LabelSelector
from api.schema import (
    ATOMIC_LIST,
    ATOMIC_MAP,
    Doc,
    Rule,
    matches,
    max_items,
    max_length,
    min_items,
    min_length,
    union_member,
)

MAX_PROBES = 20
MAX_ASSERTIONS = 20

FIELD_PATH = matches(
    r"^[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)*$",
    "must contain a valid field path. valid fields contain upper or lower-case alphanumeric"
    ' characters separated by the "." character.',
)


class SelectorType(StrEnum):
    """How a probe chooses its objects."""

    GROUP_KIND = "GroupKind"
    LABEL = "Label"


class ProbeType(StrEnum):
    """What a probe looks at."""

    CONDITION_EQUAL = "ConditionEqual"
    FIELDS_EQUAL = "FieldsEqual"
    FIELD_VALUE = "FieldValue"


class ExpectedStatus(StrEnum):
    """The status that a condition must have."""

    TRUE = "True"
    FALSE = "False"


class GroupKind(Struct, frozen=True, kw_only=True):
    """A kind of objects in any version."""

    group: Annotated[str, Doc("API group; empty for the core group.")]
    kind: Annotated[str, Doc("Kind of the objects.")]


class ObjectSelector(Struct, frozen=True, kw_only=True):
    """Which objects a probe looks at; all others pass it."""

    type: Annotated[
        SelectorType, Doc("GroupKind needs the field groupKind, Label the field label.")
    ]
    group_kind: Annotated[GroupKind | None, Doc("All objects of one kind.")] = None
    label: Annotated[
        LabelSelector | None,
        Doc("All objects with matching labels, whatever their kind."),
        ATOMIC_MAP,
        Rule(
            "has(self.matchExpressions) != has(self.matchLabels)",
            "exactly one of matchLabels or matchExpressions must be set",
        ),
    ] = None


class ConditionEqualProbe(Struct, frozen=True, kw_only=True):
    """A condition has a status."""

    type: Annotated[
        str, Doc("Type of the condition, for example Ready."), min_length(1), max_length(200)
    ]
    status: Annotated[ExpectedStatus, Doc("The status that it must have.")]


class FieldsEqualProbe(Struct, frozen=True, kw_only=True):
    """Two fields have the same value."""

    field_a: Annotated[
        str,
        Doc("Path of a field, for example spec.replicas; a missing field fails the probe."),
        min_length(1),
        max_length(200),
        FIELD_PATH,
    ]
    field_b: Annotated[
        str,
        Doc("Path of the field that must have the same value, for example status.readyReplicas."),
        min_length(1),
        max_length(200),
        FIELD_PATH,
    ]


class FieldValueProbe(Struct, frozen=True, kw_only=True):
    """A field has a value."""

    field_path: Annotated[
        str,
        Doc("Path of a field, for example status.phase; a missing field fails the probe."),
        min_length(1),
        max_length(200),
        FIELD_PATH,
    ]
    value: Annotated[
        str, Doc("The value that it must have, for example Bound."), min_length(1), max_length(200)
    ]


class Assertion(Struct, frozen=True, kw_only=True):
    """One thing that must hold."""

    type: Annotated[
        ProbeType,
        Doc(
            """
            ConditionEqual, FieldsEqual or FieldValue; each needs the field of its name and allows
            no other.
            """
        ),
    ]
    condition_equal: Annotated[
        ConditionEqualProbe | None, Doc("A condition of the object has a status.")
    ] = None
    fields_equal: Annotated[
        FieldsEqualProbe | None, Doc("Two fields of the object have the same value.")
    ] = None
    field_value: Annotated[FieldValueProbe | None, Doc("A field of the object has a value.")] = None


class ProgressionProbe(Struct, frozen=True, kw_only=True):
    """What must hold for some of the objects."""

    selector: Annotated[
        ObjectSelector,
        Doc("Which objects the probe looks at; all others pass it."),
        union_member("groupKind", of="type", when="GroupKind"),
        union_member("label", of="type", when="Label"),
    ]
    assertions: Annotated[
        tuple[
            Annotated[
                Assertion,
                Doc("One thing that must hold."),
                union_member("conditionEqual", of="type", when="ConditionEqual"),
                union_member("fieldsEqual", of="type", when="FieldsEqual"),
                union_member("fieldValue", of="type", when="FieldValue"),
            ],
            ...,
        ],
        Doc("What must hold for each of these objects, all of it."),
        min_items(1),
        max_items(MAX_ASSERTIONS),
        ATOMIC_LIST,
    ]


ProgressionProbes = Annotated[
    tuple[Annotated[ProgressionProbe, Doc("What must hold for some of the objects.")], ...],
    Doc(
        """
        What must hold for objects of a phase before the next phase begins, besides what is known
        of Kubernetes' own kinds.
        """
    ),
    min_items(1),
    max_items(MAX_PROBES),
    ATOMIC_LIST,
]
