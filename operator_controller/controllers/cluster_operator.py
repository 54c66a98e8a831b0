"""The reconciler of ClusterOperator/olm, which exists where OpenShift serves its kind.

Elsewhere this is one small request every half minute, which finds nothing. What is installed comes
from the revisions alone: neither catalogs nor images are asked.
"""

import logging
from collections.abc import Callable
from datetime import datetime

from api.objects import GVK, KubeObject, annotations_of, metadata
from api.olm.v1 import names
from olm_content.bundle.properties import MinorVersion
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.requests import Request
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ForbiddenError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome
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

CLUSTER_OPERATOR = GVK("config.openshift.io", "v1", "ClusterOperator")
CLUSTER_VERSION = GVK("config.openshift.io", "v1", "ClusterVersion")
VERSION_NAME = "version"
FIELD_MANAGER = "operator-controller"

LOOK_SECONDS = 30.0
"""The API and the cluster's version change seldom, and nothing waits for us when they do."""
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
        self._served = False
        self._stale = True
        self._declared: tuple[Declaration, ...] = ()
        self._logged = ""

    def enqueue_for_object_set(self, event: Change, enqueue: Enqueue) -> None:
        """What is installed may have changed if a bundle's properties are on it."""
        if names.ANNOTATION_BUNDLE_PROPERTIES in annotations_of(event.object):
            self._stale = True
            if self._served:
                enqueue(NAME, after=SETTLE_SECONDS)

    async def resync(self) -> list[Request]:
        """Has what is installed read again."""
        self._stale = True
        return [NAME]

    async def reconcile(self, _: Request) -> Outcome:
        """Writes the status if it is another, and comes back regularly. Raises ApiError."""
        try:
            await self._keep()
        except NotFoundError as error:
            if error.names_object:
                raise
            self._note_served(served=False)
        except ForbiddenError as error:
            self._warn(f"cannot keep ClusterOperator {NAME}: {error.message}")
        return Done(LOOK_SECONDS)

    async def report_failure(self, _: Request, __: Failed) -> None:
        """The log has it: others wrote the status."""

    async def _keep(self) -> None:
        found = await self._find(CLUSTER_OPERATOR, NAME)
        self._note_served(served=True)
        version, problem = await self._version()
        compatible = compatibility(await self._installed(), version, problem)
        facts = ClusterFacts(compatible, problem, self._namespace, self._release)
        if found is None:
            found = await self._create()
        old = found.get("status") or {}
        status = cluster_operator_status(facts, old, self._clock())
        if status != old:
            known = {key: metadata(found)[key] for key in ("uid", "resourceVersion")}
            patch = {"metadata": known, "status": status}
            await self._client.patch(
                found, patch, subresource="status", field_manager=FIELD_MANAGER
            )
        self._warn(problem)

    async def _find(self, gvk: GVK, name: str) -> KubeObject | None:
        """None if the kind is served and there is no such object. Raises ApiError."""
        try:
            return await self._client.get(gvk, name)
        except NotFoundError as error:
            if not error.names_object:
                raise
            return None

    async def _create(self) -> KubeObject:
        obj: KubeObject = {
            "apiVersion": CLUSTER_OPERATOR.api_version,
            "kind": CLUSTER_OPERATOR.kind,
            "metadata": {"name": NAME},
            "spec": {},
        }
        created: KubeObject = await self._client.create(obj, field_manager=FIELD_MANAGER)
        return created

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

    def _note_served(self, *, served: bool) -> None:
        if served != self._served:
            log.info(
                "ClusterOperator %s %s", NAME, "is written" if served else "is not served any more"
            )
        self._served = served

    def _warn(self, problem: str) -> None:
        """Once for each problem."""
        if problem and problem != self._logged:
            log.warning("%s", problem)
        self._logged = problem
