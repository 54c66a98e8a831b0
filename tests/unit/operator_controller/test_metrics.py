"""What is told of extensions and of the work on them, in Prometheus' text format."""

import re

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clusterextension import BundleMetadata, ClusterExtensionStatus, InstallStatus
from olm_runtime.metrics.exposition import written
from olm_runtime.metrics.queue_meter import Queue, QueueMeter
from olm_runtime.outcome import Done, Outcome, Retry
from operator_controller.exposition import families
from operator_controller.metrics import Metrics, Readings


def exposition(metrics: Metrics, readings: Readings) -> str:
    return written(families(metrics, readings)).decode()


def status(reason: str, progressing: str = "True", version: str = "") -> ClusterExtensionStatus:
    condition = Condition(type="Progressing", status=ConditionStatus(progressing), reason=reason)
    bundle = BundleMetadata(name=f"p.v{version}", version=version)
    return ClusterExtensionStatus(
        conditions=(condition,), install=InstallStatus(bundle=bundle) if version else None
    )


def test_an_extension_has_its_conditions_and_its_last_success() -> None:
    metrics = Metrics()
    metrics.observe("a", status("Succeeded", version="1.0.0"), now=1700.0, seconds=0.25)
    metrics.observe("a", status("Retrying", version="1.0.0"), now=1800.0, seconds=2.5)
    metrics.observe("a", status("Blocked", "False", version="1.0.0"), now=1900.0, seconds=0.5)
    prefix, of = "operator_controller_extension_", 'extension="a"'
    lines = exposition(metrics, Readings()).splitlines()
    for line in (
        f'condition{{{of},reason="Blocked",status="False",type="Progressing"}} 1.0',
        f'installed_info{{bundle="p.v1.0.0",{of},version="1.0.0"}} 1.0',
        f"last_success_timestamp_seconds{{{of}}} 1700.0",
        f'errors_total{{{of},reason="Retrying"}} 1.0',
        f'errors_total{{{of},reason="Blocked"}} 1.0',
        f"reconcile_duration_seconds{{{of}}} 0.5",
    ):
        assert prefix + line in lines
    assert sum(line.startswith(prefix + "condition{") for line in lines) == 1


def test_rolling_out_is_no_error_and_no_success() -> None:
    metrics = Metrics()
    metrics.observe("a", status("RollingOut"), now=1.0, seconds=0.0)
    text = exposition(metrics, Readings())
    assert "errors_total{" not in text
    assert "last_success_timestamp_seconds{" not in text
    assert "installed_info{" not in text


def test_an_extension_that_is_gone_leaves_nothing() -> None:
    metrics = Metrics()
    for name in ("a", "b", "c"):
        metrics.observe(name, status("Retrying"), now=1.0, seconds=0.0)
    metrics.forget("a")
    metrics.keep(["b"])
    assert set(re.findall('extension="(.)"', exposition(metrics, Readings()))) == {"b"}


def test_queues_requests_and_watches() -> None:
    meter = QueueMeter()
    ended: tuple[Outcome, ...] = (Done(), Retry("no"))
    for number, outcome in enumerate(ended):
        meter.added(number, 0.0)
        meter.started(number, 0.0)
        meter.finished(number, 0.5, outcome)
    meter.added("waits", 0.0)
    meter.added("runs", 0.0)
    meter.started("runs", 1.0)
    readings = Readings(
        queues={"q": Queue(meter, 8)},
        answers={("GET", "200"): 5, ("PATCH", "<error>"): 1},
        watches=(7, 2),
        lease="lock",
        leading=True,
        now=4.0,
    )
    lines = exposition(Metrics(), readings).splitlines()
    for line in (
        'controller_runtime_reconcile_total{controller="q",result="success"} 1.0',
        'controller_runtime_reconcile_total{controller="q",result="error"} 1.0',
        'controller_runtime_reconcile_errors_total{controller="q"} 1.0',
        'controller_runtime_reconcile_time_seconds_count{controller="q"} 2.0',
        'controller_runtime_active_workers{controller="q"} 1.0',
        'controller_runtime_max_concurrent_reconciles{controller="q"} 8.0',
        'workqueue_depth{controller="q",name="q"} 1.0',
        'workqueue_adds_total{controller="q",name="q"} 4.0',
        'workqueue_retries_total{controller="q",name="q"} 1.0',
        'workqueue_longest_running_processor_seconds{controller="q",name="q"} 3.0',
        'rest_client_requests_total{code="200",method="GET"} 5.0',
        'rest_client_requests_total{code="<error>",method="PATCH"} 1.0',
        "operator_controller_watches 7.0",
        "operator_controller_watches_broken 2.0",
        'leader_election_master_status{name="lock"} 1.0',
    ):
        assert line in lines


def test_every_family_is_explained_once() -> None:
    text = exposition(Metrics(), Readings())
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families)) == text.count("# HELP")


def test_a_reconcile_that_was_cut_short_leaves_the_time_of_the_last() -> None:
    metrics = Metrics()
    metrics.observe("a", status("Succeeded"), now=1.0, seconds=0.25)
    metrics.observe("a", status("Blocked", "False"), now=2.0)
    lines = exposition(metrics, Readings()).splitlines()
    assert 'operator_controller_extension_reconcile_duration_seconds{extension="a"} 0.25' in lines
    assert 'operator_controller_extension_errors_total{extension="a",reason="Blocked"} 1.0' in lines
