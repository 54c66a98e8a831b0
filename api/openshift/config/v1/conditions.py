"""Conditions of ClusterVersion and ClusterOperator: reason and message may be left out."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from api.schema import Doc, Presence, list_map


class ClusterCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the state of a cluster, or of a part of it."""

    type: Annotated[str, Doc("What the condition is about.")]
    status: Annotated[str, Doc("True, False, or Unknown when it could not be found out.")]
    last_transition_time: Annotated[
        datetime | None,
        Doc("When the status last changed; a new reason or message alone does not move it."),
        Presence.REQUIRED,
    ] = None
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[
        str, Doc("What happened, made for people to read; it may have several lines.")
    ] = ""


ClusterConditions = Annotated[tuple[ClusterCondition, ...], list_map("type")]
