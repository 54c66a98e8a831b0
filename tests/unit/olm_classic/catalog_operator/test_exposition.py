"""The metrics of catalog-operator, as Prometheus reads them."""

from collections.abc import Iterable

from prometheus_client.parser import text_string_to_metric_families as parse

from api.objects import KubeObject
from olm_classic.catalog_operator.exposition import families
from olm_classic.kinds import CATALOG_SOURCE, INSTALL_PLAN, SUBSCRIPTION
from olm_classic.metrics import Metrics, Readings, ResolutionOutcome, is_ready
from olm_runtime.metrics.exposition import written

Sample = tuple[tuple[tuple[str, str], ...], float]


def samples(metrics: Metrics, name: str, **readings: object) -> list[Sample]:
    page = written(families(metrics, Readings(**readings))).decode()  # type: ignore[arg-type]
    return [
        (tuple(sorted(sample.labels.items())), sample.value)
        for family in parse(page)
        for sample in family.samples
        if sample.name == name
    ]


def labelled(value: float, **labels: str) -> Sample:
    return tuple(sorted(labels.items())), value


def subscription(installed: str, channel: str = "stable", approval: str = "Manual") -> KubeObject:
    spec = {"name": "etcd", "channel": channel, "installPlanApproval": approval}
    return {"spec": spec, "status": {"installedCSV": installed}}


def sync(value: float, installed: str, channel: str = "stable") -> Sample:
    return labelled(
        value,
        name="my-etcd",
        installed=installed,
        channel=channel,
        package="etcd",
        approval="Manual",
    )


def synced(metrics: Metrics) -> list[Sample]:
    return samples(metrics, "subscription_sync_total")


def test_objects_are_counted_by_kind() -> None:
    objects = {CATALOG_SOURCE: 4, INSTALL_PLAN: 2, SUBSCRIPTION: 3}
    names = ("catalog_source_count", "install_plan_count", "subscription_count")
    found = [samples(Metrics(), name, objects=objects) for name in names]
    assert found == [[((), 4.0)], [((), 2.0)], [((), 3.0)]]


def test_a_replica_that_waits_counts_no_objects() -> None:
    assert samples(Metrics(), "subscription_count") == []


def test_each_catalog_is_ready_or_not() -> None:
    ready = {("olm", "community"): True, ("team", "own"): False}
    assert samples(Metrics(), "catalogsource_ready", catalogs_ready=ready) == [
        labelled(1.0, namespace="olm", name="community"),
        labelled(0.0, namespace="team", name="own"),
    ]


def test_ready_is_what_the_connection_says() -> None:
    def with_state(state: str) -> KubeObject:
        return {"status": {"connectionState": {"lastObservedState": state}}}

    assert is_ready(with_state("READY"))
    assert not is_ready(with_state("TRANSIENT_FAILURE"))
    assert not is_ready({})


def test_snapshots_are_counted_by_catalog_until_it_is_gone() -> None:
    metrics = Metrics()
    metrics.snapshots["olm", "community"] += 2
    name = "catalog_source_snapshots_total"
    assert samples(metrics, name) == [labelled(2.0, namespace="olm", name="community")]
    metrics.catalog_gone(("olm", "community"))
    assert samples(metrics, name) == []


def test_labels_of_a_subscription_that_changed_are_gone_with_their_count() -> None:
    metrics, key = Metrics(), ("team", "my-etcd")
    for _ in range(3):
        metrics.subscription_synced(key, subscription("etcd.v1"))
    assert synced(metrics) == [sync(3.0, "etcd.v1")]
    metrics.subscription_synced(key, subscription("etcd.v2"))
    assert synced(metrics) == [sync(1.0, "etcd.v2")]
    metrics.subscription_synced(key, subscription("etcd.v2", channel="beta"))
    assert synced(metrics) == [sync(1.0, "etcd.v2", "beta")]
    metrics.subscription_gone(key)
    assert synced(metrics) == []


def test_subscriptions_that_differ_by_namespace_alone_are_counted_together() -> None:
    metrics = Metrics()
    for namespace in ("a", "b"):
        metrics.subscription_synced((namespace, "my-etcd"), subscription("etcd.v1"))
    assert synced(metrics) == [sync(2.0, "etcd.v1")]


def quantiles(found: Iterable[Sample], outcome: str) -> list[float]:
    return [value for labels, value in found if dict(labels)["outcome"] == outcome]


def test_resolutions_have_quantiles_by_outcome_of_the_last_ten_minutes() -> None:
    metrics, name = Metrics(), "olm_resolution_duration_seconds"
    metrics.resolved(ResolutionOutcome.SUCCEEDED, 99.0, now=0.0)
    for hundredth in range(1, 101):
        metrics.resolved(ResolutionOutcome.SUCCEEDED, hundredth / 100, now=700.0)
    found = samples(metrics, name, now=700.0)
    assert quantiles(found, "succeeded") == [0.9, 0.95, 0.99]
    assert all(value != value for value in quantiles(found, "failed"))
    assert quantiles(samples(metrics, f"{name}_count", now=700.0), "succeeded") == [101.0]


def test_warnings_are_counted() -> None:
    metrics = Metrics()
    metrics.warnings += 2
    assert samples(metrics, "installplan_warnings_total") == [((), 2.0)]
