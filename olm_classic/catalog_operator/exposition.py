"""The metrics of catalog-operator: upstream's by their names, and those of every controller. Pure.

What there is of an object goes with it, and what its labels were when they change.
"""

from collections.abc import Iterator, Mapping

from prometheus_client.metrics_core import Metric

from olm_classic.kinds import CATALOG_SOURCE, INSTALL_PLAN, SUBSCRIPTION
from olm_classic.metrics import Key, Metrics, Readings
from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import Labels, counter, gauge, summary

_COUNTS = {
    CATALOG_SOURCE: ("catalog_source_count", "Catalog sources."),
    INSTALL_PLAN: ("install_plan_count", "Install plans."),
    SUBSCRIPTION: ("subscription_count", "Subscriptions."),
}
_SYNC_LABELS = ("name", "installed", "channel", "package", "approval")


def families(metrics: Metrics, readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    for kind, (name, text) in _COUNTS.items():
        count = readings.objects.get(kind)
        yield gauge(name, text, [] if count is None else [({}, count)])
    yield from _catalogs(metrics, readings.catalogs_ready)
    yield counter(
        "subscription_sync_total",
        "Looks at a Subscription.",
        (
            (dict(zip(_SYNC_LABELS, labels, strict=True)), count)
            for labels, count in sorted(metrics.syncs().items())
        ),
    )
    yield summary(
        "olm_resolution_duration_seconds",
        "Time that the resolution of a namespace took.",
        (({"outcome": outcome.value}, each) for outcome, each in metrics.resolutions.items()),
        now=readings.now,
    )
    yield counter(
        "installplan_warnings_total",
        "Steps of install plans that the API server warned about.",
        [({}, metrics.warnings)],
    )
    yield from of_controllers(readings.queues, readings.now)
    yield of_client(readings.answers)
    yield of_lease(readings.lease, leading=readings.leading)


def _catalogs(metrics: Metrics, ready: Mapping[Key, bool]) -> Iterator[Metric]:
    yield gauge(
        "catalogsource_ready",
        "1 while there is a connection to the catalog.",
        ((_names(key), int(is_ready)) for key, is_ready in sorted(ready.items())),
    )
    yield counter(
        "catalog_source_snapshots_total",
        "Times that the content of a catalog was read.",
        ((_names(key), count) for key, count in sorted(metrics.snapshots.items())),
    )


def _names(key: Key) -> Labels:
    return dict(zip(("namespace", "name"), key, strict=True))
