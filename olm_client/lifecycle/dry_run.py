"""What applying objects would do, object by object, by dry runs of the API server.

Reads and decides as `olm_rollout.io.objects` does, but every write is a dry run.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from api.objects import KubeObject, key_of, metadata, namespace_of
from api.olm.v1 import names
from olm_client.history import WRITE_TRIES
from olm_client.lifecycle.applying import apply
from olm_client.lifecycle.changes import Action, Change, field_changes, without_leftovers
from olm_client.lifecycle.side_by_side import side_by_side
from olm_content.formats.merge_patch import merge_patch
from olm_rollout.adoption import Action as Owning
from olm_rollout.adoption import Policy, Situation, action_for, refusal, situation_of
from olm_rollout.controlled import without_controlled
from olm_rollout.immutable import immutable, is_denial, is_replaceable
from olm_rollout.managed_fields import written_by_others
from olm_rollout.owned import owned
from olm_rollout.ownership import Owner
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from olm_runtime.kube.media_types import MERGE_PATCH

PARALLEL_REQUESTS = 8
DRY_RUN = {"dryRun": "All"}
NO_DRY_RUN = "does not support dry run"
"""In what servers answer where an admission webhook has side effects."""


class Planned(NamedTuple):
    """An object, as it is now (None if it is not there), and what would become of it."""

    live: KubeObject | None
    change: Change


class DryRun(NamedTuple):
    """Dry runs for the owner of the objects; `planned_namespaces` count as present."""

    kube: KubeClient
    owner: Owner
    planned_namespaces: frozenset[str] = frozenset()

    async def applied(self, objects: Sequence[KubeObject]) -> list[Planned]:
        """What applying them would do, in their order. Writes nothing."""
        return await side_by_side(self._planned, objects, PARALLEL_REQUESTS)

    async def deleted(self, objects: Iterable[KubeObject]) -> list[Planned]:
        """What taking these down would do: those that are there and ours go."""
        found = await side_by_side(self._deleted, objects, PARALLEL_REQUESTS)
        return [each for each in found if each is not None]

    async def _deleted(self, obj: KubeObject) -> Planned | None:
        key = key_of(obj)
        try:
            live = await self.kube.find(key.gvk, key.name, key.namespace)
        except ApiError as error:
            return Planned(None, Change(key, Action.UNKNOWN, message=error.message))
        if live is None or not self.owner.controls(live):
            return None
        return Planned(live, Change(key, Action.DELETE))

    async def _planned(self, obj: KubeObject) -> Planned:
        key, live = key_of(obj), None
        try:
            live = await self.kube.find(key.gvk, key.name, key.namespace)
            return Planned(live, await self._change(obj, live))
        except ForbiddenError as error:
            return Planned(live, Change(key, Action.UNKNOWN, message=error.message))
        except ApiError as error:
            unknown = NO_DRY_RUN in error.message
            action = Action.UNKNOWN if unknown else Action.REFUSED
            return Planned(live, Change(key, action, message=error.message))

    async def _change(self, obj: KubeObject, live: KubeObject | None) -> Change:
        situation = situation_of(live, self.owner)
        match action_for(situation, Policy.PREVENT):
            case Owning.CREATE:
                return await self._created(obj)
            case Owning.APPLY if live is not None:
                return await self._changed(obj, live, situation)
            case Owning.REFUSE if live is not None:
                message, hint = refusal(live, situation, self.owner)
                return Change(key_of(obj), Action.REFUSED, message=message, hint=hint)
            case _:
                message = "is still being removed with its former owner, then made anew"
                return Change(key_of(obj), Action.CREATE, message=message)

    async def _created(self, obj: KubeObject) -> Change:
        if namespace_of(obj) not in self.planned_namespaces:
            await self._create(obj)
        return Change(key_of(obj), Action.CREATE)

    async def _create(self, obj: KubeObject) -> None:
        body = owned(without_controlled(obj, None), self.owner)
        await self.kube.create(body, field_manager=names.FIELD_MANAGER, dry_run=True)

    async def _changed(self, obj: KubeObject, live: KubeObject, situation: Situation) -> Change:
        key = key_of(obj)
        if metadata(live).get("deletionTimestamp"):
            return Change(key, Action.REPLACE, message="is being deleted, then made anew")
        body = owned(without_controlled(obj, live), self.owner)
        body["metadata"]["uid"] = metadata(live)["uid"]
        try:
            result = await self._result(body)
        except InvalidError as error:
            return await self._replaced(obj, live, situation, error)
        fields = field_changes(live, result)
        return Change(key, Action.CHANGE if fields else Action.UNCHANGED, fields)

    async def _result(self, body: KubeObject) -> KubeObject:
        """What would be there after applying; the server sets defaults again that were left out.

        Raises ConflictError of an object that changes all the time.
        """
        for _ in range(WRITE_TRIES):
            applied = await self.kube.apply(body, field_manager=names.FIELD_MANAGER, dry_run=True)
            cleaned: KubeObject = without_leftovers(applied)
            if cleaned == applied:
                return cleaned
            try:
                found: KubeObject = await self.kube.update(
                    cleaned, field_manager=names.FIELD_MANAGER, dry_run=True
                )
            except ConflictError as error:
                conflict = error
            else:
                return found
        raise conflict

    async def _replaced(
        self, obj: KubeObject, live: KubeObject, situation: Situation, refused: InvalidError
    ) -> Change:
        """An object that cannot be changed is made anew where nothing is lost by it."""
        key = key_of(obj)
        if is_denial(refused.message) or not await self._is_valid_anew(obj):
            raise refused
        ours = situation in (Situation.OURS, Situation.OURS_OLDER)
        others = written_by_others(live, names.FIELD_MANAGER)
        if ours and is_replaceable(obj) and not others:
            return Change(key, Action.REPLACE, message="cannot be changed, so it is made anew")
        error = immutable(obj, refused.message, others)
        return Change(key, Action.REFUSED, message=error.message, hint=error.hint)

    async def _is_valid_anew(self, obj: KubeObject) -> bool:
        try:
            await self._create(obj)
        except AlreadyExistsError:
            return True
        except ApiError:
            return False
        return True


async def with_accepted_spec(
    kube: KubeClient, live: KubeObject, spec: Mapping[str, Any]
) -> KubeObject:
    """An object with another spec as the server would take it, whatever became of its status.

    Raises TerminalError where it would not.
    """
    patch = {"spec": merge_patch(live["spec"], spec)}
    try:
        path = await kube.object_path(live)
        found: KubeObject = await kube.request(
            "PATCH", path, body=patch, params=DRY_RUN, content_type=MERGE_PATCH
        )
    except ApiError as error:
        raise TerminalError(error.message) from error
    return found


def namespaces_in(objects: Iterable[KubeObject]) -> frozenset[str]:
    """The namespaces that are among objects."""
    return frozenset(metadata(obj)["name"] for obj in objects if obj.get("kind") == "Namespace")


async def users_write(
    kube: KubeClient, obj: KubeObject, planned_namespaces: frozenset[str]
) -> Change:
    """What a user's own apply of an object would do."""
    key = key_of(obj)
    try:
        live = await kube.find(key.gvk, key.name, key.namespace)
        if live is None and key.namespace in planned_namespaces:
            return Change(key, Action.CREATE)
        result = await apply(kube, obj, dry_run=True)
    except NotFoundError as error:
        return Change(key, Action.REFUSED, message=error.message)
    except ApiError as error:
        unknown = isinstance(error, ForbiddenError) or NO_DRY_RUN in error.message
        action = Action.UNKNOWN if unknown else Action.REFUSED
        return Change(key, action, message=error.message)
    if live is None:
        return Change(key, Action.CREATE)
    fields = field_changes(live, result)
    return Change(key, Action.CHANGE if fields else Action.UNCHANGED, fields)
