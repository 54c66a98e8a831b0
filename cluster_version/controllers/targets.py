"""Which release the worker applies: the operator's own, then what the ClusterVersion asks for.

Source of the rules: upstream's notes, sections 5.1 and 13.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, replace
from typing import Any

from api.objects import KubeObject, metadata
from cluster_version.controllers.cluster_features import ClusterFeatures
from cluster_version.controllers.release_loader import ReleaseLoader
from cluster_version.controllers.sync_worker import SyncWorker, Work
from cluster_version.decisions.acceptance import Acceptance, Retrieved, judged, taken_back
from cluster_version.decisions.objects import spec_of, status_of
from cluster_version.decisions.target import (
    Target,
    never_reached_level,
    requested,
    state_for,
)
from cluster_version.payload.capabilities import (
    ClusterCapabilities,
    cluster_capabilities,
    implicit_after,
)
from cluster_version.payload.contents import Payload, for_features
from cluster_version.payload.features import Features
from cluster_version.payload.release import Release
from cluster_version.payload.task_graph import State

RETRY_SECONDS = 15.0
"""Until a target that was refused is tried again."""


@dataclass(frozen=True, slots=True)
class Own:
    """What the operator comes with: its own release, and what a cluster has in any case."""

    payload: Payload
    always_enabled: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """The release as a target."""
        return Target(self.payload.release.version, self.payload.release.image)


Spawn = Callable[[Coroutine[Any, Any, None]], object]
"""Runs a coroutine to its end in the background."""


class Targets:
    """Gives the worker what a ClusterVersion asks for, once that is accepted."""

    def __init__(
        self,
        own: Own,
        worker: SyncWorker,
        loader: ReleaseLoader,
        features: ClusterFeatures,
        spawn: Spawn,
    ) -> None:
        self._own = own
        self._features = features
        self._worker = worker
        self._loader = loader
        self._spawn = spawn
        self._loading: Target | None = None
        self._refused: Target | None = None
        self._again_at = 0.0
        self._applied: Acceptance | None = None

    @property
    def own(self) -> Release:
        """The operator's own release."""
        return self._own.payload.release

    @property
    def acceptance(self) -> Acceptance | None:
        """How far the target is, or that the release that is applied was accepted."""
        return self._loader.acceptance

    async def features(self) -> Features:
        """What the cluster has for the release that is applied; awaited before each `follow`.

        Raises NotSyncedError while nothing is known.
        """
        await self._features.read()
        work = self._worker.work
        payload = self._own.payload if work is None else work.payload
        return self._features.of(payload.release.version)

    def follow(self, cluster_version: KubeObject) -> None:
        """Has done what a valid ClusterVersion asks for; a target that failed is tried again."""
        work = self._worker.work
        if work is None:
            self._begin(cluster_version)
            return
        self._worker.take(self._as_asked(work, cluster_version), State.RECONCILING)
        target = requested(cluster_version, work.payload.architecture)
        # Upstream goes on with the own release, as each release has a process of its own there.
        if target is None or never_reached_level(cluster_version):
            self._keep()
        elif _is_applied(target, work):
            self._compare(target, work, cluster_version)
        elif self._loading is None and not self._is_too_early(target):
            self._loading = target
            self._spawn(self._load(target))

    def _is_too_early(self, target: Target) -> bool:
        """Whether a target was refused a moment ago."""
        return target == self._refused and asyncio.get_running_loop().time() < self._again_at

    def _begin(self, cluster_version: KubeObject) -> None:
        """The own release is the first in any case, and nobody is asked about it."""
        target = self._own.target
        local = judged(target, Retrieved(local=True), self._own.payload, cluster_version)
        self._applied = self._loader.report(local)
        features = self._features.of(target.version)
        before = (status_of(cluster_version).get("capabilities") or {}).get("enabledCapabilities")
        work = Work(
            payload=self._own.payload,
            owner_uid=metadata(cluster_version)["uid"],
            capabilities=self._capabilities(cluster_version, before or (), features.gates),
        )
        self._worker.take(self._as_asked(work, cluster_version), state_for(cluster_version, target))

    def _as_asked(self, work: Work, cluster_version: KubeObject) -> Work:
        """The work with what the cluster says of the release that is applied."""
        features = self._features.of(work.payload.release.version)
        enabled = work.capabilities.enabled
        return replace(
            work,
            payload=for_features(work.payload, features),
            feature_gates=features.gates,
            generation=metadata(cluster_version).get("generation") or 0,
            overrides=spec_of(cluster_version).get("overrides") or (),
            capabilities=self._capabilities(cluster_version, enabled, features.gates),
        )

    def _capabilities(
        self, cluster_version: KubeObject, before: Iterable[str], gates: frozenset[str]
    ) -> ClusterCapabilities:
        asked = spec_of(cluster_version).get("capabilities")
        retained = (*before, *self._own.always_enabled)
        return cluster_capabilities(asked, retained, gates)

    def _keep(self) -> None:
        """What was tried meanwhile is no longer reported, and may be tried again at once."""
        self._refused = None
        now, applied = self._loader.acceptance, self._applied
        if self._loading is None and now is not None and applied is not None:
            self._loader.acceptance = taken_back(now, applied)

    def _compare(self, target: Target, work: Work, cluster_version: KubeObject) -> None:
        """The applied image stays; that it has not the version asked for is reported once."""
        if target.version in ("", work.payload.release.version):
            self._keep()
        elif self._loading is None and target != self._reported_target:
            retrieved = Retrieved(verified=work.verified)
            self._loader.report(judged(target, retrieved, work.payload, cluster_version))

    @property
    def _reported_target(self) -> Target | None:
        acceptance = self._loader.acceptance
        return None if acceptance is None else acceptance.target

    async def _load(self, target: Target) -> None:
        try:
            payload = await self._loader.load(target)
        finally:
            self._loading = None
        if payload is None:
            self._refused = target
            self._again_at = asyncio.get_running_loop().time() + RETRY_SECONDS
        else:
            self._take(target, payload)

    def _take(self, target: Target, payload: Payload) -> None:
        work, acceptance = self._worker.work, self._loader.acceptance
        if work is None or acceptance is None:
            return
        features = self._features.of(payload.release.version)
        payload = for_features(payload, features)
        found = work.capabilities
        implicit = implicit_after(found, work.payload.manifests, payload.manifests)
        capabilities = replace(found, enabled=found.enabled | implicit, implicit=implicit)
        self._applied = acceptance
        accepted = replace(
            work,
            payload=payload,
            capabilities=capabilities,
            feature_gates=features.gates,
            forced=target.force,
            verified=acceptance.retrieved.verified,
        )
        self._worker.take(accepted, State.UPDATING)


def _is_applied(target: Target, work: Work) -> bool:
    return (target.image, target.force) == (work.image, work.forced)
