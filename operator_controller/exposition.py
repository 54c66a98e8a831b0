"""The metrics of operator-controller. Pure.

Names are controller-runtime's, client-go's and leader election's where they mean the same. What
there is of an extension is bounded by the types of conditions and their reasons, and goes with it.
"""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from olm_runtime.metrics.exposition import counter, gauge, histogram
from olm_runtime.metrics.queue_meter import Result
from operator_controller.metrics import Metrics, Readings

EXTENSION = "operator_controller_extension_"


def families(metrics: Metrics, readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    yield from _extensions(metrics)
    yield from _queues(readings)
    yield from _reconciles(readings)
    yield from _rest(readings)


def _extensions(metrics: Metrics) -> Iterator[Metric]:
    extensions = [({"extension": name}, c) for name, c in sorted(metrics.extensions.items())]
    yield gauge(
        EXTENSION + "condition",
        "1 for each condition of the extension, as it is now.",
        (
            ({**who, "type": c.type, "status": c.status.value, "reason": c.reason}, 1)
            for who, counts in extensions
            for c in counts.conditions
        ),
    )
    yield gauge(
        EXTENSION + "installed_info",
        "1 for the bundle that is installed.",
        (
            ({**who, "bundle": counts.installed.name, "version": counts.installed.version}, 1)
            for who, counts in extensions
            if counts.installed is not None
        ),
    )
    yield gauge(
        EXTENSION + "last_success_timestamp_seconds",
        "When the desired state was last seen; its age is the time since.",
        (
            (who, round(counts.last_success, 3))
            for who, counts in extensions
            if counts.last_success is not None
        ),
    )
    yield counter(
        EXTENSION + "errors_total",
        "Reconciles that ended in a fault, by Progressing's reason.",
        (
            ({**who, "reason": reason}, count)
            for who, counts in extensions
            for reason, count in sorted(counts.errors.items())
        ),
    )
    yield gauge(
        EXTENSION + "reconcile_duration_seconds",
        "Time that the last reconcile took.",
        ((who, round(counts.last_seconds, 6)) for who, counts in extensions),
    )


def _queues(readings: Readings) -> Iterator[Metric]:
    queues = [({"name": name, "controller": name}, q.meter) for name, q in readings.queues.items()]
    running = [(who, meter.running_seconds(readings.now)) for who, meter in queues]
    yield gauge(
        "workqueue_depth",
        "Keys that wait to be handled.",
        ((who, meter.depth) for who, meter in queues),
    )
    yield counter(
        "workqueue_adds_total",
        "Keys that were added.",
        ((who, meter.adds) for who, meter in queues),
    )
    yield counter(
        "workqueue_retries_total",
        "Keys to be tried again after a fault.",
        ((who, meter.retries) for who, meter in queues),
    )
    yield gauge(
        "workqueue_unfinished_work_seconds",
        "For how long all keys in flight have been handled, summed.",
        ((who, sum(seconds)) for who, seconds in running),
    )
    yield gauge(
        "workqueue_longest_running_processor_seconds",
        "For how long the key longest in flight has been handled.",
        ((who, max(seconds, default=0.0)) for who, seconds in running),
    )
    yield histogram(
        "workqueue_queue_duration_seconds",
        "Time that keys waited to be handled.",
        ((who, meter.waited) for who, meter in queues),
    )


def _reconciles(readings: Readings) -> Iterator[Metric]:
    queues = [({"controller": name}, queue) for name, queue in readings.queues.items()]
    prefix = "controller_runtime_"
    yield counter(
        prefix + "reconcile_total",
        "Reconciles, by how they ended.",
        (
            ({**who, "result": result.value}, queue.meter.results[result])
            for who, queue in queues
            for result in Result
        ),
    )
    yield counter(
        prefix + "reconcile_errors_total",
        "Reconciles that ended in a fault.",
        ((who, queue.meter.results[Result.ERROR]) for who, queue in queues),
    )
    yield counter(
        prefix + "terminal_reconcile_errors_total",
        "Those of them that only a person can help.",
        ((who, queue.meter.blocked) for who, queue in queues),
    )
    yield histogram(
        prefix + "reconcile_time_seconds",
        "Time that reconciles took.",
        ((who, queue.meter.worked) for who, queue in queues),
    )
    yield gauge(
        prefix + "active_workers",
        "Keys in flight, prompt and slow.",
        ((who, queue.meter.active) for who, queue in queues),
    )
    yield gauge(
        prefix + "max_concurrent_reconciles",
        "Prompt keys that are handled at a time, at most.",
        ((who, queue.workers) for who, queue in queues),
    )


def _rest(readings: Readings) -> Iterator[Metric]:
    yield counter(
        "rest_client_requests_total",
        "Answers of the API server; a watch is one.",
        (
            ({"code": code, "method": method}, count)
            for (method, code), count in sorted(readings.answers.items())
        ),
    )
    yield counter(
        "operator_controller_catalog_lookups_total",
        "Packages looked up in catalogs; a hit asked nobody.",
        (({"result": result}, count) for result, count in sorted(readings.lookups.items())),
    )
    there, broken = readings.watches
    yield gauge("operator_controller_watches", "Watches of what extensions manage.", [({}, there)])
    yield gauge(
        "operator_controller_watches_broken",
        "Those of them that do not run; see the conditions.",
        [({}, broken)],
    )
    yield gauge(
        "leader_election_master_status",
        "1 if this process leads.",
        [({"name": readings.lease}, int(readings.leading))],
    )
