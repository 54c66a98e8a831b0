"""The metrics of olm-operator: upstream's by their names, and those of every controller. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric

from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import counter
from olm_runtime.metrics.queue_meter import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Present values.

    upgrades  of ClusterServiceVersions since the program began
    queues    by the controller's name
    answers   of the API server, by method and code
    lease     the name of the lease; `leading` whether this process holds it
    now       on the clock of the queues, in seconds
    """

    upgrades: int = 0
    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lease: str = ""
    leading: bool = False
    now: float = 0.0


def families(readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    yield counter(
        "csv_upgrade_count",
        "Upgrades of ClusterServiceVersions.",
        [({}, readings.upgrades)],
    )
    yield from of_controllers(readings.queues, readings.now)
    yield of_client(readings.answers)
    yield of_lease(readings.lease, leading=readings.leading)
