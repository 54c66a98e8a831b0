"""What operator-controller counts, and how it is told. Pure.

Names are controller-runtime's, client-go's and leader election's where they mean the same. What is
told of an extension is bounded by the types of conditions and their reasons, and goes with it.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from api.v1.clusterextension import BundleMetadata, ClusterExtensionStatus
from api.v1.conditions import Condition, ConditionStatus, ConditionType, Reason
from olm_shared.exposition import family, histogram_samples, sample
from olm_shared.queue_meter import QueueMeter, Result

EXTENSION = "operator_controller_extension_"


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

        None where it was cut short, so that its time says nothing.
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


@dataclass(frozen=True, slots=True)
class Queue:
    """A work queue and how many prompt keys it handles at a time."""

    meter: QueueMeter
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Everything that is told beside the extensions, as it is now.

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


def exposition(metrics: Metrics, readings: Readings) -> str:
    """All metrics as text."""
    lines = (*_extensions(metrics), *_queues(readings), *_reconciles(readings), *_rest(readings))
    return "\n".join(lines) + "\n"


def _extensions(metrics: Metrics) -> Iterator[str]:
    extensions = sorted(metrics.extensions.items())
    name = EXTENSION + "condition"
    yield from family(name, "gauge", "1 for each condition of the extension, as it is now.")
    for extension, counts in extensions:
        for c in counts.conditions:
            labels = {"extension": extension, "type": c.type}
            yield sample(name, {**labels, "status": c.status.value, "reason": c.reason}, 1)
    name = EXTENSION + "installed_info"
    yield from family(name, "gauge", "1 for the bundle that is installed.")
    for extension, counts in extensions:
        if counts.installed is not None:
            bundle = {"bundle": counts.installed.name, "version": counts.installed.version}
            yield sample(name, {"extension": extension, **bundle}, 1)
    name = EXTENSION + "last_success_timestamp_seconds"
    yield from family(
        name, "gauge", "When the desired state was last seen; its age is the time since."
    )
    for extension, counts in extensions:
        if counts.last_success is not None:
            yield sample(name, {"extension": extension}, round(counts.last_success, 3))
    name = EXTENSION + "errors_total"
    yield from family(name, "counter", "Reconciles that ended in a fault, by Progressing's reason.")
    for extension, counts in extensions:
        for reason, count in sorted(counts.errors.items()):
            yield sample(name, {"extension": extension, "reason": reason}, count)
    name = EXTENSION + "reconcile_duration_seconds"
    yield from family(name, "gauge", "Time that the last reconcile took.")
    for extension, counts in extensions:
        yield sample(name, {"extension": extension}, round(counts.last_seconds, 6))


def _queues(readings: Readings) -> Iterator[str]:
    queues = [({"name": name, "controller": name}, q.meter) for name, q in readings.queues.items()]
    now = readings.now
    yield from family("workqueue_depth", "gauge", "Keys that wait to be handled.")
    yield from (sample("workqueue_depth", who, meter.depth) for who, meter in queues)
    yield from family("workqueue_adds_total", "counter", "Keys that were added.")
    yield from (sample("workqueue_adds_total", who, meter.adds) for who, meter in queues)
    yield from family("workqueue_retries_total", "counter", "Keys to be tried again after a fault.")
    yield from (sample("workqueue_retries_total", who, meter.retries) for who, meter in queues)
    name = "workqueue_unfinished_work_seconds"
    yield from family(name, "gauge", "For how long all keys in flight have been handled, summed.")
    yield from (sample(name, who, sum(meter.running_seconds(now))) for who, meter in queues)
    name = "workqueue_longest_running_processor_seconds"
    yield from family(name, "gauge", "For how long the key longest in flight has been handled.")
    for who, meter in queues:
        yield sample(name, who, max(meter.running_seconds(now), default=0.0))
    name = "workqueue_queue_duration_seconds"
    yield from family(name, "histogram", "Time that keys waited to be handled.")
    for who, meter in queues:
        yield from histogram_samples(name, who, meter.waited)


def _reconciles(readings: Readings) -> Iterator[str]:
    queues = [({"controller": name}, queue) for name, queue in readings.queues.items()]
    prefix = "controller_runtime_"
    name = prefix + "reconcile_total"
    yield from family(name, "counter", "Reconciles, by how they ended.")
    for who, queue in queues:
        for result in Result:
            yield sample(name, {**who, "result": result.value}, queue.meter.results[result])
    name = prefix + "reconcile_errors_total"
    yield from family(name, "counter", "Reconciles that ended in a fault.")
    for who, queue in queues:
        yield sample(name, who, queue.meter.results[Result.ERROR])
    name = prefix + "terminal_reconcile_errors_total"
    yield from family(name, "counter", "Those of them that only a person can help.")
    yield from (sample(name, who, queue.meter.blocked) for who, queue in queues)
    name = prefix + "reconcile_time_seconds"
    yield from family(name, "histogram", "Time that reconciles took.")
    for who, queue in queues:
        yield from histogram_samples(name, who, queue.meter.worked)
    name = prefix + "active_workers"
    yield from family(name, "gauge", "Keys in flight, prompt and slow.")
    yield from (sample(name, who, queue.meter.active) for who, queue in queues)
    name = prefix + "max_concurrent_reconciles"
    yield from family(name, "gauge", "Prompt keys that are handled at a time, at most.")
    yield from (sample(name, who, queue.workers) for who, queue in queues)


def _rest(readings: Readings) -> Iterator[str]:
    name = "rest_client_requests_total"
    yield from family(name, "counter", "Answers of the API server; a watch is one.")
    for (method, code), count in sorted(readings.answers.items()):
        yield sample(name, {"code": code, "method": method}, count)
    name = "operator_controller_catalog_lookups_total"
    yield from family(name, "counter", "Packages looked up in catalogs; a hit asked nobody.")
    for result, count in sorted(readings.lookups.items()):
        yield sample(name, {"result": result}, count)
    there, broken = readings.watches
    yield from family("operator_controller_watches", "gauge", "Watches of what extensions manage.")
    yield sample("operator_controller_watches", {}, there)
    name = "operator_controller_watches_broken"
    yield from family(name, "gauge", "Those of them that do not run; see the conditions.")
    yield sample(name, {}, broken)
    name = "leader_election_master_status"
    yield from family(name, "gauge", "1 if this process leads.")
    yield sample(name, {"name": readings.lease}, int(readings.leading))
