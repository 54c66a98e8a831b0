"""Writes one object of a revision as the ownership table says."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import NamedTuple

from api.objects import KubeObject, key_of, metadata
from olm_rollout.adoption import (
    Action,
    Policy,
    Situation,
    action_for,
    is_inherited,
    is_orphaned,
    is_refused,
    outruns,
    refusal,
    situation_of,
)
from olm_rollout.controlled import without_controlled
from olm_rollout.immutable import immutable, is_denial, is_replaceable
from olm_rollout.managed_fields import Held, taken_fields, written_by_others
from olm_rollout.owned import Fingerprint, field_migration, fingerprint, needs_migration, owned
from olm_rollout.ownership import Owner, demoted_controller
from olm_runtime.errors import TransientError, WaitingError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from olm_runtime.kube.media_types import JSON_PATCH

LEFTOVER_SECONDS = 1.0
TRIES = 3
"""How often an object that changes between read and write is read in one reconcile."""

Newer = Callable[[], Awaitable[frozenset[int]]]
"""Reads which revisions of the owner are in service now and newer than the one at work.

Raises WaitingError when the owner itself is being deleted.
"""

_OWN = frozenset({Situation.OURS, Situation.OURS_OLDER})


class Result(Enum):
    """What happened to an object."""

    CREATED = auto()
    UPDATED = auto()
    IDLE = auto()
    SKIPPED = auto()


class CollisionError(TransientError):
    """The object belongs to somebody else. Heals when it is freed, so it is tried again."""


def collision(live: KubeObject, owner: Owner) -> CollisionError:
    """The refusal of an object that is not ours to have."""
    message, hint = refusal(live, situation_of(live, owner), owner)
    return CollisionError(message, hint=hint)


class Write(NamedTuple):
    """What happened, and the fingerprint that the object was left with.

    `change`: the metadata before and after, of an object that was there and was changed.
    """

    result: Result
    left: Fingerprint
    change: tuple[KubeObject, KubeObject] | None = None

    def taken(self, manager: str) -> frozenset[Held]:
        """The fields of a field manager that others had taken, and that were taken back."""
        return taken_fields(*self.change, manager) if self.change else frozenset()


class ObjectWriter:
    """Applies objects as one identity, for one owner."""

    def __init__(self, client: KubeClient, owner: Owner) -> None:
        self._client = client
        self._owner = owner
        self._applier = owner.applier

    async def apply(
        self, obj: KubeObject, live: KubeObject | None, policy: Policy, newer: Newer
    ) -> Write:
        """Makes the cluster have `obj`; `live` is its metadata as far as it is known.

        An `obj` with a uid was made from that very object, and is written to no other.

        A revision that is made meanwhile may have the object already, or the owner is deleted
        without its dependents; `newer` is asked when the object looks so. Raises CollisionError,
        WaitingError, or ApiError naming the object.
        """
        with naming(obj):
            return await self._apply(owned(obj, self._owner), live, policy, newer)

    async def _apply(
        self, obj: KubeObject, live: KubeObject | None, policy: Policy, newer: Newer
    ) -> Write:
        tries = TRIES
        if _is_other(obj, live):  # as far as was seen
            live = await find_metadata(self._client, obj)
        while True:
            tries -= 1
            if _is_other(obj, live):
                raise WaitingError(f"{key_of(obj)} was replaced since it was read", seconds=0.0)
            try:
                if live is not None and self._is_to_migrate(live):
                    live = await find_metadata(
                        self._client, obj
                    )  # whole, as it is to be written back
                if live is None:
                    return await self._create_unowned(obj, policy)
                if outruns(live, self._owner) or is_orphaned(live, self._owner):
                    self._owner = self._owner._replace(newer=await newer())
                return await self._settle(obj, live, policy)
            except (AlreadyExistsError, ConflictError, InvalidError) as error:
                if not tries or not _was_outdated(error):
                    raise
                live = await find_metadata(self._client, obj)

    def _is_to_migrate(self, live: KubeObject) -> bool:
        return needs_migration(live, self._applier) or is_inherited(live, self._owner)

    async def _settle(self, obj: KubeObject, live: KubeObject, policy: Policy) -> Write:
        """Does for an object that is there what the ownership table says."""
        situation = situation_of(live, self._owner)
        match action_for(situation, policy):
            case Action.CREATE | Action.APPLY:
                return await self._patch(obj, live, situation)
            case Action.SKIP:
                return Write(Result.SKIPPED, self._fingerprint(live))
            case Action.WAIT:
                raise WaitingError(
                    f"{key_of(obj)} is still being removed with its former owner",
                    seconds=LEFTOVER_SECONDS,
                )
            case Action.REFUSE:
                raise collision(live, self._owner)

    def _fingerprint(self, live: KubeObject) -> Fingerprint:
        return fingerprint(live, self._applier)

    async def _create_unowned(self, obj: KubeObject, policy: Policy) -> Write:
        """Creates an object that nobody is known to have.

        Where the server refuses it, it has not looked whether there is one: whose that is counts
        more than what else is wrong.
        """
        try:
            return await self._create(obj)
        except (ForbiddenError, InvalidError) as error:
            with suppress(ApiError):
                live = await find_metadata(self._client, obj)
                if live is not None and is_refused(live, self._owner, policy):
                    raise collision(live, self._owner) from error
            raise

    async def _create(self, obj: KubeObject) -> Write:
        created = await self._client.create(
            without_controlled(obj, None),
            field_manager=self._applier.field_manager,
            metadata_only=True,
        )
        return Write(Result.CREATED, self._fingerprint(created))

    async def _patch(self, obj: KubeObject, live: KubeObject, situation: Situation) -> Write:
        if metadata(live).get("deletionTimestamp"):
            raise WaitingError(
                f"{key_of(obj)} is being deleted and will be made again",
                seconds=LEFTOVER_SECONDS,
            )
        if situation is Situation.OTHER_CONTROLLER:
            live = await self._demote_controller(live)
        live = await self._migrate_fields(live)
        # The uid makes the server refuse when the object was replaced since it was read, the
        # version when somebody took it: a stranger, or a newer revision of the same owner, which
        # may have been made only after this reconcile began.
        seen = {key: metadata(live)[key] for key in ("uid", "resourceVersion")}
        body = without_controlled(obj, live)
        body = {**body, "metadata": {**metadata(body), **seen}}
        try:
            applied = await self._client.apply(
                body, field_manager=self._applier.field_manager, metadata_only=True
            )
        except InvalidError as error:
            if _was_outdated(error):
                raise
            return await self._replace(obj, situation, error)
        if metadata(applied).get("resourceVersion") == metadata(live).get("resourceVersion"):
            return Write(Result.IDLE, self._fingerprint(applied))
        return Write(Result.UPDATED, self._fingerprint(applied), (live, applied))

    async def _replace(self, obj: KubeObject, situation: Situation, refusal: InvalidError) -> Write:
        """Creates an object anew that cannot be changed, where nothing is lost by it."""
        if is_denial(refusal.message) or not await self._is_valid_anew(obj):
            raise refusal
        live = await find_metadata(self._client, obj)
        if live is not None:
            others = written_by_others(live, self._applier.field_manager)
            if others or situation not in _OWN or not is_replaceable(obj):
                raise immutable(obj, refusal.message, others) from refusal
            seen = metadata(live)
            await self._client.delete(
                obj, uid=seen["uid"], resource_version=seen["resourceVersion"]
            )
        return await self._create(obj)

    async def _is_valid_anew(self, obj: KubeObject) -> bool:
        """Whether the server would take the object if it were not there yet.

        It judges the content before it notices that the name is taken.
        """
        try:
            await self._client.create(
                without_controlled(obj, None),
                field_manager=self._applier.field_manager,
                dry_run=True,
                metadata_only=True,
            )
        except AlreadyExistsError:
            return True
        except ApiError:
            return False
        return True

    async def _demote_controller(self, live: KubeObject) -> KubeObject:
        meta = {
            "resourceVersion": metadata(live)["resourceVersion"],
            "ownerReferences": demoted_controller(live),
        }
        patched: KubeObject = await self._client.patch(
            live, {"metadata": meta}, field_manager=f"{self._applier.field_manager}/takeover"
        )
        return patched

    async def _migrate_fields(self, live: KubeObject) -> KubeObject:
        inherited = is_inherited(live, self._owner)
        migration = field_migration(live, self._applier, inherited=inherited)
        if migration is None:
            return live
        patched: KubeObject = await self._client.patch(
            live, migration, content_type=JSON_PATCH, metadata_only=True
        )
        return patched


def _is_other(obj: KubeObject, live: KubeObject | None) -> bool:
    """Whether an object with a uid is not the live one."""
    uid = metadata(obj).get("uid")
    return uid is not None and (live is None or metadata(live)["uid"] != uid)


def _was_outdated(error: ApiError) -> bool:
    """Whether the object changed since it was read; of another uid the server says "immutable"."""
    return not isinstance(error, InvalidError) or "metadata.uid" in error.message


async def find_metadata(client: KubeClient, obj: KubeObject) -> KubeObject | None:
    """The metadata of the live object of an object's name. Raises ApiError."""
    key = key_of(obj)
    try:
        return await client.get(key.gvk, key.name, key.namespace, metadata_only=True)
    except NotFoundError:
        return None


@contextmanager
def naming(obj: KubeObject) -> Iterator[None]:
    """Has an ApiError say of which object it is; what the server says need not name it."""
    try:
        yield
    except ApiError as error:
        message = f"{key_of(obj)}: {error.message}"
        raise type(error)(message, status=error.status, reason=error.reason) from error
