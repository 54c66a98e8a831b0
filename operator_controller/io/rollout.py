"""Applies the phases of one revision and remembers what it left behind.

The memory is only a saving: without it every object is applied again, which changes nothing in
the cluster. With it, and while the watches are quiet, a look at a revision needs no request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from olm_shared.errors import OLMError, TransientError, WaitingError
from olm_shared.kube_object import GVK, KubeObject, ObjectKey, gvk_of, key_of, namespace_of
from olm_shared.runtime.kube import KubeClient
from operator_controller.apply.owned import Fingerprint, Sighting
from operator_controller.apply.ownership import Owner, Policy
from operator_controller.apply.phases import Identity, Phase, identity
from operator_controller.io.objects import ObjectWriter
from operator_controller.io.watches import ManagedWatches, OwnerKey, Scope
from operator_controller.observe.probes import Finding, Health, describe, has_probe, probe
from operator_controller.status.object_set import Rollout

PARALLEL_WRITES = 8
SETTLE_SECONDS = 5.0
GATE_SECONDS = 5.0
"""How long a reconcile itself waits for a phase before it comes back later."""
GATE_POLL_SECONDS = 0.05
GATE_SILENCE_SECONDS = 1.0
"""After this long without news of an object it is asked for all the same."""
PROMPT_KINDS = frozenset({("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "Namespace")})
"""Kinds that the API server itself makes ready, in moments; it is not worth coming back for."""

T = TypeVar("T")
Gate = Callable[[GVK], bool]
"""Whether the next phase waits until objects of a kind are healthy."""


@dataclass(slots=True)
class Memory:
    """What was applied for one revision, by key; `uid` is the revision's.

    `waited`: objects that a reconcile stood waiting for once; it does so no second time, because
    it keeps a worker from others. `looked`: when the revision was last looked after.
    """

    uid: str
    applied: dict[ObjectKey, Fingerprint] = field(default_factory=dict)
    waited: set[ObjectKey] = field(default_factory=set)
    looked: datetime | None = None

    def forget(self, keys: Iterable[ObjectKey]) -> None:
        """To be applied again, because they are to be other than they were."""
        for key in keys:
            self.applied.pop(key, None)


class RevisionRollout:
    """Rolls one revision out as one identity."""

    def __init__(
        self,
        client: KubeClient,
        owner: Owner,
        *,
        watches: ManagedWatches,
        memory: Memory,
        gate: Gate,
    ) -> None:
        self._client = client
        self._owner = owner
        self._key: OwnerKey = (owner.kind, owner.name)
        self._writer = ObjectWriter(client, owner)
        self._watches = watches
        self._memory = memory
        self._gate = gate
        self._slots = asyncio.Semaphore(PARALLEL_WRITES)

    async def run(self, phases: Sequence[Phase]) -> Rollout:
        """Applies phase after phase, as far as they get healthy.

        Raises TransientError with one line for each object that could not be applied.
        """
        if not self._owner.newer:
            self._watches.keep_only(self._key, _scopes(o for p in phases for o in p.objects))
        unhealthy: list[str] = []
        for phase in phases:
            waiting = await self._run_phase(phase, unhealthy)
            if waiting:
                return Rollout(waiting=tuple(waiting), unhealthy=tuple(unhealthy))
        degraded = tuple(self._watches.problems(self._key))
        return Rollout(complete=True, unhealthy=tuple(unhealthy), degraded=degraded)

    async def _run_phase(self, phase: Phase, unhealthy: list[str]) -> list[str]:
        self._watches.ensure(self._key, self._client, _scopes(phase.objects))
        await self._watches.settle(self._key, SETTLE_SECONDS)
        await self._apply_all(phase)
        probed = [obj for obj in phase.objects if has_probe(gvk_of(obj).group, gvk_of(obj).kind)]
        gating = [obj for obj in probed if self._gate(gvk_of(obj))]
        waiting = await self._wait_for(gating)
        others = await self._probe_all(obj for obj in probed if not self._gate(gvk_of(obj)))
        unhealthy += [describe(obj, found) for obj, found in others]
        return [describe(obj, found) for obj, found in waiting]

    async def _apply_all(self, phase: Phase) -> None:
        await self._together(
            self._apply(obj, phase.policy_of(i)) for i, obj in enumerate(phase.objects)
        )

    async def _apply(self, obj: KubeObject, policy: Policy) -> None:
        key = key_of(obj)
        seen = self._sighting(obj)
        if seen is not None and self._memory.applied.get(key) == seen.fingerprint:
            return
        async with self._slots:
            done = await self._writer.apply(obj, seen.live if seen is not None else None, policy)
        self._memory.applied[key] = done.seen

    async def _wait_for(self, objects: Sequence[KubeObject]) -> list[tuple[KubeObject, Finding]]:
        """What of the objects is not healthy, given a moment where a moment may do."""
        now = asyncio.get_running_loop().time
        deadline = now() + GATE_SECONDS
        while True:
            seen = {key_of(obj): self._sighting(obj) for obj in objects}
            failing = await self._probe_all(objects)
            if now() > deadline or not any(self._worth_waiting(obj) for obj, _ in failing):
                self._memory.waited.update(key_of(obj) for obj, _ in failing)
                return failing
            objects = [obj for obj, _ in failing]
            await self._news(objects, seen, until=min(deadline, now() + GATE_SILENCE_SECONDS))

    async def _news(
        self, objects: Sequence[KubeObject], seen: Mapping[ObjectKey, object], *, until: float
    ) -> None:
        """Waits for the watch to see something of one of the objects, at most until then.

        Definitions are large, and asking for them all again and again keeps the server from
        making them ready.
        """
        now = asyncio.get_running_loop().time
        while now() < until:
            await asyncio.sleep(GATE_POLL_SECONDS)
            if any(self._sighting(obj) is not seen[key_of(obj)] for obj in objects):
                return

    def _sighting(self, obj: KubeObject) -> Sighting | None:
        key = key_of(obj)
        view = self._watches.view(self._key, (key.gvk, key.namespace))
        return view.get(key) if view is not None else None

    def _worth_waiting(self, obj: KubeObject) -> bool:
        gvk = gvk_of(obj)
        return (gvk.group, gvk.kind) in PROMPT_KINDS and key_of(obj) not in self._memory.waited

    async def _probe_all(self, objects: Iterable[KubeObject]) -> list[tuple[KubeObject, Finding]]:
        asked = list(objects)
        found = await self._together(self._probe(obj) for obj in asked)
        return [
            (obj, finding)
            for obj, finding in zip(asked, found, strict=True)
            if finding.health is not Health.HEALTHY
        ]

    async def _probe(self, obj: KubeObject) -> Finding:
        key = key_of(obj)
        async with self._slots:
            live = await self._client.find(key.gvk, key.name, key.namespace)
        return probe(live) if live is not None else Finding(Health.UNHEALTHY, "is missing")

    async def tear_down(self, phases: Sequence[Phase], kept: frozenset[Identity]) -> bool:
        """Removes what only this revision has, last phase first; whether all of it is gone.

        `kept` are objects of revisions in service: they stay, also if they were not taken over
        yet. Raises TransientError with one line for each object that could not be removed.
        """
        for phase in reversed(phases):
            doomed = [obj for obj in phase.objects if identity(obj) not in kept]
            if not all(await self._together(self._remove(obj) for obj in doomed)):
                return False
        return True

    async def _remove(self, obj: KubeObject) -> bool:
        async with self._slots:
            return await self._writer.remove(obj)

    async def _together(self, work: Iterable[Awaitable[T]]) -> list[T]:
        """Lets all of it end, then raises what failed: nothing goes on behind our back."""
        results = await asyncio.gather(*work, return_exceptions=True)
        failures = [r for r in results if isinstance(r, BaseException)]
        unexpected = [f for f in failures if not isinstance(f, OLMError)]
        if unexpected:
            raise unexpected[0]
        raise_together([f for f in failures if isinstance(f, OLMError)])
        return [r for r in results if not isinstance(r, BaseException)]


def _scopes(objects: Iterable[KubeObject]) -> set[Scope]:
    return {(gvk_of(obj), namespace_of(obj)) for obj in objects}


def raise_together(failures: Sequence[OLMError]) -> None:
    """Raises the errors of a phase as one, sorted, so that conditions do not flap."""
    if not failures:
        return
    if len(failures) == 1:
        raise failures[0]
    waits = [f for f in failures if isinstance(f, WaitingError)]
    lines = "\n".join(sorted(f.describe() for f in failures))
    if len(waits) == len(failures):
        raise WaitingError(lines, seconds=min(w.seconds for w in waits))
    raise TransientError(lines)
