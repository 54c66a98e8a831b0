"""The reconciler of ClusterOperator/olm, which exists where OpenShift serves its kind.

What is installed comes from the revisions alone: neither catalogs nor images are asked.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from api.objects import annotations_of
from api.olm.v1 import names
from api.openshift.config.v1.clusteroperator import RawStatus
from api.openshift.config.v1.kinds import CLUSTER_VERSION
from olm_content.bundle.properties import MinorVersion
from olm_runtime.controller.cluster_operator import ClusterOperatorReporter
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.requests import Request
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError
from olm_runtime.outcome import Failed, Outcome
from operator_controller.io.revisions import RevisionStore
from operator_controller.status.cluster_operator import (
    NAME,
    ClusterFacts,
    cluster_operator_status,
)
from operator_controller.status.cluster_updates import (
    Declaration,
    UnknownVersionError,
    compatibility,
    current_version,
    declarations,
)

VERSION_NAME = "version"
FIELD_MANAGER = "operator-controller"

SETTLE_SECONDS = 2.0
"""Revisions that change together are looked at together."""

log = logging.getLogger(__name__)


class ClusterOperatorController:
    """Keeps the status of ClusterOperator/olm; for the leader only."""

    def __init__(
        self,
        client: KubeClient,
        store: RevisionStore,
        *,
        clock: Callable[[], datetime],
        namespace: str,
        release: str,
    ) -> None:
        """`namespace` is the system namespace, `release` our version."""
        self._client = client
        self._store = store
        self._clock = clock
        self._namespace = namespace
        self._release = release
        self._reporter = ClusterOperatorReporter(
            client, NAME, self._status, field_manager=FIELD_MANAGER, warn=self._warn
        )
        self._stale = True
        self._declared: tuple[Declaration, ...] = ()
        self._logged = ""

    def enqueue_for_object_set(self, event: Change, enqueue: Enqueue) -> None:
        """What is installed may have changed if a bundle's properties are on it."""
        if names.ANNOTATION_BUNDLE_PROPERTIES in annotations_of(event.object):
            self._stale = True
            if self._reporter.served:
                enqueue(NAME, after=SETTLE_SECONDS)

    async def resync(self) -> list[Request]:
        """Has what is installed read again."""
        self._stale = True
        return [NAME]

    async def reconcile(self, request: Request) -> Outcome:
        """Writes the status if it is another, and comes back regularly. Raises ApiError."""
        return await self._reporter.reconcile(request)

    async def report_failure(self, _: Request, __: Failed) -> None:
        """The log has it: others wrote the status."""

    async def _status(self, old: RawStatus) -> RawStatus:
        version, problem = await self._version()
        compatible = compatibility(await self._installed(), version, problem)
        self._warn(problem)
        facts = ClusterFacts(compatible, problem, self._namespace, self._release)
        return cluster_operator_status(facts, old, self._clock())

    async def _version(self) -> tuple[MinorVersion | None, str]:
        """The cluster's version, or None and why it is not known. Raises ApiError."""
        try:
            found = await self._client.find(CLUSTER_VERSION, VERSION_NAME)
            return current_version(found), ""
        except UnknownVersionError as error:
            return None, str(error)
        except ForbiddenError as error:
            return None, f"cannot read ClusterVersion {VERSION_NAME}: {error.message}"

    async def _installed(self) -> tuple[Declaration, ...]:
        """What the active revisions declare; read again when one of them has changed."""
        if self._stale:
            self._stale = False  # before reading: it may change meanwhile
            try:
                self._declared = declarations(self._store.of_all_extensions())
            except ApiError:
                self._stale = True
                raise
        return self._declared

    def _warn(self, problem: str) -> None:
        """Once for each problem."""
        if problem and problem != self._logged:
            log.warning("%s", problem)
        self._logged = problem
