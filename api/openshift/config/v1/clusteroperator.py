"""ClusterOperator: how a part of a cluster is. What updates the cluster reads it.

Only a reporter's own conditions are its to set: others that are there stay.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import bounded_message
from api.metadata import ObjectMeta
from api.openshift.config.v1 import names
from api.openshift.config.v1.conditions import ClusterConditions
from api.schema import ANY_FIELDS, NULLABLE, Doc


class ClusterOperatorSpec(Struct, frozen=True, kw_only=True):
    """Nothing can be wished of it."""


class OperandVersion(Struct, frozen=True, kw_only=True):
    """The version that something of the part has."""

    name: Annotated[str, Doc("What has the version; operator stands for the part itself.")]
    version: Annotated[str, Doc("The version, once all of it has that version.")]


class RelatedObject(Struct, frozen=True, kw_only=True):
    """An object that belongs to the part, to be looked at when something is wrong."""

    group: Annotated[str, Doc("API group of the object; empty for the core group.")]
    resource: Annotated[str, Doc("Plural of its kind.")]
    name: Annotated[str, Doc("Name of the object; empty for all of the resource.")]
    namespace: Annotated[str, Doc("Namespace of the object, if it has one.")] = ""


class ClusterOperatorStatus(Struct, frozen=True, kw_only=True):
    """How the part is."""

    conditions: Annotated[
        ClusterConditions,
        Doc(
            """
            Available: whether the part works.

            Progressing: whether it is being changed.

            Degraded: whether it works less well than it should.

            Upgradeable: False while it speaks against the next minor version of the cluster.
            """
        ),
    ] = ()
    versions: Annotated[
        tuple[OperandVersion, ...],
        Doc("Which versions the part has. An update waits for the ones of the release."),
    ] = ()
    related_objects: Annotated[
        tuple[RelatedObject, ...], Doc("Objects to look at when something is wrong.")
    ] = ()
    extension: Annotated[
        Mapping[str, Any] | None,
        Doc("Whatever else the part has to say."),
        ANY_FIELDS,
        NULLABLE,
    ] = None


class ClusterOperator(Struct, frozen=True, kw_only=True):
    """How a part of the cluster is, and at which version."""

    metadata: ObjectMeta
    spec: Annotated[ClusterOperatorSpec, Doc("Nothing can be wished of it.")]
    status: Annotated[ClusterOperatorStatus, Doc("How the part is.")] = field(
        default_factory=ClusterOperatorStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)


RawStatus = dict[str, Any]
Verdict = tuple[str, bool, str, str]
"""Type, status, reason, message."""


def merged_conditions(
    old: Mapping[str, Any], verdicts: Iterable[Verdict], now: datetime
) -> list[dict[str, Any]]:
    """The conditions of a status by type; the time of one whose status stays does too."""
    merged = {condition["type"]: condition for condition in old.get("conditions") or ()}
    for kind, holds, reason, message in verdicts:
        before = merged.get(kind) or {}
        status = "True" if holds else "False"
        since = before.get("lastTransitionTime") if before.get("status") == status else None
        merged[kind] = {
            "type": kind,
            "status": status,
            **({"reason": reason} if reason else {}),
            "message": bounded_message(message),
            "lastTransitionTime": since or wire.timestamp(now),
        }
    return list(merged.values())
