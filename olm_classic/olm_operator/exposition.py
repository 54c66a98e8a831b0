"""The metrics of olm-operator: upstream's by their names, and those of every controller. Pure.

A ClusterServiceVersion has those of its present phase only, and none once it is gone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric

from api.objects import KubeObject, name_of, namespace_of
from olm_classic.csv.phases import Phase
from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import Labels, gauge
from olm_runtime.metrics.queue_meter import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Present values.

    csvs      the ClusterServiceVersions that are no copies
    upgrades  of them since the program began
    queues    by the controller's name
    answers   of the API server, by method and code
    lease     the name of the lease; `leading` whether this process holds it
    now       on the clock of the queues, in seconds
    """

    csvs: Sequence[KubeObject] = ()
    upgrades: int = 0
    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lease: str = ""
    leading: bool = False
    now: float = 0.0


def families(readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    yield gauge(
        "csv_count",
        "ClusterServiceVersions that are no copies.",
        [({}, len(readings.csvs))] if readings.leading else [],
    )
    yield gauge(
        "csv_succeeded",
        "1 if a ClusterServiceVersion has succeeded, 0 if not.",
        ((_names(csv), int(_phase(csv) == Phase.SUCCEEDED)) for csv in readings.csvs),
    )
    yield gauge(
        "csv_abnormal",
        "1 for a ClusterServiceVersion that has not succeeded, with its phase and the reason.",
        _abnormal(readings.csvs),
    )
    # A count, though upstream's name for it has no `_total`, which a counter's must have.
    yield gauge(
        "csv_upgrade_count",
        "ClusterServiceVersions that were replaced since the program began.",
        [({}, readings.upgrades)],
    )
    yield from of_controllers(readings.queues, readings.now)
    yield of_client(readings.answers)
    yield of_lease(readings.lease, leading=readings.leading)


def _abnormal(csvs: Iterable[KubeObject]) -> Iterator[tuple[Labels, float]]:
    for csv in csvs:
        if _phase(csv) != Phase.SUCCEEDED:
            reason = str((csv.get("status") or {}).get("reason") or "")
            yield {**_names(csv), "phase": _phase(csv), "reason": reason}, 1


def _names(csv: KubeObject) -> Labels:
    version = str(csv["spec"].get("version") or "")
    return {"namespace": namespace_of(csv), "name": name_of(csv), "version": version}


def _phase(csv: KubeObject) -> str:
    return str((csv.get("status") or {}).get("phase") or "")
