"""Probes objects, and gives those that the API server makes ready in moments that moment."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from api.objects import KubeObject, ObjectKey, gvk_of, key_of, metadata
from olm_rollout.io.pods import why_not_running
from olm_rollout.io.together import together
from olm_rollout.owned import Fingerprint, Sighting
from olm_rollout.probes import HEALTHY, Finding, Health, Probe, Probes
from olm_runtime.kube.client import KubeClient

WAIT_SECONDS = 5.0
"""How long a reconcile itself waits for a phase before it is requeued."""
POLL_SECONDS = 0.025
"""An object that has not changed for so long is probed."""
SILENCE_SECONDS = 1.0
"""After this long without an event of an object it is read all the same."""
DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
PROMPT_KINDS = frozenset({DEFINITION, ("", "Namespace")})
"""Kinds that the API server itself makes ready, in moments; it is not worth a requeue."""
NEW = Finding(Health.UNKNOWN, "was made just now")

Failing = list[tuple[KubeObject, Finding]]
"""Objects that are not healthy, and why."""


@dataclass(slots=True)
class Probed:
    """Resource versions of objects at their last probe; only `Prober` writes it.

    `healthy`: in which they were; an object is not read again while it has this version, and a
    definition not while it has this uid.
    `waited`: objects that a reconcile waited for once; it does so no second time, because it
    occupies a worker.
    """

    versions: dict[ObjectKey, str] = field(default_factory=dict)
    healthy: dict[ObjectKey, str] = field(default_factory=dict)
    waited: set[ObjectKey] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Prober:
    """Probes the objects of one revision as one identity.

    `seen` is what the watches last saw of an object, `left` how it was applied; `slots` bounds the
    requests at a time.
    """

    client: KubeClient
    probes: Probes
    probed: Probed
    seen: Callable[[KubeObject], Sighting | None]
    left: Callable[[ObjectKey], Fingerprint | None]
    slots: asyncio.Semaphore

    def note_restored(self, objects: Iterable[KubeObject]) -> None:
        """Of objects that are as a rollout left them that ended: what still holds is not read."""
        for obj in objects:
            key, seen = key_of(obj), self.seen(obj)
            if seen is not None and self._stays_healthy(key):
                self._note(key, seen.live, works=True)

    def _note(self, key: ObjectKey, live: KubeObject, *, works: bool) -> None:
        self.probed.versions[key] = version_of(live)
        if works:
            self.probed.healthy[key] = self._mark(key, live)

    def _mark(self, key: ObjectKey, live: KubeObject) -> str:
        """What stays the same of an object while it stays healthy."""
        return str(metadata(live)["uid"]) if self._stays_healthy(key) else version_of(live)

    def _stays_healthy(self, key: ObjectKey) -> bool:
        """Whether it does for ever: a definition stays established until it is deleted."""
        kind = (key.gvk.group, key.gvk.kind)
        return kind == DEFINITION and not self.probes.are_given(key.gvk)

    async def wait(self, objects: Sequence[KubeObject], new: AbstractSet[ObjectKey]) -> Failing:
        """What the next phase waits for among objects, after a moment where a moment may do.

        Those that are `new` are not read before their watch saw them change.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + WAIT_SECONDS
        seen: dict[ObjectKey, Sighting | None] = {key_of(obj): None for obj in objects}
        failing = {key_of(o): NEW for o in objects if _is_prompt(o) and key_of(o) in new}
        due: Sequence[KubeObject] = [o for o in objects if key_of(o) not in failing]
        while True:
            seen |= {key_of(obj): self.seen(obj) for obj in due}
            found = await self.failing(due, self.probes.obstacle)
            for obj in due:
                failing.pop(key_of(obj), None)
            failing |= {key_of(obj): finding for obj, finding in found}
            waiting = [obj for obj in objects if key_of(obj) in failing]
            if now() > deadline or not any(map(self._is_worth_waiting, waiting)):
                self.probed.waited.update(failing)
                return [(obj, failing[key_of(obj)]) for obj in waiting]
            until = min(deadline, now() + SILENCE_SECONDS)
            due = await self._changed(waiting, seen, until=until)

    async def _changed(
        self, objects: Sequence[KubeObject], seen: Mapping[ObjectKey, object], *, until: float
    ) -> Sequence[KubeObject]:
        """Those that changed and then stayed the same for a poll; all if there are none by then.

        Definitions are large: reading all of them at every poll would slow down the server that
        makes them ready.
        """
        now = asyncio.get_running_loop().time
        before: dict[ObjectKey, Sighting | None] = {}
        while now() < until:
            current = {key_of(obj): self.seen(obj) for obj in objects}
            stable = {key for key, sighting in current.items() if sighting is before.get(key)}
            changed = {key for key in stable if current[key] is not seen[key]}
            if changed:
                return [obj for obj in objects if key_of(obj) in changed]
            before = current
            await asyncio.sleep(POLL_SECONDS)
        return objects

    def _is_worth_waiting(self, obj: KubeObject) -> bool:
        return _is_prompt(obj) and key_of(obj) not in self.probed.waited

    async def failing(self, objects: Sequence[KubeObject], probe: Probe) -> Failing:
        """The objects that are not healthy by a probe. Raises as `together` does."""
        found = await together(self._find(obj, probe) for obj in objects)
        return [
            (obj, finding)
            for obj, finding in zip(objects, found, strict=True)
            if finding.health is not Health.HEALTHY
        ]

    async def _find(self, obj: KubeObject, probe: Probe) -> Finding:
        key, seen = key_of(obj), self.seen(obj)
        if seen is not None and self._is_seen_to_work(key, seen):
            return HEALTHY
        async with self.slots:
            live = await self.client.find(key.gvk, key.name, key.namespace)
            if live is None:
                return Finding(Health.UNHEALTHY, "is missing")
            self._note(key, live, works=self.probes.health(live).health is Health.HEALTHY)
            found = probe(live)
            if found.health is Health.UNHEALTHY and not found.given:
                found = found.because(await why_not_running(self.client, live))
            return found

    def _is_seen_to_work(self, key: ObjectKey, seen: Sighting) -> bool:
        """Whether it need not be read: one that was just applied may not have been seen since."""
        live = seen.live
        works = self.probed.healthy.get(key) == self._mark(key, live)
        if not works and seen.works and not self.probes.are_given(key.gvk):
            works = self.left(key) == seen.fingerprint
        if works:
            self._note(key, live, works=True)
        return works


def version_of(live: KubeObject) -> str:
    """The resource version of a live object."""
    return str(metadata(live).get("resourceVersion") or "")


def _is_prompt(obj: KubeObject) -> bool:
    gvk = gvk_of(obj)
    return (gvk.group, gvk.kind) in PROMPT_KINDS
