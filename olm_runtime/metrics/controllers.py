"""Metrics of controllers, by the names of controller-runtime and client-go. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric

from olm_runtime.metrics.exposition import Family, counter, families_of, gauge, histogram
from olm_runtime.metrics.queue_meter import Queue, QueueMeter, Result


@dataclass(frozen=True, slots=True)
class _Reading:
    """A queue, and the seconds for which its keys in flight have been handled."""

    queue: Queue
    running: list[float]

    @property
    def meter(self) -> QueueMeter:
        return self.queue.meter


_QUEUES: tuple[Family[_Reading], ...] = (
    Family(gauge, "workqueue_depth", "Keys that wait in the work queue.", lambda r: r.meter.depth),
    Family(
        counter,
        "workqueue_adds_total",
        "Keys that were added to the work queue.",
        lambda r: r.meter.adds,
    ),
    Family(
        counter,
        "workqueue_retries_total",
        "Keys that were requeued after an error.",
        lambda r: r.meter.retries,
    ),
    Family(
        gauge,
        "workqueue_unfinished_work_seconds",
        "Seconds that the running reconciles have taken so far, summed.",
        lambda r: sum(r.running),
    ),
    Family(
        gauge,
        "workqueue_longest_running_processor_seconds",
        "Seconds that the longest of the running reconciles has taken so far.",
        lambda r: max(r.running, default=0.0),
    ),
    Family(
        histogram,
        "workqueue_queue_duration_seconds",
        "Time that keys waited in the work queue.",
        lambda r: r.meter.waited,
    ),
)

_RECONCILES: tuple[Family[_Reading], ...] = (
    Family(
        counter,
        "controller_runtime_reconcile_errors_total",
        "Reconciles that ended in an error.",
        lambda r: r.meter.results[Result.ERROR],
    ),
    Family(
        counter,
        "controller_runtime_terminal_reconcile_errors_total",
        "Reconciles that ended in a terminal error: they are not retried.",
        lambda r: r.meter.blocked,
    ),
    Family(
        histogram,
        "controller_runtime_reconcile_time_seconds",
        "Time that reconciles took.",
        lambda r: r.meter.worked,
    ),
    Family(
        gauge,
        "controller_runtime_active_workers",
        "Workers that reconcile a key, prompt and slow ones.",
        lambda r: r.meter.active,
    ),
    Family(
        gauge,
        "controller_runtime_max_concurrent_reconciles",
        "Prompt workers, at most.",
        lambda r: r.queue.workers,
    ),
)


def of_controllers(queues: Mapping[str, Queue], now: float) -> Iterator[Metric]:
    """The metrics of work queues, by the name of their controller; `now` is on their clock."""
    readings = [
        (name, _Reading(queue, queue.meter.running_seconds(now))) for name, queue in queues.items()
    ]
    yield from families_of(_QUEUES, [({"name": n, "controller": n}, r) for n, r in readings])
    yield counter(
        "controller_runtime_reconcile_total",
        "Reconciles, by how they ended.",
        (
            ({"controller": name, "result": result.value}, reading.meter.results[result])
            for name, reading in readings
            for result in Result
        ),
    )
    yield from families_of(_RECONCILES, [({"controller": n}, r) for n, r in readings])


def of_client(answers: Mapping[tuple[str, str], int]) -> Metric:
    """The answers of the API server, by method and code."""
    return counter(
        "rest_client_requests_total",
        "Requests to the API server, by method and status code; a watch is one.",
        (
            ({"code": code, "method": method}, count)
            for (method, code), count in sorted(answers.items())
        ),
    )


def of_lease(name: str, *, leading: bool) -> Metric:
    """Whether this process holds a lease."""
    text = "1 if this process leads."
    return gauge("leader_election_master_status", text, [({"name": name}, int(leading))])
