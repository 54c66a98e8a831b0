"""What operator-controller counts. Pure; `exposition` makes families of metrics of it."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clusterextension import BundleMetadata, ClusterExtensionStatus
from api.olm.v1.conditions import ConditionType, Reason
from olm_runtime.metrics.queue_meter import Queue


@dataclass(slots=True)
class ExtensionCounts:
    """Of one extension: what its status says, what went wrong, when it was well (epoch seconds)."""

    conditions: tuple[Condition, ...] = ()
    installed: BundleMetadata | None = None
    errors: Counter[str] = field(default_factory=Counter)
    last_success: float | None = None
    last_seconds: float = 0.0


@dataclass(slots=True)
class Metrics:
    """Counts of all extensions."""

    extensions: dict[str, ExtensionCounts] = field(default_factory=dict)

    def observe(
        self,
        name: str,
        status: ClusterExtensionStatus,
        *,
        now: float,
        seconds: float | None = None,
    ) -> None:
        """A reconcile ended with this status at `now` seconds of the epoch, and took `seconds`.

        None where it was cut short, so that its time means nothing.
        """
        counts = self.extensions.setdefault(name, ExtensionCounts())
        counts.conditions = status.conditions
        if seconds is not None:
            counts.last_seconds = seconds
        counts.installed = status.install.bundle if status.install else None
        found = next((c for c in status.conditions if c.type == ConditionType.PROGRESSING), None)
        if found is None:
            return
        if found.reason == Reason.SUCCEEDED:
            counts.last_success = now
        elif found.status is ConditionStatus.FALSE or found.reason == Reason.RETRYING:
            counts.errors[found.reason] += 1

    def forget(self, name: str) -> None:
        """The extension is gone."""
        self.extensions.pop(name, None)

    def keep(self, names: Collection[str]) -> None:
        """Forgets the extensions that do not exist any more."""
        for gone in self.extensions.keys() - set(names):
            del self.extensions[gone]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """All present values except those of extensions.

    queues    by the controller's name
    answers   of the API server, by method and code
    lookups   of packages in catalogs, by whether they were known
    watches   of objects that extensions manage, and how many of them do not run
    lease     the name of the lease; `leading` whether this process holds it
    now       on the clock of the queues, in seconds
    """

    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lookups: Mapping[str, int] = field(default_factory=dict)
    watches: tuple[int, int] = (0, 0)
    lease: str = ""
    leading: bool = False
    now: float = 0.0
