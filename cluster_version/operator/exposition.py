"""The metrics of cluster-version-operator: upstream's by their names, and those of controllers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric

from api.objects import KubeObject
from cluster_version.metrics import updates
from cluster_version.metrics.operators import Transitions, conditions, operators_up
from cluster_version.metrics.versions import version_times
from cluster_version.payload.release import Release
from olm_runtime.metrics.controllers import of_client, of_controllers, of_lease
from olm_runtime.metrics.exposition import gauge
from olm_runtime.metrics.queue_meter import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Present values.

    version          of the release that is applied, with how many of its manifests are applied
    own              the release of this program; None while it was not read
    created          when the payload of that was made
    cluster_version  None if there is none
    operators        the ClusterOperators
    transitions      of their conditions
    failures         tries to apply a manifest that failed, by the release's version
    retrieved        when updates were asked for last with success, or what to ask changed;
                     in seconds since the epoch, None if never
    update_service   asked in place of what the ClusterVersion names; empty for that
    installers       the ConfigMaps that installers leave, by name
    queues           by the controller's name
    answers          of the API server, by method and code
    lease            the name of the lease; `leading` whether this process holds it
    now              on the clock of the queues, in seconds
    """

    own: Release | None = None
    created: str = ""
    cluster_version: KubeObject | None = None
    operators: Sequence[KubeObject] = ()
    transitions: Transitions = field(default_factory=Transitions)
    failures: Mapping[str, int] = field(default_factory=dict)
    retrieved: float | None = None
    update_service: str = ""
    installers: Mapping[str, KubeObject] = field(default_factory=dict)
    version: str = ""
    applied: int = 0
    total: int = 0
    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lease: str = ""
    leading: bool = False
    now: float = 0.0


def families(readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now; of the cluster only what the leader sees."""
    yield from _of_cluster(readings)
    yield from _of_updates(readings)
    yield from _of_payload(readings)
    yield from of_controllers(readings.queues, readings.now)
    yield of_client(readings.answers)
    yield of_lease(readings.lease, leading=readings.leading)


def _of_cluster(readings: Readings) -> Iterator[Metric]:
    own, found, operators = readings.own, readings.cluster_version, readings.operators
    yield gauge(
        "cluster_version",
        "When a release came to be what its type says of the cluster, since the epoch.",
        () if own is None else version_times(found, own, readings.created),
    )
    yield gauge(
        "cluster_operator_up",
        "1 for a ClusterOperator with Available=True, 0 for others, with the reason.",
        operators_up(found, operators) if readings.leading else (),
    )
    yield gauge(
        "cluster_operator_conditions",
        "1 for a condition of a ClusterOperator that is True, 0 for one that is False.",
        conditions(found, operators) if readings.leading else (),
    )
    # Counts, though upstream's names for them have no `_total`, which a counter's must have.
    yield gauge(
        "cluster_operator_condition_transitions",
        "How often a condition of a ClusterOperator changed its status.",
        readings.transitions.samples(),
    )
    yield gauge(
        "cluster_installer",
        "1 for what installed the cluster.",
        updates.installer(readings.installers) if readings.leading else (),
    )


def _of_updates(readings: Readings) -> Iterator[Metric]:
    found = readings.cluster_version
    yield gauge(
        "cluster_version_available_updates",
        "Updates that are available from an update service in a channel.",
        () if found is None else updates.available_updates(found, readings.update_service),
    )
    yield gauge(
        "cluster_version_capability",
        "1 for a capability of the cluster that is enabled, 0 for another one that is known.",
        () if found is None else updates.capabilities(found),
    )
    yield gauge(
        "cluster_version_conditional_update_condition_seconds",
        "When it last changed whether a conditional update is recommended, since the epoch.",
        () if found is None else updates.recommended_since(found),
    )
    yield gauge(
        "cluster_version_risk_conditions",
        "1 for a risk that applies to the cluster, 0 for one that does not, -1 if not known.",
        () if found is None else updates.risks(found),
    )
    retrieved = readings.retrieved
    yield gauge(
        "cluster_version_operator_update_retrieval_timestamp_seconds",
        "When updates were last asked for with success, since the epoch.",
        [] if retrieved is None else [({"name": ""}, retrieved)],
    )


def _of_payload(readings: Readings) -> Iterator[Metric]:
    counts = {"pending": readings.total - readings.applied, "applied": readings.applied}
    yield gauge(
        "cluster_version_payload",
        "Manifests of the release that are applied, and those that are not yet.",
        [
            ({"version": readings.version, "type": kind}, count)
            for kind, count in counts.items()
            if readings.total
        ],
    )
    yield gauge(
        "cluster_operator_payload_errors",
        "Tries to apply a manifest of a release that failed.",
        (({"version": version}, count) for version, count in readings.failures.items()),
    )
