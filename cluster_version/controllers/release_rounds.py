"""Rounds over a release that was accepted, with what they remember of each other."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from cluster_version.apply.deletions import Deletions
from cluster_version.controllers.sync_worker import Work
from cluster_version.io.applying import Applier
from cluster_version.io.checks import Checks
from cluster_version.io.rounds import TRIES, Round
from cluster_version.payload.task_graph import State
from olm_runtime.kube.client import KubeClient


class ReleaseRounds:
    """Makes rounds."""

    def __init__(self, client: KubeClient, checks: Checks) -> None:
        self._client = client
        self.checks = checks
        self.deletions = Deletions()
        self.failures: Counter[str] = Counter()
        """Tries to apply a manifest that failed, by the release's version."""

    def begin(self, work: Work, state: State, attempt: int, notify: Callable[[], None]) -> Round:
        """The round of an attempt; with the first one the clock of each operator begins anew."""
        if not attempt:
            self.checks.begun.clear()
        return Round(
            work.payload.manifests,
            state,
            Applier(self._client, work.owner_uid, self.deletions),
            self.checks.in_state(state),
            TRIES[state],
            attempt,
            work.filters,
            notify,
            partial(self.failures.update, [work.payload.release.version]),
        )
