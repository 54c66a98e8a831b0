"""Takes a revision down: deletes its objects, phase after phase, and says what holds them.

An object that another revision or somebody else has is left alone. When the owner of the objects
is deleted as well, what cannot be removed here is left to the garbage collector, which removes it
once the owner is gone: no deletion waits for an account that lost its rights.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api.objects import GVK, KubeObject, ObjectKey, annotations_of, key_of, metadata
from olm_rollout.io.objects import TRIES, find_metadata, naming
from olm_rollout.io.together import outcomes, raise_together
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from olm_rollout.ownership import Owner
from olm_rollout.phases import (
    Identity,
    Phase,
    identity,
    is_definition,
    names_only,
    removal_order,
)
from olm_rollout.remains import instances_kind, obstacle, was_given_up
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError, ForbiddenError, InvalidError

PARALLEL_REQUESTS = 8
SERVICE_UNAVAILABLE = 503
TRY_AGAIN_SECONDS = 5


@dataclass(slots=True)
class Removal:
    """What is known of a revision that is taken down; written by its methods and `Teardown` only.

    `since`: monotonic seconds of the first attempt. `phases`: the names of all its objects, None
    while they are not known. `gone`: those that are not there any more.
    """

    since: float | None = None
    phases: tuple[Phase, ...] | None = None
    gone: set[ObjectKey] = field(default_factory=set)

    def seconds(self, now: float) -> float:
        """Since the first attempt, which this is if there was none."""
        if self.since is None:
            self.since = now
        return now - self.since

    def begin(self, phases: Iterable[Phase]) -> None:
        """Notes what the revision has."""
        self.phases = names_only(phases)

    def note_gone(self, keys: Iterable[ObjectKey]) -> None:
        """Notes objects whose deletion a watch saw."""
        self.gone.update(keys)


@dataclass(frozen=True, slots=True)
class Remains:
    """What is still there: objects being deleted, and what is left to the garbage collector."""

    held: tuple[KubeObject, ...] = ()
    left: tuple[str, ...] = ()


class Teardown:
    """Takes one revision down as one identity.

    `in_order`: nothing of a phase is deleted while something is there of those that go before it.
    `with_owner`: the owner is deleted as well, with all that it owns. A definition is waited for
    then in any case, because nobody else can finish with its objects once its operator is gone.
    """

    def __init__(
        self,
        client: KubeClient,
        owner: Owner,
        *,
        watches: ManagedWatches,
        removal: Removal,
        in_order: bool,
        with_owner: bool,
    ) -> None:
        self._client = client
        self._key: OwnerKey = (owner.kind, owner.name)
        self._owner = owner
        self._watches = watches
        self._removal = removal
        self._in_order = in_order
        self._with_owner = with_owner
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)

    async def run(self, spared: frozenset[Identity]) -> Remains:
        """Deletes what can be deleted now.

        `spared` are objects of revisions in service: they stay, also if they were not taken over
        yet. Raises TransientError with a line for each object that could not be deleted.
        """
        held: list[KubeObject] = []
        left: list[str] = []
        failed: list[OLMError] = []
        for phase in removal_order(self._removal.phases or ()):
            doomed = [obj for obj in phase.objects if identity(obj) not in spared]
            for result in await outcomes(self._remove(obj) for obj in doomed):
                if isinstance(result, ForbiddenError | InvalidError) and self._with_owner:
                    left.append(result.message)
                elif isinstance(result, OLMError):
                    failed.append(result)
                elif result is not None:
                    held.append(result)
            if self._in_order and (held or failed):
                break
            if self._with_owner and any(map(is_definition, held)):
                break
        raise_together(failed)
        return Remains(tuple(held), tuple(sorted(left)))

    async def _remove(self, obj: KubeObject) -> KubeObject | None:
        key = key_of(obj)
        if key in self._removal.gone:
            return None
        try:
            async with self._slots:
                with naming(obj):
                    held = await self._delete(obj)
        except ApiError as error:
            if error.status == SERVICE_UNAVAILABLE and key.gvk.group:
                name = f"{key.gvk.version}.{key.gvk.group}"
                error.hint = f"its API does not answer, see: kubectl get apiservice {name}"
            raise
        if held is None:
            self._removal.gone.add(key)
        return held

    async def _delete(self, obj: KubeObject) -> KubeObject | None:
        """Deletes an object that is still the owner's; its metadata while something holds it."""
        seen = self._watches.sighting(self._key, key_of(obj))
        live = seen.live if seen is not None else await find_metadata(self._client, obj)
        for tries_left in reversed(range(TRIES)):
            if live is None or not self._may_delete(live):
                return None
            meta = metadata(live)
            if meta.get("deletionTimestamp"):
                return live
            try:
                return await self._client.delete(
                    obj, uid=meta["uid"], resource_version=meta["resourceVersion"]
                )
            except ConflictError:
                if not tries_left:
                    raise
                live = await find_metadata(self._client, obj)
        return None

    def _may_delete(self, live: KubeObject) -> bool:
        """Whether an object is this revision's, or of one that ended, or goes with its owner."""
        owner = self._owner
        if not owner.controls(live):
            return False
        last = owner.applier.revision_of(live)
        return self._with_owner or last == owner.revision or last in owner.ended

    async def obstacles(self, held: Sequence[KubeObject], now: datetime) -> tuple[str, ...]:
        """What holds objects that are being deleted, a text for each, sorted.

        Has the API server try again with definitions that it gave up.
        """
        found = await asyncio.gather(*(self._obstacle(obj, now) for obj in held))
        return tuple(sorted(text for text in found if text))

    async def _obstacle(self, obj: KubeObject, now: datetime) -> str:
        key = key_of(obj)
        try:
            live = await self._client.find(key.gvk, key.name, key.namespace)
            if live is None:
                return ""
            if was_given_up(live):
                await self._have_tried_again(live, now)
            return obstacle(live, await self._instances(instances_kind(live)))
        except OLMError as error:
            return error.describe()

    async def _have_tried_again(self, live: KubeObject, now: datetime) -> None:
        """Changes an annotation, every few seconds at most: we get an event of the change too."""
        turn = str(int(now.timestamp()) // TRY_AGAIN_SECONDS)
        if annotations_of(live).get(self._owner.applier.retry_annotation) != turn:
            note = {"annotations": {self._owner.applier.retry_annotation: turn}}
            await self._client.patch(live, {"metadata": note}, metadata_only=True)

    async def _instances(self, kind: GVK | None) -> list[KubeObject]:
        """The objects of a definition that is being deleted, as far as we may see them."""
        if kind is None:
            return []
        try:
            found, _ = await self._client.list_all(kind, metadata_only=True)
        except OLMError:
            return []
        return found
