"""What several kinds of the group share."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from api.schema import ATOMIC_MAP, Doc


class ObjectReference(Struct, frozen=True, kw_only=True):
    """An object, by what identifies it."""

    api_version: Annotated[str, Doc("Group and version of the object.")] = ""
    kind: Annotated[str, Doc("Kind of the object.")] = ""
    namespace: Annotated[str, Doc("Namespace of the object.")] = ""
    name: Annotated[str, Doc("Name of the object.")] = ""
    uid: Annotated[str, Doc("UID of the object.")] = ""
    resource_version: Annotated[str, Doc("The version of the object that was read.")] = ""
    field_path: Annotated[str, Doc("The part of the object that is meant.")] = ""


Reference = Annotated[ObjectReference, ATOMIC_MAP]


class Icon(Struct, frozen=True, kw_only=True):
    """A picture to show."""

    base64data: Annotated[str, Doc("The picture, in base64.")]
    mediatype: Annotated[str, Doc("Its media type, for example image/svg+xml.")]


class GroupVersionKind(Struct, frozen=True, kw_only=True):
    """A kind of the API."""

    group: Annotated[str, Doc("Group of the kind.")]
    version: Annotated[str, Doc("Version of the kind.")]
    kind: Annotated[str, Doc("Name of the kind.")]


class ComponentCondition(Struct, frozen=True, kw_only=True):
    """A condition with both its times; of installs and of components."""

    type: Annotated[str, Doc("What the condition is about.")] = ""
    status: Annotated[str, Doc("True, False or Unknown.")] = ""
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[str, Doc("What happened, made for people to read.")] = ""
    last_update_time: Annotated[datetime | None, Doc("When the condition was last written.")] = None
    last_transition_time: Annotated[datetime | None, Doc("When the status last changed.")] = None
