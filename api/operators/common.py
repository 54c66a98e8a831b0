"""What several kinds of the group share."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from api.schema import ATOMIC_MAP, Doc


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectReference:
    """An object, by what identifies it."""

    api_version: Annotated[str, Doc("Group and version of the object.")] = ""
    kind: Annotated[str, Doc("Kind of the object.")] = ""
    namespace: Annotated[str, Doc("Namespace of the object.")] = ""
    name: Annotated[str, Doc("Name of the object.")] = ""
    uid: Annotated[str, Doc("UID of the object.")] = ""
    resource_version: Annotated[str, Doc("The version of the object that was read.")] = ""
    field_path: Annotated[str, Doc("The part of the object that is meant.")] = ""


Reference = Annotated[ObjectReference, ATOMIC_MAP]


@dataclass(frozen=True, slots=True, kw_only=True)
class Icon:
    """A picture to show."""

    base64data: Annotated[str, Doc("The picture, in base64.")]
    mediatype: Annotated[str, Doc("Its media type, for example image/svg+xml.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVersionKind:
    """A kind of the API."""

    group: Annotated[str, Doc("Group of the kind.")]
    version: Annotated[str, Doc("Version of the kind.")]
    kind: Annotated[str, Doc("Name of the kind.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCondition:
    """A condition with both its times; of installs and of components."""

    type: Annotated[str, Doc("What the condition is about.")] = ""
    status: Annotated[str, Doc("True, False or Unknown.")] = ""
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[str, Doc("What happened, made for people to read.")] = ""
    last_update_time: Annotated[datetime | None, Doc("When the condition was last written.")] = None
    last_transition_time: Annotated[datetime | None, Doc("When the status last changed.")] = None
