"""Follows the ClusterVersion: its status says how far what it asks for is.

Source of the rules: upstream's notes, sections 5 and 12.
"""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from api.objects import KubeObject, condition, name_of
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.controllers.cluster_status import ClusterStatus
from cluster_version.controllers.targets import RETRY_SECONDS, Targets
from cluster_version.controllers.upgradeability import WATCHED_ACKS, WATCHED_GATES
from cluster_version.decisions.validation import field_errors, without_faults
from cluster_version.metrics.operators import Transitions, version_of
from cluster_version.names import CLUSTER_VERSION_NAME
from cluster_version.updates.weighing import ACCEPT_RISKS
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "cluster-version"

log = logging.getLogger(__name__)


class ClusterVersions:
    """The controller. Requests name the one ClusterVersion that counts."""

    def __init__(
        self,
        manager: Manager,
        targets: Targets,
        status: ClusterStatus,
        *,
        clock: Callable[[], datetime],
        wake: Callable[[], None],
        recorded: Callable[[str], Awaitable[None]],
    ) -> None:
        """What others are notified of.

        wake      a component is not as it was: an update may wait for that
        recorded  the status is written, and names an image as the one that is applied
        """
        self._manager = manager
        self._targets = targets
        self._status = status
        self._clock = clock
        self._wake = wake
        self._recorded = recorded
        self._store = manager.store(CLUSTER_VERSION)
        self._is_missed = False
        self.transitions = Transitions()

    def registration(self) -> Registration:
        """The row of this controller."""
        watches = [
            Watch(CLUSTER_VERSION, self._on_cluster_version),
            Watch(CLUSTER_OPERATOR, self._on_operator),
            Watch(WATCHED_GATES, _soon),
            Watch(WATCHED_ACKS, _soon),
        ]
        return Registration(name=NAME, reconciler=self, watches=watches, workers=1)

    def enqueue(self, after: float = 0.0) -> None:
        """Has the status looked at again, in some seconds."""
        self._manager.enqueue(NAME, CLUSTER_VERSION_NAME, after=after)

    def _on_cluster_version(self, event: Change, enqueue: Enqueue) -> None:
        if name_of(event.object) == CLUSTER_VERSION_NAME:
            self._manager.enqueue_changed(event, enqueue)

    def _on_operator(self, event: Change, enqueue: Enqueue) -> None:
        self.transitions.see(event.old, event.new)
        if _judged(event.old) != _judged(event.new):
            self._wake()
        enqueue(CLUSTER_VERSION_NAME)

    async def reconcile(self, request: Request) -> Outcome:
        """Follows what is asked for and writes how far it is. Raises OLMError."""
        self._store.check_synced()
        cluster_version = self._store.get(request)
        if cluster_version is None:
            self._miss()
            return Done()
        self._is_missed = False
        features = await self._targets.features()
        faults = field_errors(cluster_version, risks_can_be_accepted=ACCEPT_RISKS in features.gates)
        self._targets.follow(without_faults(cluster_version, faults))
        status = self._status.of(cluster_version, faults, features, self._clock())
        await self._manager.statuses.write(cluster_version, status)
        await self._recorded((status.get("desired") or {}).get("image") or "")
        acceptance = self._targets.acceptance
        is_refused = acceptance is not None and not acceptance.is_accepted
        return Done(RETRY_SECONDS if is_refused else None)

    def _miss(self) -> None:
        """Says once that there is nothing to follow: who installs a cluster makes it."""
        if not self._is_missed:
            log.warning(
                "waiting for the ClusterVersion %s: nothing is applied until somebody makes it",
                CLUSTER_VERSION_NAME,
            )
        self._is_missed = True

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log; what a status says is what is known of the release."""


def _judged(operator: KubeObject | None) -> object:
    """What releases wait for in a ClusterOperator."""
    if operator is None:
        return None
    conditions = (condition(operator, kind) or {} for kind in ("Available", "Degraded"))
    return version_of(operator), [each.get("status") for each in conditions]


def _soon(_: Change, enqueue: Enqueue) -> None:
    enqueue(CLUSTER_VERSION_NAME)
