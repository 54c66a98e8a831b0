"""Takes a revision down: deletes its objects, phase after phase, and says what holds them.

An object that another revision or somebody else has is left alone. When the owner of the objects
goes as well, what cannot be removed here is left to the garbage collector, which removes it as
soon as the owner is gone: nobody waits for an account that lost its rights.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from api.objects import GVK, KubeObject, annotations_of, key_of
from api.olm.v1 import names
from olm_rollout.io.objects import ObjectWriter
from olm_rollout.io.together import outcomes, raise_together
from olm_rollout.io.watches import ManagedWatches, OwnerKey
from olm_rollout.ownership import Owner
from olm_rollout.phases import Identity, Phase, identity, is_definition, removal_order
from olm_rollout.remains import instances_kind, obstacle, was_given_up
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError, InvalidError
from operator_controller.io.rollout import PARALLEL_WRITES, Memory

SERVICE_UNAVAILABLE = 503
TRY_AGAIN_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Remains:
    """What is still there: objects on their way, and what is left to the garbage collector."""

    held: tuple[KubeObject, ...] = ()
    left: tuple[str, ...] = ()


class RevisionTeardown:
    """Takes one revision down as one identity.

    `in_order`: nothing of a phase is deleted while something is there of those that go before it.
    A definition is waited for in any case if its operator goes with the owner, because nobody else
    can finish with its objects.
    """

    def __init__(
        self,
        client: KubeClient,
        owner: Owner,
        *,
        watches: ManagedWatches,
        memory: Memory,
        in_order: bool,
    ) -> None:
        self._client = client
        self._key: OwnerKey = (owner.kind, owner.name)
        self._writer = ObjectWriter(client, owner)
        self._watches = watches
        self._memory = memory
        self._takes_all = memory.owner_takes_all
        self._in_order = in_order
        self._slots = asyncio.Semaphore(PARALLEL_WRITES)

    async def run(self, phases: Sequence[Phase], kept: frozenset[Identity]) -> Remains:
        """Deletes what can be deleted now.

        `kept` are objects of revisions in service: they stay, also if they were not taken over
        yet. Raises TransientError with a line for each object that could not be deleted.
        """
        held: list[KubeObject] = []
        left: list[str] = []
        failed: list[OLMError] = []
        for phase in removal_order(phases):
            doomed = [obj for obj in phase.objects if identity(obj) not in kept]
            for result in await outcomes(self._remove(obj) for obj in doomed):
                if isinstance(result, ForbiddenError | InvalidError) and self._takes_all:
                    left.append(result.message)
                elif isinstance(result, OLMError):
                    failed.append(result)
                elif result is not None:
                    held.append(result)
            if self._in_order and (held or failed):
                break
            if self._takes_all and any(map(is_definition, held)):
                break
        raise_together(failed)
        return Remains(tuple(held), tuple(sorted(left)))

    async def _remove(self, obj: KubeObject) -> KubeObject | None:
        key = key_of(obj)
        if key in self._memory.removed:
            return None
        seen = self._watches.sighting(self._key, key)
        known = seen.live if seen is not None else None
        try:
            async with self._slots:
                held = await self._writer.remove(obj, known, any_revision=self._takes_all)
        except ApiError as error:
            if error.status == SERVICE_UNAVAILABLE and key.gvk.group:
                name = f"{key.gvk.version}.{key.gvk.group}"
                error.hint = f"its API does not answer, see: kubectl get apiservice {name}"
            raise
        if held is None:
            self._memory.removed.add(key)
        return held

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
        """Changes an annotation, no oftener than every few seconds: the change rings us as well."""
        turn = str(int(now.timestamp()) // TRY_AGAIN_SECONDS)
        if annotations_of(live).get(names.ANNOTATION_TRY_AGAIN) != turn:
            note = {"annotations": {names.ANNOTATION_TRY_AGAIN: turn}}
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
