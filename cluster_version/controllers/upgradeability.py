"""Says in the status of a ClusterVersion what speaks against updates to other minor versions.

Source of the rules: upstream's notes, section 8.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from api.objects import KubeObject
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR
from cluster_version.decisions.admin_gates import (
    ACKS,
    ACKS_NAMESPACE,
    GATES,
    GATES_NAMESPACE,
    known_data,
)
from cluster_version.decisions.objects import current_version
from cluster_version.decisions.upgradeable import Cluster, Found, own_risks, upgradeable
from cluster_version.payload.contents import Payload
from cluster_version.signatures.configuration import CONFIG_MAP
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.upgradeable import set_upgradeable
from olm_runtime.controller.manager import Manager
from olm_runtime.watch.informer import Selection
from olm_runtime.watch.store import Store

WATCHED_ACKS = Selection(CONFIG_MAP, ACKS_NAMESPACE)
WATCHED_GATES = Selection(CONFIG_MAP, GATES_NAMESPACE, fields=f"metadata.name={GATES}")
"""In its namespace there are also the signatures of releases."""


class Upgradeability:
    """Judges by what a manager watches, and by the release that is applied."""

    def __init__(
        self,
        manager: Manager,
        applied: Callable[[], Payload],
        deletions: Callable[[], Sequence[str]],
    ) -> None:
        """`deletions` are those that the release asks for and that are not done."""
        self._operators = manager.store(CLUSTER_OPERATOR)
        self._gates = manager.selected(WATCHED_GATES)
        self._acks = manager.selected(WATCHED_ACKS)
        self._applied = applied
        self._deletions = deletions

    def found(self, cluster_version: KubeObject) -> Found:
        """What speaks against updates. Raises NotSyncedError."""
        for store in (self._operators, self._gates, self._acks):
            store.check_synced()
        return own_risks(
            Cluster(
                cluster_version=cluster_version,
                version=current_version(cluster_version),
                operators=self._operators.objects(),
                gates=self._data(self._gates, (GATES, GATES_NAMESPACE)),
                acks=self._data(self._acks, (ACKS, ACKS_NAMESPACE)),
                deletions=self._deletions(),
            )
        )

    def put_into(self, found: Found, status: dict[str, Any], now: datetime) -> dict[str, Any]:
        """A new status with the condition."""
        conditions = ConditionList.of(status.get("conditions") or (), now)
        set_upgradeable(conditions, upgradeable(found))
        return {**status, "conditions": conditions.conditions}

    def _data(self, store: Store[KubeObject], place: tuple[str, str]) -> dict[str, str] | None:
        manifests = (each.object for each in self._applied().manifests)
        return known_data(place, store.get(*place), manifests)
