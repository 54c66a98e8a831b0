"""The metrics of operator-controller. Pure.

Names are controller-runtime's, client-go's and leader election's where they mean the same. What
there is of an extension is bounded by the types of conditions and their reasons, and goes with it.
"""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import Family, counter, families_of, gauge
from operator_controller.metrics import ExtensionCounts, Metrics, Readings

EXTENSION = "operator_controller_extension_"

_EXTENSION: tuple[Family[ExtensionCounts], ...] = (
    Family(
        gauge,
        EXTENSION + "last_success_timestamp_seconds",
        "When the desired state was last seen; its age is the time since.",
        lambda counts: None if counts.last_success is None else round(counts.last_success, 3),
    ),
    Family(
        gauge,
        EXTENSION + "reconcile_duration_seconds",
        "Time that the last reconcile took.",
        lambda counts: round(counts.last_seconds, 6),
    ),
)


def families(metrics: Metrics, readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    yield from _extensions(metrics)
    yield from of_controllers(readings.queues, readings.now)
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
    yield counter(
        EXTENSION + "errors_total",
        "Reconciles that ended in an error, by the reason of Progressing.",
        (
            ({**who, "reason": reason}, count)
            for who, counts in extensions
            for reason, count in sorted(counts.errors.items())
        ),
    )
    yield from families_of(_EXTENSION, extensions)


def _rest(readings: Readings) -> Iterator[Metric]:
    yield of_client(readings.answers)
    yield counter(
        "operator_controller_catalog_lookups_total",
        "Packages looked up in catalogs; a hit is answered from memory.",
        (({"result": result}, count) for result, count in sorted(readings.lookups.items())),
    )
    there, broken = readings.watches
    yield gauge("operator_controller_watches", "Watches of what extensions manage.", [({}, there)])
    yield gauge(
        "operator_controller_watches_broken",
        "Those of them that do not run; see the conditions.",
        [({}, broken)],
    )
    yield of_lease(readings.lease, leading=readings.leading)
