"""Conditions: their model, the common one of Kubernetes, and how new ones replace old ones."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from api.schema import (
    INT64,
    Doc,
    Presence,
    between,
    list_map,
    max_length,
    min_length,
    pattern,
)

MAX_MESSAGE_BYTES = 32768
"""The API server refuses a status with a longer message, and with it everything else in it."""

REASON = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
"""What a reason may be, as a regular expression."""

TRUNCATION_SUFFIX = "\n\n... [message truncated]"


class ConditionStatus(StrEnum):
    """Whether the condition holds."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(Struct, frozen=True, kw_only=True):
    """One aspect of the state of an object, in the common form of Kubernetes."""

    type: Annotated[
        str,
        Doc("What the condition is about."),
        max_length(316),
        pattern(
            r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
        ),
    ]
    status: Annotated[
        ConditionStatus, Doc("True, False, or Unknown when it could not be found out.")
    ]
    reason: Annotated[
        str,
        Doc("One word for why, made for programs to compare."),
        min_length(1),
        max_length(1024),
        pattern(REASON),
    ]
    message: Annotated[
        str,
        Doc("What happened and what can be done, made for people to read."),
        max_length(MAX_MESSAGE_BYTES),
        Presence.REQUIRED,
    ] = ""
    observed_generation: Annotated[
        int | None,
        Doc(
            "The metadata.generation that was looked at. The condition is out of date while it is"
            " lower than the object's."
        ),
        INT64,
        between(0),
    ] = None
    last_transition_time: Annotated[
        datetime | None,
        Doc("When the status last changed; a new reason or message alone does not move it."),
        Presence.REQUIRED,
    ] = None


Conditions = Annotated[tuple[Condition, ...], list_map("type")]

UNOBSERVED = -1
"""The generation that a status says of an object at which nobody has looked yet."""
ObservedGeneration = Annotated[
    int,
    Doc(
        """
        The metadata.generation that this status is of; -1 before there is any. Tools that know
        nothing of this kind wait until it is that of the object, and until there is no condition
        Reconciling or Stalled.
        """
    ),
    INT64,
    Presence.DEFAULTED,
]


def merge_conditions(
    old: Iterable[Condition], new: Iterable[Condition], now: datetime
) -> tuple[Condition, ...]:
    """`old` with `new` set over it, as it shall stand in the status.

    - the order is that of `new`, whatever was written before, so that equal states are equal
    - a type that `new` lacks follows as it is: what was not computed has not changed
    - lastTransitionTime is `now` for a new type or a changed status, else that of `old`
    - a message is cut to what the API server takes
    """
    known = {condition.type: condition for condition in old}
    merged = {each.type: _transition(known.get(each.type), each, now) for each in new}
    return (*merged.values(), *(each for each in known.values() if each.type not in merged))


def _transition(old: Condition | None, new: Condition, now: datetime) -> Condition:
    unchanged = old is not None and old.status == new.status
    since = old.last_transition_time if old is not None and unchanged else None
    return replace(new, message=bounded_message(new.message), last_transition_time=since or now)


def bounded_message(message: str) -> str:
    """A message of at most MAX_MESSAGE_BYTES bytes of UTF-8, cut between characters.

    What UTF-8 cannot express (lone surrogates, from file names) becomes a question mark.
    """
    data = message.encode(errors="replace")
    if len(data) <= MAX_MESSAGE_BYTES:
        return data.decode()
    room = MAX_MESSAGE_BYTES - len(TRUNCATION_SUFFIX.encode())
    return data[:room].decode(errors="ignore") + TRUNCATION_SUFFIX
