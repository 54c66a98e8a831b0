"""Applies the phases of one revision.

What it remembers is only a saving: without it every object is applied again, which changes nothing
in the cluster. With it, and while the watches are quiet, a reconcile of a revision needs no
request. A program that starts restores it by comparing the objects with a record of how they were
left.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from api.objects import KubeObject, ObjectKey, gvk_of, key_of
from olm_rollout.adoption import Policy, Situation, situation_of
from olm_rollout.contention import DELETED, Contention, after, message_of
from olm_rollout.io.objects import Newer, ObjectWriter, Result, Write, find_metadata, naming
from olm_rollout.io.probing import NEW, Probed, Prober
from olm_rollout.io.together import together
from olm_rollout.io.watches import (
    ManagedWatches,
    OwnerKey,
    Place,
    Scope,
    few_of,
    scope_of,
)
from olm_rollout.managed_fields import Held
from olm_rollout.owned import Fingerprint, Sighting, fingerprint, record
from olm_rollout.ownership import Owner
from olm_rollout.phases import Phase
from olm_rollout.probes import Probes, describe
from olm_rollout.progress import Progress
from olm_rollout.webhooks import is_configuration
from olm_runtime.kube.client import KubeClient
from olm_runtime.tracing import span

PARALLEL_REQUESTS = 8
SETTLE_SECONDS = 5.0


@dataclass(slots=True)
class Applied:
    """What was applied of one revision; only `Rollout` writes it.

    `complete`: whether everything was applied at the last reconcile. `left`: the objects as they
    were left. `contended`: objects that somebody took over since. Moments are monotonic seconds.
    """

    complete: bool = False
    left: dict[ObjectKey, Fingerprint] = field(default_factory=dict)
    contended: dict[ObjectKey, Contention] = field(default_factory=dict)

    def forget(self, keys: Iterable[ObjectKey]) -> None:
        """Has objects applied again, because they are to be other than they were."""
        for key in keys:
            self.left.pop(key, None)

    def as_left(self, key: ObjectKey) -> Fingerprint | None:
        """How an object was left; None where it is to be applied."""
        return self.left.get(key)

    def pause(self, key: ObjectKey, now: float) -> float:
        """Seconds for which an object is left to somebody who takes it over again and again."""
        contention = self.contended.get(key)
        return contention.pause_left(now) if contention is not None else 0.0

    def note_takeover(self, key: ObjectKey, taken: frozenset[Held], now: float) -> None:
        """Notes that an object that had been applied before was restored."""
        if taken:
            self.contended[key] = after(self.contended.get(key), taken, now)

    def reported(self, now: float) -> dict[ObjectKey, Contention]:
        """Contention to report by object; forgets what is over."""
        self.contended = {k: c for k, c in self.contended.items() if c.seconds_left(now)}
        return {k: c for k, c in sorted(self.contended.items()) if c.is_reported}


@dataclass(slots=True)
class Rollout:
    """Rolls one revision out as one identity.

    `settled`: the revision rolled out once, so that what is missing was deleted, perhaps together
    with its owner; `newer` is asked before it is made again. `check` raises OLMError where no
    object may be written any more.
    """

    client: KubeClient
    owner: Owner
    watches: ManagedWatches
    probes: Probes
    applied: Applied
    probed: Probed
    newer: Newer
    settled: bool
    check: Callable[[], None] = lambda: None
    monotonic: Callable[[], float] = time.monotonic
    _key: OwnerKey = field(init=False)
    _slots: asyncio.Semaphore = field(init=False)
    _writer: ObjectWriter = field(init=False)
    _prober: Prober = field(init=False)
    _seen: Callable[[KubeObject], Sighting | None] = field(init=False)
    _created: set[ObjectKey] = field(default_factory=set)
    _begun: float = field(init=False)
    """The moment by which it is decided which objects are left alone, in all of a run."""
    _few: frozenset[Place] = frozenset()
    """Of which the revision has few objects, which are watched by name."""

    def __post_init__(self) -> None:
        self._key = (self.owner.kind, self.owner.name)
        self._begun = self.monotonic()
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)
        self._writer = ObjectWriter(self.client, self.owner)
        # Methods of this would hold it, and all that it knows, until cycles are looked for.
        self._seen = partial(_last_seen, self.watches, self._key)
        self._prober = Prober(
            self.client, self.probes, self.probed, self._seen, self.applied.as_left, self._slots
        )

    async def run(self, phases: Sequence[Phase]) -> Progress:
        """Applies phase after phase, as far as they get healthy.

        Raises TransientError with one line for each object that could not be applied.
        """
        objects = self._noted(phases)
        if not self.owner.newer:
            self.watches.keep_only(self._key, self._scopes(objects))
        self.applied.complete = False
        unhealthy: list[str] = []
        for phase in phases:
            waiting = await self._run_phase(phase, unhealthy)
            if waiting:
                return Progress(
                    waiting=tuple(waiting),
                    unhealthy=tuple(unhealthy),
                    contended=self._messages(self.applied.reported(self.monotonic())),
                )
        self.applied.complete = True
        now = self.monotonic()
        contended = self.applied.reported(now)
        due = (max(0.0, each.due(self._begun) - now) for each in contended.values())
        return Progress(
            complete=True,
            unhealthy=tuple(unhealthy),
            degraded=tuple(self.watches.problems(self._key)),
            contended=self._messages(contended),
            contended_seconds=min(due, default=None),
        )

    async def restore(self, phases: Sequence[Phase], known: str) -> None:
        """Learns what was applied if all objects are as they were left, by a record of that."""
        if self.applied.left or not known:
            return
        objects = self._noted(phases)
        await self._watch(objects)
        left: dict[ObjectKey, Fingerprint] = {}
        for obj in objects:
            seen = self._seen(obj)
            if seen is None or situation_of(seen.live, self.owner) is not Situation.OURS:
                return
            left[key_of(obj)] = seen.fingerprint
        if record(self.owner, left) == known:
            self.applied.left = left
            self._prober.note_restored(objects)

    async def look(self, phases: Sequence[Phase], known: str) -> Progress:
        """Watches and probes what is there, and writes nothing. Raises OLMError.

        What differs from what was applied is reported of the newest revision, once that rolled out;
        `known` is the record of how it was left.
        """
        objects = self._noted(phases)
        await self._watch(objects)
        await self.restore(phases, known)
        drifted: list[str] = []
        if self.settled and not self.owner.newer:
            found = await together(self._drift(obj) for obj in objects)
            drifted = [text for text in found if text]
            if known and not (drifted or self.applied.left):
                drifted = ["objects were changed since they were applied"]
        probed = [obj for obj in objects if self.probes.ask(gvk_of(obj))]
        failing = await self._prober.failing(probed, self.probes.health)
        return Progress(
            complete=self.settled,
            unhealthy=tuple(describe(obj, finding) for obj, finding in failing),
            degraded=tuple(self.watches.problems(self._key)),
            drifted=tuple(sorted(drifted)),
        )

    async def _drift(self, obj: KubeObject) -> str:
        """How an object differs from what was applied, as far as that is known; empty if not."""
        key, seen = key_of(obj), self._seen(obj)
        if seen is not None:
            live: KubeObject | None = seen.live
        else:
            async with self._slots:
                with naming(obj):
                    live = await find_metadata(self.client, obj)
        if live is None:
            return f"{key} is missing"
        left = self.applied.as_left(key)
        now = seen.fingerprint if seen is not None else fingerprint(live, self.owner.applier)
        return f"{key} was changed" if left is not None and left != now else ""

    def record(self) -> str:
        """How the objects were left."""
        return record(self.owner, self.applied.left)

    def _noted(self, phases: Sequence[Phase]) -> list[KubeObject]:
        """The objects of all phases, from which follows how they are watched."""
        objects = [obj for phase in phases for obj in phase.objects]
        self._few = few_of(map(key_of, objects))
        return objects

    def _scopes(self, objects: Iterable[KubeObject]) -> set[Scope]:
        return {scope_of(key_of(obj), self._few) for obj in objects}

    async def _watch(self, objects: Iterable[KubeObject]) -> None:
        self.watches.ensure(
            self._key, self.client, self._scopes(objects), every_change_of=self.probes.ask
        )
        await self.watches.settle(self._key, SETTLE_SECONDS)

    async def _run_phase(self, phase: Phase, unhealthy: list[str]) -> list[str]:
        probes, prober = self.probes, self._prober
        await self._watch(phase.objects)
        with span("apply", {"phase": phase.name}):
            await self._apply_all(phase)
        held_up = [obj for obj in phase.objects if probes.hold_up(gvk_of(obj))]
        waiting = await prober.wait(held_up, self._created)
        named = {key_of(obj) for obj, _ in waiting}
        others = [
            o for o in phase.objects if key_of(o) not in named and probes.only_report(gvk_of(o))
        ]
        new = [obj for obj in others if key_of(obj) in self._created]
        failing = await prober.failing([o for o in others if o not in new], probes.health)
        failing += [(obj, NEW) for obj in new]  # events of their watch follow
        unhealthy += [describe(obj, found) for obj, found in failing]
        return [describe(obj, found) for obj, found in waiting]

    async def _apply_all(self, phase: Phase) -> None:
        await together(
            self._apply(obj, phase.policy_of(i))
            for i, obj in enumerate(phase.objects)
            # One that is to be replaced leaves them as they are: they may refuse what replaces it.
            if not (self.owner.newer and is_configuration(obj))
        )

    async def _apply(self, obj: KubeObject, policy: Policy) -> None:
        key, seen = key_of(obj), self._seen(obj)
        left = self.applied.as_left(key)
        if left is not None and seen is not None and seen.fingerprint == left:
            return
        if left is not None and self.applied.pause(key, self._begun):
            return
        async with self._slots:
            self.check()
            live = seen.live if seen is not None else None
            if left is not None:  # or the event of our own write has not come yet
                with naming(obj):
                    live = await find_metadata(self.client, obj)
                if live is not None and fingerprint(live, self.owner.applier) == left:
                    return
            if live is None and self.settled:
                await self.newer()
            write = await self._writer.apply(obj, live, policy, self.newer)
        self.applied.left[key] = write.left
        if left is not None:
            self.applied.note_takeover(key, self._taken(write), self.monotonic())
        if write.result is Result.CREATED:
            self._created.add(key)

    def _taken(self, write: Write) -> frozenset[Held]:
        created = write.result is Result.CREATED
        return frozenset({DELETED}) if created else write.taken(self.owner.applier.field_manager)

    def _messages(self, contended: Mapping[ObjectKey, Contention]) -> tuple[str, ...]:
        subject = self.owner.applier.subject
        return tuple(message_of(key, found, subject) for key, found in contended.items())


def _last_seen(watches: ManagedWatches, owner: OwnerKey, obj: KubeObject) -> Sighting | None:
    return watches.sighting(owner, key_of(obj))
