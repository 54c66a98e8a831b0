"""The metrics of catalog-operator: upstream's by their names, and those of every controller. Pure.

What there is of an object goes with it.
"""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from olm_classic.catalog_operator.metrics import Readings
from olm_classic.kinds import CATALOG_SOURCE, INSTALL_PLAN, SUBSCRIPTION
from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import gauge

_COUNTS = {
    CATALOG_SOURCE: ("catalog_source_count", "Catalog sources."),
    INSTALL_PLAN: ("install_plan_count", "Install plans."),
    SUBSCRIPTION: ("subscription_count", "Subscriptions."),
}


def families(readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    for kind, (name, text) in _COUNTS.items():
        count = readings.objects.get(kind)
        yield gauge(name, text, [] if count is None else [({}, count)])
    yield from of_controllers(readings.queues, readings.now)
    yield of_client(readings.answers)
    yield of_lease(readings.lease, leading=readings.leading)
