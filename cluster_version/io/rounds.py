"""One pass over the manifests of a release. Source of the rules: upstream's notes, section 9."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from api.objects import KubeObject, gvk_of, name_of
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR
from cluster_version.apply.requests import is_deletion, owned
from cluster_version.errors import Effect, UpdateError
from cluster_version.health.summaries import NO_KIND, OTHER, Cause, cause_of
from cluster_version.health.tasks import described, not_applied
from cluster_version.io.applying import FIELD_MANAGER, Applier
from cluster_version.io.task_runner import run, shuffled
from cluster_version.payload.inclusion import Filters, left_out
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.task_graph import Group, State, task_graph
from cluster_version.status.levels import Level, LevelCounts
from olm_runtime.errors import OLMError, TerminalError, TransientError
from olm_runtime.kube.errors import ApiError, NoMatchError

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


@dataclass(slots=True)
class Round:
    """Applies the manifests of a release once, in the order of its files.

    check     what a manifest waits for once it is applied
    attempt   how many rounds failed before this one
    filters   what of the release is not for the cluster now, except what was never loaded
    notify    called at each step forward
    failed    called at each try that failed
    done      how many manifests are applied and well
    written   how many objects were changed, made or deleted
    errors    of manifests that could not be applied
    reported  what is not well and hinders nothing
    """

    manifests: Sequence[Manifest]
    state: State
    applier: Applier
    check: Check
    tries: Tries
    attempt: int = 0
    filters: Filters | None = None
    notify: Callable[[], None] = lambda: None
    failed: Callable[[], None] = lambda: None
    done: int = field(default=0, init=False)
    written: int = field(default=0, init=False)
    errors: list[UpdateError] = field(default_factory=list, init=False)
    reported: list[UpdateError] = field(default_factory=list, init=False)
    _end: float = field(default=math.inf, init=False)
    _ended: set[Group] = field(default_factory=set, init=False)
    _counts: LevelCounts = field(default_factory=LevelCounts, init=False)

    @property
    def levels(self) -> tuple[Level, ...]:
        """How far each runlevel is."""
        return self._counts.levels

    async def run(self, seconds: float | None = None) -> Sequence[OLMError]:
        """Applies what can be in the time; the errors of the rest.

        What there was no time for is an error where nothing failed.
        """
        graph = task_graph([manifest.file for manifest in self.manifests], self.state)
        self._counts = LevelCounts(each.file for each in self.manifests if self._is_wanted(each))
        is_reconciling = self.state is State.RECONCILING
        order = shuffled(len(graph.groups), self.attempt) if is_reconciling else None
        self._end = asyncio.get_running_loop().time() + (math.inf if seconds is None else seconds)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await run(graph, self._apply_group, order)
        left = [group for group in graph.groups if group not in self._ended]
        return self.errors or ([self._incomplete(left)] if left else [])

    def _incomplete(self, left: Sequence[Group]) -> OLMError:
        first = left[0].tasks.start
        named = described(self.manifests[first], first + 1, len(self.manifests))
        return TransientError(f"{len(left)} incomplete task nodes, beginning with {named}")

    async def _apply_group(self, group: Group) -> None:
        wanted = [at for at in group.tasks if self._is_wanted(self.manifests[at])]
        for position in wanted:
            await self._announce(self.manifests[position])
        for position in wanted:
            file = self.manifests[position].file
            self._counts.begin(file)
            self.notify()
            await self._apply(position)
            self._counts.end(file)
            self.done += 1
        self._ended.add(group)

    def _is_wanted(self, manifest: Manifest) -> bool:
        return self.filters is None or not left_out(manifest.object, self.filters)

    async def _apply(self, position: int) -> None:
        """Raises UpdateError, as the last try did; what only is to be reported is no error."""
        try:
            await self._try_again_and_again(self.manifests[position])
        except OLMError as error:
            failed = self._update_error(position, error)
            if failed.effect is Effect.REPORT:
                self.reported.append(failed)
                return
            self.errors.append(failed)
            raise failed from error

    def _update_error(self, position: int, error: OLMError) -> UpdateError:
        if isinstance(error, UpdateError):
            return error
        cause = _cause_of(error)
        manifest, total = self.manifests[position], len(self.manifests)
        return not_applied(manifest, position + 1, total, cause, error.message)

    async def _try_again_and_again(self, manifest: Manifest) -> None:
        for pause in self.tries.pauses():
            try:
                await self._try(manifest)
            except (UpdateError, TerminalError):
                raise  # it would be the same in a moment
            except OLMError:
                if asyncio.get_running_loop().time() + pause > self._end:
                    raise
                await asyncio.sleep(pause)
            else:
                return
        await self._try(manifest)

    async def _try(self, manifest: Manifest) -> None:
        try:
            applied = await self.applier.apply(manifest.object, self.state)
            self.written += applied.verb is not None
            await self.check(manifest, applied.live)
        except OLMError:
            self.failed()
            raise

    async def _announce(self, manifest: Manifest) -> None:
        """Makes a ClusterOperator before its operator does, so that all are seen from the start.

        What hinders it is reported when the turn of the manifest comes.
        """
        obj = manifest.object
        if gvk_of(obj) != CLUSTER_OPERATOR or is_deletion(obj):
            return
        client = self.applier.client
        related = (obj.get("status") or {}).get("relatedObjects")
        whole = {"spec": {}, **owned(obj, self.applier.owner_uid)}
        bare = {key: value for key, value in whole.items() if key != "status"}
        try:
            if await client.find(CLUSTER_OPERATOR, name_of(obj), metadata_only=True) is None:
                made = await client.create(bare, field_manager=FIELD_MANAGER)
                status = {"relatedObjects": related} if related else {}
                await client.patch(made, {"status": status}, subresource="status")
        except ApiError:
            return


def _cause_of(error: OLMError) -> Cause:
    match error:
        case NoMatchError():
            return NO_KIND
        case ApiError():
            return cause_of(error.status, error.reason)
        case _:
            return Cause(OTHER, error.message)
