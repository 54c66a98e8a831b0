"""Writes one object of a revision: look, name the situation, act as the ownership table says."""

from dataclasses import dataclass
from enum import Enum, auto

from api.v1 import names
from olm_shared.errors import OLMError, TransientError, WaitingError
from olm_shared.kube_object import KubeObject, key_of, metadata
from olm_shared.runtime.api_errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    InvalidError,
    NotFoundError,
)
from olm_shared.runtime.kube import JSON_PATCH, KubeClient
from operator_controller.apply.owned import (
    Fingerprint,
    field_migration,
    fingerprint,
    needs_migration,
    owned,
)
from operator_controller.apply.ownership import (
    Action,
    Owner,
    Policy,
    Situation,
    action_for,
    controller_of,
    demoted_controller,
    refusal,
    revision_of,
    situation_of,
)

LEFTOVER_SECONDS = 1.0
LOOKS = 3
"""How often an object that changes under our hands is looked at before we come back later."""
TAKEOVER_FIELD_MANAGER = f"{names.FIELD_MANAGER}/takeover"

_OWN = frozenset({Situation.OURS, Situation.OURS_OLDER})


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
        except ApiError as error:
            raise _naming(error, obj) from error

    async def _apply(self, obj: KubeObject, live: KubeObject | None, policy: Policy) -> Applied:
        looks = LOOKS
        while True:
            looks -= 1
            try:
                if live is None:
                    return await self._create(obj)
                return await self._settle(obj, live, policy)
            except (AlreadyExistsError, ConflictError, InvalidError) as error:
                if not looks or not _looked_too_early(error):
                    raise
                live = await self._metadata(obj)

    async def _settle(self, obj: KubeObject, live: KubeObject, policy: Policy) -> Applied:
        """Does for an object that is there what the ownership table says."""
        situation = situation_of(live, self._owner)
        match action_for(situation, policy):
            case Action.CREATE | Action.APPLY:
                return await self._patch(obj, live, situation)
            case Action.SKIP:
                return Applied(Result.SKIPPED, fingerprint(live))
            case Action.WAIT:
                raise WaitingError(
                    f"{key_of(obj)} is still being removed with its former owner",
                    seconds=LEFTOVER_SECONDS,
                )
            case Action.REFUSE:
                message, hint = refusal(live, situation, self._owner)
                raise CollisionError(message, hint=hint)

    async def _metadata(self, obj: KubeObject) -> KubeObject | None:
        key = key_of(obj)
        try:
            return await self._client.get(key.gvk, key.name, key.namespace, metadata_only=True)
        except NotFoundError:
            return None

    async def _create(self, obj: KubeObject) -> Applied:
        created = await self._client.create(
            obj, field_manager=names.FIELD_MANAGER, metadata_only=True
        )
        return Applied(Result.CREATED, fingerprint(created))

    async def _patch(self, obj: KubeObject, live: KubeObject, situation: Situation) -> Applied:
        if metadata(live).get("deletionTimestamp"):
            raise WaitingError(
                f"{key_of(obj)} is being deleted and will be made again",
                seconds=LEFTOVER_SECONDS,
            )
        if situation is Situation.OTHER_CONTROLLER:
            live = await self._demote_controller(live)
        if needs_migration(live):
            live = await self._migrate_fields(obj)
        # The uid makes the server refuse when the object was replaced since we looked, the
        # version also when somebody took it: a stranger, or a newer revision of ours.
        meta = {**metadata(obj), "uid": metadata(live)["uid"]}
        if situation not in _OWN or self._owner.newer:
            meta["resourceVersion"] = metadata(live)["resourceVersion"]
        body = {**obj, "metadata": meta}
        applied = await self._client.apply(
            body, field_manager=names.FIELD_MANAGER, metadata_only=True
        )
        same = metadata(applied).get("resourceVersion") == metadata(live).get("resourceVersion")
        return Applied(Result.IDLE if same else Result.UPDATED, fingerprint(applied))

    async def _demote_controller(self, live: KubeObject) -> KubeObject:
        meta = {
            "resourceVersion": metadata(live)["resourceVersion"],
            "ownerReferences": demoted_controller(live),
        }
        patched: KubeObject = await self._client.patch(
            live, {"metadata": meta}, field_manager=TAKEOVER_FIELD_MANAGER
        )
        return patched

    async def _migrate_fields(self, obj: KubeObject) -> KubeObject:
        key = key_of(obj)
        live = await self._client.get(key.gvk, key.name, key.namespace, metadata_only=True)
        migration = field_migration(live)
        if migration is None:
            return live
        patched: KubeObject = await self._client.patch(
            obj, migration, content_type=JSON_PATCH, metadata_only=True
        )
        return patched

    async def remove(self, obj: KubeObject) -> bool:
        """Deletes an object if it is still ours at this very revision; whether it is gone.

        An object that a newer revision or somebody else has is left alone and counts as gone.
        """
        try:
            return await self._remove(obj)
        except ApiError as error:
            raise _naming(error, obj) from error

    async def _remove(self, obj: KubeObject) -> bool:
        live = await self._metadata(obj)
        if live is None:
            return True
        controller = controller_of(live)
        ours = controller is not None and controller.get("uid") == self._owner.uid
        if not ours or revision_of(live) != self._owner.revision:
            return True
        meta = metadata(live)
        if meta.get("deletionTimestamp"):
            return False
        await self._client.delete(obj, uid=meta["uid"], resource_version=meta["resourceVersion"])
        return await self._metadata(obj) is None


def _looked_too_early(error: ApiError) -> bool:
    """Whether the object changed since we looked; of another uid the server says "immutable"."""
    return not isinstance(error, InvalidError) or "metadata.uid" in error.message


def _naming(error: ApiError, obj: KubeObject) -> OLMError:
    """The same error, saying of which object it is; what the server says need not name it."""
    return type(error)(f"{key_of(obj)}: {error.message}", status=error.status, reason=error.reason)
