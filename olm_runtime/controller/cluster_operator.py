"""Keeps the status of a ClusterOperator where OpenShift serves its kind.

Elsewhere this is one small request every half minute, which finds nothing.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

from api.objects import GVK, KubeObject, metadata
from api.openshift.config.v1.clusteroperator import RawStatus
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR
from olm_runtime.controller.requests import Request
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome

LOOK_SECONDS = 30.0
"""The API changes seldom, and nothing waits for us when it does."""

log = logging.getLogger(__name__)


class StatusOf(Protocol):
    """Says what the status is to be, given what it was. Raises ApiError."""

    def __call__(self, old: RawStatus, /) -> Awaitable[RawStatus]:
        """Equal to the old one where nothing has changed."""


class ClusterOperatorReporter:
    """Reports to the ClusterOperator of a name. A reconciler whose requests are all the same."""

    def __init__(
        self,
        client: KubeClient,
        name: str,
        status_of: StatusOf,
        *,
        field_manager: str,
        warn: Callable[[str], None] = lambda problem: log.warning("%s", problem),
    ) -> None:
        self._client = client
        self._name = name
        self._status_of = status_of
        self._field_manager = field_manager
        self._warn = warn
        self._warned = False
        self.served = False
        """Whether the kind was served when it was last looked for."""

    async def resync(self) -> list[Request]:
        """The one request."""
        return [self._name]

    async def reconcile(self, _: Request) -> Outcome:
        """Writes the status if it is another, and comes back regularly. Raises ApiError."""
        try:
            await self._keep()
        except NotFoundError as error:
            if error.names_object:
                raise
            self._note_served(served=False)
        except ForbiddenError as error:
            if not self._warned:
                self._warn(f"cannot keep ClusterOperator {self._name}: {error.message}")
            self._warned = True
        else:
            self._warned = False
        return Done(LOOK_SECONDS)

    async def report_failure(self, _: Request, __: Failed) -> None:
        """The log has it: others wrote the status."""

    async def _keep(self) -> None:
        found = await self._find(CLUSTER_OPERATOR)
        self._note_served(served=True)
        old = (found or {}).get("status") or {}
        status = await self._status_of(old)
        if found is None:
            found = await self._create()
        if status != old:
            known = {key: metadata(found)[key] for key in ("uid", "resourceVersion")}
            patch = {"metadata": known, "status": status}
            await self._client.patch(
                found, patch, subresource="status", field_manager=self._field_manager
            )

    async def _find(self, gvk: GVK) -> KubeObject | None:
        """None if the kind is served and there is no such object. Raises ApiError."""
        try:
            return await self._client.get(gvk, self._name)
        except NotFoundError as error:
            if not error.names_object:
                raise
            return None

    async def _create(self) -> KubeObject:
        obj: KubeObject = {
            "apiVersion": CLUSTER_OPERATOR.api_version,
            "kind": CLUSTER_OPERATOR.kind,
            "metadata": {"name": self._name},
            "spec": {},
        }
        created: KubeObject = await self._client.create(obj, field_manager=self._field_manager)
        return created

    def _note_served(self, *, served: bool) -> None:
        if served != self.served:
            said = "is written" if served else "is not served any more"
            log.info("ClusterOperator %s %s", self._name, said)
        self.served = served
