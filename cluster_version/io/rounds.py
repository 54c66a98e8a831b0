"""One pass over the manifests of a release. Source of the rules: upstream's notes, section 9."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from api.objects import KubeObject, gvk_of, name_of, namespace_of
from cluster_version.apply.kinds import CLUSTER_OPERATOR
from cluster_version.apply.requests import is_deletion
from cluster_version.io.applying import FIELD_MANAGER, Applier
from cluster_version.io.task_runner import run
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import Group, State, task_graph
from olm_runtime.errors import OLMError, TransientError
from olm_runtime.kube.errors import ApiError

Check = Callable[[Manifest, KubeObject | None], Awaitable[None]]
"""Raises OLMError while what is on the cluster for a manifest is not well yet."""


@dataclass(frozen=True, slots=True)
class Tries:
    """How often a manifest is tried, and the seconds between: each pause is longer by a factor."""

    count: int
    first: float
    factor: float
    longest: float = 15.0

    def pauses(self) -> list[float]:
        """The seconds before each further try."""
        return [min(self.longest, self.first * self.factor**n) for n in range(self.count - 1)]


TRIES = {
    State.INITIALIZING: Tries(4, 1.0, 2.0),
    State.UPDATING: Tries(3, 10.0, 1.3),
    State.RECONCILING: Tries(3, 10.0, 1.3),
}


class TaskError(TransientError):
    """A manifest that could not be applied: the one at this place of so many, and why.

    position  counted from 1, as messages have it
    """

    def __init__(self, manifest: Manifest, position: int, total: int, cause: OLMError) -> None:
        super().__init__(f"{described(manifest, position, total)}: {cause.message}")
        self.manifest = manifest
        self.position = position
        self.total = total
        self.cause = cause


def described(manifest: Manifest, position: int, total: int) -> str:
    """A manifest as messages name it."""
    obj = manifest.object
    place = "/".join(part for part in (namespace_of(obj), name_of(obj)) if part)
    return f'Could not update {gvk_of(obj).kind.lower()} "{place}" ({position} of {total})'


@dataclass(slots=True)
class Round:
    """Applies the manifests of a release once, in the order of its files.

    check     what a manifest waits for once it is applied
    done      how many manifests are applied and well
    written   how many objects were changed, made or deleted
    """

    manifests: Sequence[Manifest]
    state: State
    applier: Applier
    check: Check
    tries: Tries
    done: int = field(default=0, init=False)
    written: int = field(default=0, init=False)

    async def run(self) -> list[OLMError]:
        """Applies what can be; the errors of the rest, a TaskError for each manifest."""
        graph = task_graph([manifest.file for manifest in self.manifests], self.state)
        return await run(graph, self._apply_group)

    async def _apply_group(self, group: Group) -> None:
        for position in group.tasks:
            await self._announce(self.manifests[position])
        for position in group.tasks:
            await self._apply(position)
            self.done += 1

    async def _apply(self, position: int) -> None:
        manifest = self.manifests[position]
        try:
            for pause in self.tries.pauses():
                try:
                    return await self._try(manifest)
                except ApiError:
                    await asyncio.sleep(pause)
            await self._try(manifest)
        except OLMError as error:
            total = len(self.manifests)
            raise TaskError(manifest, position + 1, total, error) from error

    async def _try(self, manifest: Manifest) -> None:
        applied = await self.applier.apply(manifest.object, self.state)
        self.written += applied.verb is not None
        await self.check(manifest, applied.live)

    async def _announce(self, manifest: Manifest) -> None:
        """Makes a ClusterOperator before its operator does, so that all are seen from the start.

        What hinders it is told when the turn of the manifest comes.
        """
        obj = manifest.object
        if gvk_of(obj) != CLUSTER_OPERATOR or is_deletion(obj):
            return
        client = self.applier.client
        related = (obj.get("status") or {}).get("relatedObjects")
        bare = {"spec": {}} | {key: value for key, value in obj.items() if key != "status"}
        try:
            if await client.find(CLUSTER_OPERATOR, name_of(obj), metadata_only=True) is None:
                made = await client.create(bare, field_manager=FIELD_MANAGER)
                status = {"relatedObjects": related} if related else {}
                await client.patch(made, {"status": status}, subresource="status")
        except ApiError:
            return
