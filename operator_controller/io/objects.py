"""Writes one object of a revision: look, name the situation, act as the ownership table says."""

from dataclasses import dataclass
from enum import Enum, auto

from api.v1 import names
from olm_shared.errors import OLMError, TransientError, WaitingError
from olm_shared.kube_object import KubeObject, key_of, metadata
from olm_shared.runtime.api_errors import AlreadyExistsError, ApiError, NotFoundError
from olm_shared.runtime.kube import JSON_PATCH, KubeClient
from operator_controller.apply.owned import Fingerprint, field_migration, fingerprint, owned
from operator_controller.apply.ownership import (
    Action,
    Owner,
    Policy,
    action_for,
    controller_of,
    refusal,
    situation_of,
)

LEFTOVER_SECONDS = 1.0


class Result(Enum):
    """What happened to an object."""

    CREATED = auto()
    UPDATED = auto()
    IDLE = auto()
    SKIPPED = auto()


class CollisionError(TransientError):
    """The object belongs to somebody else. Heals when it is freed, so it is tried again."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What happened, and the fingerprint to recognise the object by."""

    result: Result
    seen: Fingerprint


class ObjectWriter:
    """Applies and removes objects as one identity, for one owner."""

    def __init__(self, client: KubeClient, owner: Owner) -> None:
        self._client = client
        self._owner = owner

    async def apply(self, obj: KubeObject, live: KubeObject | None, policy: Policy) -> Applied:
        """Makes the cluster have `obj`; `live` is its metadata as far as it is known.

        Raises CollisionError, WaitingError, or ApiError naming the object.
        """
        try:
            return await self._apply(owned(obj, self._owner), live, policy)
        except AlreadyExistsError as error:
            raise TransientError(f"{key_of(obj)}: {error.message}") from error
        except ApiError as error:
            raise _naming(error, obj) from error

    async def _apply(self, obj: KubeObject, live: KubeObject | None, policy: Policy) -> Applied:
        if live is None:
            try:
                return await self._create(obj)
            except AlreadyExistsError:
                live = await self._metadata(obj)
        if live is None:
            return await self._create(obj)
        situation = situation_of(live, self._owner)
        match action_for(situation, policy):
            case Action.CREATE | Action.APPLY:
                return await self._patch(obj, live)
            case Action.SKIP:
                return Applied(Result.SKIPPED, fingerprint(live))
            case Action.WAIT:
                raise WaitingError(
                    f"{key_of(obj)} is still being removed with its former owner",
                    seconds=LEFTOVER_SECONDS,
                )
            case Action.REFUSE:
                message, hint = refusal(live, situation)
                raise CollisionError(message, hint=hint)

    async def _metadata(self, obj: KubeObject) -> KubeObject | None:
        key = key_of(obj)
        try:
            return await self._client.get(key.gvk, key.name, key.namespace, metadata_only=True) | {
                "apiVersion": obj["apiVersion"],
                "kind": obj["kind"],
            }
        except NotFoundError:
            return None

    async def _create(self, obj: KubeObject) -> Applied:
        created = await self._client.create(obj, field_manager=names.FIELD_MANAGER)
        return Applied(Result.CREATED, fingerprint(created))

    async def _patch(self, obj: KubeObject, live: KubeObject) -> Applied:
        if metadata(live).get("deletionTimestamp"):
            raise WaitingError(
                f"{key_of(obj)} is being deleted and will be made again",
                seconds=LEFTOVER_SECONDS,
            )
        migration = field_migration(live)
        if migration is not None:
            await self._client.patch(obj, migration, content_type=JSON_PATCH)
        # The uid makes the server refuse when the object was replaced since we looked.
        body = {**obj, "metadata": {**metadata(obj), "uid": metadata(live)["uid"]}}
        applied = await self._client.apply(body, field_manager=names.FIELD_MANAGER)
        same = metadata(applied).get("resourceVersion") == metadata(live).get("resourceVersion")
        return Applied(Result.IDLE if same else Result.UPDATED, fingerprint(applied))

    async def remove(self, obj: KubeObject) -> bool:
        """Deletes an object if it is still ours at this very revision; whether it is gone.

        An object that a newer revision or somebody else has is left alone and counts as gone.
        """
        live = await self._metadata(obj)
        if live is None:
            return True
        controller = controller_of(live)
        ours = controller is not None and controller.get("uid") == self._owner.uid
        if not ours or _revision_text(live) != str(self._owner.revision):
            return True
        meta = metadata(live)
        if not meta.get("deletionTimestamp"):
            try:
                await self._client.delete(
                    obj, uid=meta["uid"], resource_version=meta["resourceVersion"]
                )
            except ApiError as error:
                raise _naming(error, obj) from error
        return await self._metadata(obj) is None


def _revision_text(live: KubeObject) -> str:
    annotations = metadata(live).get("annotations") or {}
    return str(annotations.get(names.ANNOTATION_REVISION, ""))


def _naming(error: ApiError, obj: KubeObject) -> OLMError:
    """The same error with the object's name, unless the server named it already."""
    key = key_of(obj)
    if key.name in error.message:
        return error
    return type(error)(f"{key}: {error.message}", status=error.status, reason=error.reason)
