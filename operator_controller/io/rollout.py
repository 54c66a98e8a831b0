"""Applies the phases of one revision and remembers what it left behind.

The memory is only a saving: without it every object is applied again, which changes nothing in
the cluster. With it, and while the watches are quiet, a look at a revision needs no request. A
program that starts gets it back by comparing the objects with a record of how they were left.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from api.objects import KubeObject, ObjectKey, gvk_of, key_of, metadata, namespace_of
from olm_rollout.contention import DELETED, Contention, after, told
from olm_rollout.io.objects import Applied, Newer, ObjectWriter, Result
from olm_rollout.io.pods import why_not_running
from olm_rollout.io.together import together
from olm_rollout.io.watches import ManagedWatches, OwnerKey, Scope
from olm_rollout.owned import Fingerprint, Sighting, fingerprint, record
from olm_rollout.ownership import Owner, Policy, Situation, situation_of
from olm_rollout.phases import Phase
from olm_rollout.probes.probes import HEALTHY, Finding, Health, Probe, Probes, describe
from olm_rollout.webhooks import is_configuration
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.revisions import Age
from operator_controller.status.object_set import Rollout

PARALLEL_WRITES = 8
SETTLE_SECONDS = 5.0
GATE_SECONDS = 5.0
"""How long a reconcile itself waits for a phase before it comes back later."""
GATE_POLL_SECONDS = 0.025
"""An object that has not changed for so long has come to rest."""
GATE_SILENCE_SECONDS = 1.0
"""After this long without news of an object it is asked for all the same."""
PROMPT_KINDS = frozenset({("apiextensions.k8s.io", "CustomResourceDefinition"), ("", "Namespace")})
"""Kinds that the API server itself makes ready, in moments; it is not worth coming back for."""
NEW = Finding(Health.UNKNOWN, "was made just now")


@dataclass(slots=True)
class Memory:
    """What was applied for one revision, by key; `uid` is the revision's.

    `waited`: objects that a reconcile stood waiting for once; it does so no second time, because
    it keeps a worker from others. `looked`: the versions of objects when they were probed last, and
    `well` when they were healthy; those are not asked for again while they have this version.
    `complete`: whether everything was applied at the last look. `resting`: since when a revision
    that is to be replaced is left alone. `succeeded`: it rolled out once, so that what is missing
    was deleted, perhaps together with its owner. `removed`: what is known to be gone of a revision
    that is taken down since `removing`; `doomed` are the names of all that it has. Moments are
    those of the monotonic clock, which `age` goes on by.
    `owner_takes_all`: the owner is gone, or deleted with its objects: there is no way back;
    `retired` is the revision as it was when that became known, until there is something to tell.
    `contended`: objects that somebody took over since they were applied.
    `refused_since`: when, by the loop's clock, a webhook that nobody answers refused it first.
    """

    uid: str
    applied: dict[ObjectKey, Fingerprint] = field(default_factory=dict)
    contended: dict[ObjectKey, Contention] = field(default_factory=dict)
    waited: set[ObjectKey] = field(default_factory=set)
    looked: dict[ObjectKey, str] = field(default_factory=dict)
    well: dict[ObjectKey, str] = field(default_factory=dict)
    complete: bool = False
    succeeded: bool = False
    resting: float | None = None
    removed: set[ObjectKey] = field(default_factory=set)
    removing: float | None = None
    age: Age | None = None
    doomed: tuple[Phase, ...] = ()
    owner_takes_all: bool = False
    retired: KubeObject | None = None
    refused_since: float | None = None

    def rest(self, seconds: float, now: float) -> float:
        """How long the revision is still to be left alone, so many seconds each time; then 0."""
        if self.resting is None:
            self.resting = now
        left = seconds - (now - self.resting)
        if left <= 0:
            self.resting = now
        return max(0.0, left)

    def forget(self, keys: Iterable[ObjectKey]) -> None:
        """To be applied again, because they are to be other than they were."""
        for key in keys:
            self.applied.pop(key, None)

    def rests(self, key: ObjectKey, now: float) -> float:
        """Seconds for which an object is left to somebody who keeps taking it over."""
        contention = self.contended.get(key)
        return contention.rests(now) if contention is not None else 0.0

    def note_takeover(self, key: ObjectKey, done: Applied, now: float) -> None:
        """Notes that an object that we had applied before was restored."""
        taken = frozenset({DELETED}) if done.result is Result.CREATED else done.taken
        if taken:
            self.contended[key] = after(self.contended.get(key), taken, now)


class RevisionRollout:
    """Rolls one revision out as one identity."""

    def __init__(
        self,
        client: KubeClient,
        owner: Owner,
        *,
        newer: Newer,
        watches: ManagedWatches,
        memory: Memory,
        probes: Probes,
    ) -> None:
        self._client = client
        self._owner = owner
        self._key: OwnerKey = (owner.kind, owner.name)
        self._writer = ObjectWriter(client, owner)
        self._newer = newer
        self._watches = watches
        self._memory = memory
        self._probes = probes
        self._slots = asyncio.Semaphore(PARALLEL_WRITES)
        self._created: set[ObjectKey] = set()

    async def run(self, phases: Sequence[Phase]) -> Rollout:
        """Applies phase after phase, as far as they get healthy.

        Raises TransientError with one line for each object that could not be applied.
        """
        if not self._owner.newer:
            self._watches.keep_only(self._key, _scopes(o for p in phases for o in p.objects))
        self._memory.complete = False
        unhealthy: list[str] = []
        for phase in phases:
            waiting = await self._run_phase(phase, unhealthy)
            if waiting:
                contended = self._contended()
                return Rollout(
                    waiting=tuple(waiting), unhealthy=tuple(unhealthy), contended=contended
                )
        self._memory.complete = True
        return Rollout(
            complete=True,
            unhealthy=tuple(unhealthy),
            degraded=tuple(self._watches.problems(self._key)),
            contended=self._contended(),
            contended_seconds=self._contended_seconds(),
        )

    def _contended(self) -> tuple[str, ...]:
        """What to tell of objects that others keep taking over; forgets what is over."""
        now, known = time.monotonic(), self._memory.contended
        self._memory.contended = known = {k: c for k, c in known.items() if c.lasts(now)}
        return tuple(told(key, c) for key, c in sorted(known.items()) if c.is_told)

    def _contended_seconds(self) -> float | None:
        """Until one of them is to be looked at again."""
        now, found = time.monotonic(), self._memory.contended.values()
        return min((c.rests(now) or c.lasts(now) for c in found if c.is_told), default=None)

    async def recall(self, phases: Sequence[Phase], known: str) -> None:
        """Fills an empty memory if all objects are as they were left, by a record of that."""
        if self._memory.applied or not known:
            return
        objects = [obj for phase in phases for obj in phase.objects]
        await self._look(objects)
        left: dict[ObjectKey, Fingerprint] = {}
        for obj in objects:
            seen = self._sighting(obj)
            if seen is None or situation_of(seen.live, self._owner) is not Situation.OURS:
                return
            left[key_of(obj)] = seen.fingerprint
        if record(self._owner, left) == known:
            self._memory.applied = left

    def record(self) -> str:
        """How the objects were left."""
        return record(self._owner, self._memory.applied)

    async def _look(self, objects: Iterable[KubeObject]) -> None:
        self._watches.ensure(
            self._key, self._client, _scopes(objects), every_change_of=self._probes.ask
        )
        await self._watches.settle(self._key, SETTLE_SECONDS)

    async def _run_phase(self, phase: Phase, unhealthy: list[str]) -> list[str]:
        probes = self._probes
        await self._look(phase.objects)
        await self._apply_all(phase)
        waiting = await self._wait_for([o for o in phase.objects if probes.hold_up(gvk_of(o))])
        told = {key_of(obj) for obj, _ in waiting}
        others = [o for o in phase.objects if key_of(o) not in told and probes.only_told(gvk_of(o))]
        new = [obj for obj in others if key_of(obj) in self._created]
        failing = await self._probe_all([o for o in others if o not in new], probes.health)
        failing += [(obj, NEW) for obj in new]  # their watch will tell how they come along
        unhealthy += [describe(obj, found) for obj, found in failing]
        return [describe(obj, found) for obj, found in waiting]

    async def _apply_all(self, phase: Phase) -> None:
        await together(
            self._apply(obj, phase.policy_of(i))
            for i, obj in enumerate(phase.objects)
            # One that is to be replaced leaves them as they are: they may refuse what replaces it.
            if not (self._owner.newer and is_configuration(obj))
        )

    async def _apply(self, obj: KubeObject, policy: Policy) -> None:
        key, seen = key_of(obj), self._sighting(obj)
        left = self._memory.applied.get(key)
        if left is not None and seen is not None and seen.fingerprint == left:
            return
        if left is not None and self._memory.rests(key, time.monotonic()):
            return
        async with self._slots:
            live = seen.live if seen is not None else None
            if left is not None:  # or the watch has not told yet what we wrote ourselves
                live = await self._writer.look(obj)
                if live is not None and fingerprint(live) == left:
                    return
            if live is None and self._memory.succeeded:
                await self._newer()
            done = await self._writer.apply(obj, live, policy, self._newer)
        self._memory.applied[key] = done.seen
        if left is not None:
            self._memory.note_takeover(key, done, time.monotonic())
        if done.result is Result.CREATED:
            self._created.add(key)

    async def _wait_for(self, objects: Sequence[KubeObject]) -> list[tuple[KubeObject, Finding]]:
        """What of the objects is not healthy, given a moment where a moment may do."""
        now = asyncio.get_running_loop().time
        deadline = now() + GATE_SECONDS
        seen: dict[ObjectKey, Sighting | None] = {key_of(obj): None for obj in objects}
        failing = {key_of(obj): NEW for obj in objects if self._is_new(obj)}
        asked: Sequence[KubeObject] = [o for o in objects if key_of(o) not in failing]
        while True:
            seen |= {key_of(obj): self._sighting(obj) for obj in asked}
            found = await self._probe_all(asked, self._probes.obstacle)
            for obj in asked:
                failing.pop(key_of(obj), None)
            failing |= {key_of(obj): finding for obj, finding in found}
            waiting = [obj for obj in objects if key_of(obj) in failing]
            if now() > deadline or not any(map(self._worth_waiting, waiting)):
                self._memory.waited.update(failing)
                return [(obj, failing[key_of(obj)]) for obj in waiting]
            until = min(deadline, now() + GATE_SILENCE_SECONDS)
            asked = await self._with_news(waiting, seen, until=until)

    async def _with_news(
        self, objects: Sequence[KubeObject], seen: Mapping[ObjectKey, object], *, until: float
    ) -> Sequence[KubeObject]:
        """Those that the watch saw change and come to rest; all if there are none until then.

        Definitions are large, and asking for them all again and again keeps the server from
        making them ready.
        """
        now = asyncio.get_running_loop().time
        before: dict[ObjectKey, Sighting | None] = {}
        while now() < until:
            current = {key_of(obj): self._sighting(obj) for obj in objects}
            resting = {key for key, sighting in current.items() if sighting is before.get(key)}
            news = [k for k in resting if current[k] is not seen[k]]
            if news:
                return [obj for obj in objects if key_of(obj) in news]
            before = current
            await asyncio.sleep(GATE_POLL_SECONDS)
        return objects

    def _sighting(self, obj: KubeObject) -> Sighting | None:
        return self._watches.sighting(self._key, key_of(obj))

    def _worth_waiting(self, obj: KubeObject) -> bool:
        return _is_prompt(obj) and key_of(obj) not in self._memory.waited

    def _is_new(self, obj: KubeObject) -> bool:
        """Whether the server can hardly have made it ready, and will tell when it did."""
        return _is_prompt(obj) and key_of(obj) in self._created

    async def _probe_all(
        self, objects: Sequence[KubeObject], probe: Probe
    ) -> list[tuple[KubeObject, Finding]]:
        found = await together(self._ask(obj, probe) for obj in objects)
        return [
            (obj, finding)
            for obj, finding in zip(objects, found, strict=True)
            if finding.health is not Health.HEALTHY
        ]

    async def _ask(self, obj: KubeObject, probe: Probe) -> Finding:
        key, seen = key_of(obj), self._sighting(obj)
        if seen is not None and self._memory.well.get(key) == version_of(seen.live):
            return HEALTHY
        async with self._slots:
            live = await self._client.find(key.gvk, key.name, key.namespace)
            if live is None:
                return Finding(Health.UNHEALTHY, "is missing")
            self._memory.looked[key] = version_of(live)
            if self._probes.health(live).health is Health.HEALTHY:
                self._memory.well[key] = version_of(live)
            found = probe(live)
            if found.health is Health.UNHEALTHY and not found.asked:
                found = found.because(await why_not_running(self._client, live))
            return found


def version_of(live: KubeObject) -> str:
    """The resource version of a live object."""
    return str(metadata(live).get("resourceVersion") or "")


def _is_prompt(obj: KubeObject) -> bool:
    gvk = gvk_of(obj)
    return (gvk.group, gvk.kind) in PROMPT_KINDS


def _scopes(objects: Iterable[KubeObject]) -> set[Scope]:
    return {(gvk_of(obj), namespace_of(obj)) for obj in objects}
