"""The status of a ClusterVersion, of all that is known of its release and of its updates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from api.objects import KubeObject
from cluster_version.controllers.availability import Availability, Wanted
from cluster_version.controllers.sync_worker import SyncWorker, Work
from cluster_version.controllers.targets import Targets
from cluster_version.controllers.upgradeability import Upgradeability
from cluster_version.decisions.objects import status_of
from cluster_version.decisions.upgradeable import Found
from cluster_version.decisions.validation import FieldError, without_faults
from cluster_version.payload.contents import Payload
from cluster_version.payload.features import Features
from cluster_version.status.whole import WorkerState, status_after
from cluster_version.updates.retrieval import Question
from cluster_version.updates.weighing import ACCEPT_RISKS, weighing_of

Begun = Callable[[], Mapping[str, datetime]]
"""Since when a ClusterOperator is waited for, by name."""

QuestionOf = Callable[[KubeObject, Payload], Question]
"""What a valid ClusterVersion asks an update service for a release that is applied."""


class ClusterStatus:
    """Puts together what the worker, the update service and the cluster say."""

    def __init__(
        self,
        worker: SyncWorker,
        targets: Targets,
        availability: Availability,
        upgradeability: Upgradeability,
        *,
        begun: Begun,
        question_of: QuestionOf,
    ) -> None:
        self._worker = worker
        self._targets = targets
        self._availability = availability
        self._upgradeability = upgradeability
        self._begun = begun
        self._question_of = question_of

    def of(
        self,
        cluster_version: KubeObject,
        faults: Sequence[FieldError],
        features: Features,
        now: datetime,
    ) -> dict[str, Any]:
        """The status, and what it has to do with is asked for. Raises NotSyncedError.

        `faults` is what is wrong with the ClusterVersion.
        """
        status, work, report = status_of(cluster_version), self._worker.work, self._worker.report
        if work is None:
            return status
        applied = work if report is None else report.work
        status = status_after(status, self._state(applied, work, faults), now)
        found = self._upgradeability.found({**cluster_version, "status": status})
        valid = without_faults(cluster_version, faults)
        self._follow(valid, applied.payload, features, found)
        status = self._availability.put_into(status, now)
        return self._upgradeability.put_into(found, status, now)

    def _follow(
        self, cluster_version: KubeObject, applied: Payload, features: Features, found: Found
    ) -> None:
        """Has updates of the release looked for, as a valid ClusterVersion asks for it."""
        question = self._question_of(cluster_version, applied)
        is_weighed = ACCEPT_RISKS in features.gates
        weighing = weighing_of(cluster_version, found) if is_weighed else None
        self._availability.follow(Wanted(question, applied.architecture, weighing))

    def _state(self, applied: Work, work: Work, faults: Sequence[FieldError]) -> WorkerState:
        report = self._worker.report
        state = WorkerState(
            release=applied.payload.release,
            hash=applied.payload.hash,
            own=self._targets.own,
            known=tuple(self._availability.known),
            generation=work.generation,
            verified=applied.verified,
            capabilities=work.capabilities,
            acceptance=self._targets.acceptance,
            begun=self._begun(),
            faults=faults,
        )
        if report is None:
            return state
        return replace(
            state,
            completed=report.completed,
            done=report.done,
            total=report.total,
            reconciling=report.reconciling,
            errors=report.errors,
        )
