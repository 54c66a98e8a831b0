"""What catalog-operator counts. Pure; `exposition` makes families of metrics of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from api.objects import GVK, KubeObject
from olm_runtime.metrics.queue_meter import Queue
from olm_runtime.metrics.summary import Summary

Key = tuple[str, str]
"""Namespace and name."""
SyncLabels = tuple[str, str, str, str, str]
"""Of a Subscription: its name, the installed version, channel, package and approval."""


class ResolutionOutcome(StrEnum):
    """How a resolution ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(slots=True)
class Metrics:
    """Counts since the program began.

    snapshots         of the content of catalogs, by catalog
    resolutions       their durations in seconds
    warnings          of the API server at steps of install plans
    """

    snapshots: Counter[Key] = field(default_factory=Counter)
    resolutions: dict[ResolutionOutcome, Summary] = field(
        default_factory=lambda: {outcome: Summary() for outcome in ResolutionOutcome}
    )
    warnings: int = 0
    _syncs: dict[Key, tuple[SyncLabels, int]] = field(default_factory=dict)

    def resolved(self, outcome: ResolutionOutcome, seconds: float, now: float) -> None:
        """A resolution ended at `now`, on the clock of the queues, and took so long."""
        self.resolutions[outcome].observe(seconds, now)

    def subscription_synced(self, key: Key, subscription: KubeObject) -> None:
        """A Subscription was looked at; with other labels it is counted from the beginning."""
        labels = sync_labels(key[1], subscription)
        before, count = self._syncs.get(key, (labels, 0))
        self._syncs[key] = labels, count + 1 if before == labels else 1

    def subscription_gone(self, key: Key) -> None:
        """A Subscription does not exist any more."""
        self._syncs.pop(key, None)

    def catalog_gone(self, key: Key) -> None:
        """A catalog does not exist any more."""
        self.snapshots.pop(key, None)

    def syncs(self) -> Counter[SyncLabels]:
        """By their labels, which Subscriptions of several namespaces may share."""
        sums: Counter[SyncLabels] = Counter()
        for labels, count in self._syncs.values():
            sums[labels] += count
        return sums


def sync_labels(name: str, subscription: KubeObject) -> SyncLabels:
    """What names a Subscription in `subscription_sync_total`."""
    spec, status = subscription.get("spec") or {}, subscription.get("status") or {}
    return (
        name,
        status.get("installedCSV") or "",
        spec.get("channel") or "",
        spec.get("name") or "",
        spec.get("installPlanApproval") or "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Present values.

    objects         how many there are of a kind
    catalogs_ready  whether there is a connection to a catalog
    queues          by the controller's name
    answers         of the API server, by method and code
    lease           the name of the lease; `leading` whether this process holds it
    now             on the clock of the queues, in seconds
    """

    objects: Mapping[GVK, int] = field(default_factory=dict)
    catalogs_ready: Mapping[Key, bool] = field(default_factory=dict)
    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lease: str = ""
    leading: bool = False
    now: float = 0.0


def is_ready(catalog: KubeObject) -> bool:
    """Whether a CatalogSource says that there is a connection to it."""
    state = (catalog.get("status") or {}).get("connectionState") or {}
    return bool(state.get("lastObservedState") == "READY")
