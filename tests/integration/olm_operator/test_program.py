"""olm-operator as a process: its metrics, its return after a crash, and several replicas."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.operators.names import V1
from e2e.harness.controlplane import wait_until
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from e2e.olm.classic import HOST, OLM_OPERATOR, SYSTEM_NAMESPACE, Classic, Place
from e2e.olm.daemons import page, start_daemon

pytestmark = pytest.mark.integration

CSV = "hello.v1.0.0"
MODES = ("AllNamespaces",)
"""Which no group for its own namespace alone has, so that the version fails."""
LEASE = "olm-operator.operators.coreos.com"


def series(metrics: str, name: str, /, **labels: str) -> list[dict[str, str]]:
    """Labels and, as `value`, values of the series that have these labels."""
    found = []
    for line in metrics.splitlines():
        text, _, value = line.rpartition(" ")
        if text.partition("{")[0] == name:
            has = dict(re.findall(r'(\w+)="([^"]*)"', text))
            found += [{**has, "value": value}] if labels.items() <= has.items() else []
    return found


def wait_series(olm: Classic, expected: list[dict[str, str]], name: str, /, **labels: str) -> None:
    what = f"{name}{labels} is {expected}"
    wait_until(lambda: series(olm.operator_metrics(), name, **labels) == expected, what=what)


def test_a_version_made_by_hand_succeeds(olm: Classic, place: Place) -> None:
    place.csv(CSV)
    csv = place.wait_csv(CSV)
    assert csv["status"]["reason"] == "InstallSucceeded"


def test_csv_metrics_follow_phases_a_restart_and_deletion(olm: Classic, place: Place) -> None:
    labels = {"namespace": place.name, "name": CSV, "version": "1.0.0"}
    failed = {"phase": "Failed", "reason": "UnsupportedOperatorGroup"}
    place.csv(CSV, modes=MODES)
    wait_series(olm, [{**labels, **failed, "value": "1.0"}], "csv_abnormal", **labels)
    wait_series(olm, [{**labels, "value": "0.0"}], "csv_succeeded", **labels)

    olm.restart_operator(kill=True)
    wait_series(olm, [{**labels, **failed, "value": "1.0"}], "csv_abnormal", **labels)

    place.csv(CSV)
    place.wait_csv(CSV)
    wait_series(olm, [], "csv_abnormal", **labels)
    wait_series(olm, [{**labels, "value": "1.0"}], "csv_succeeded", **labels)
    [count] = series(olm.operator_metrics(), "csv_count")
    assert float(count["value"]) >= 1

    place.delete("clusterserviceversions", CSV)
    wait_series(olm, [], "csv_succeeded", **labels)
    wait_series(olm, [], "csv_abnormal", **labels)


@pytest.fixture
def replica(olm: Classic, tmp_path: Path) -> Iterator[str]:
    """A second olm-operator, which waits for the lease that the first one has; its address."""
    olm.stop_operator()
    olm.start_operator("--leader-elect")
    held = [{"name": LEASE, "value": "1.0"}]
    wait_series(olm, held, "leader_election_master_status")
    port, metrics_port = free_port(HOST), free_port(HOST)
    access = olm.control_plane.kubeconfig_for_service_account(SYSTEM_NAMESPACE, OLM_OPERATOR)
    second: ChildProcess = start_daemon(
        OLM_OPERATOR,
        [
            f"--kubeconfig={access}",
            f"--namespace={SYSTEM_NAMESPACE}",
            f"--metrics-bind-address={HOST}:{metrics_port}",
            "--leader-elect",
        ],
        health_port=port,
        log=tmp_path / "second.log",
    )
    yield f"http://{HOST}:{metrics_port}"
    second.stop()
    olm.stop_operator()
    olm.start_operator()


def test_a_replica_takes_over_from_the_leader(olm: Classic, place: Place, replica: str) -> None:
    assert page(f"{replica}/healthz")
    assert series(page(f"{replica}/metrics"), "csv_count") == []  # it does nothing yet
    place.csv(CSV)
    place.wait_csv(CSV)

    olm.stop_operator()
    leads = [{"name": LEASE, "value": "1.0"}]
    wait_until(
        lambda: series(page(f"{replica}/metrics"), "leader_election_master_status") == leads,
        what="the second replica leads",
    )
    place.csv("other.v1.0.0", deployments=["other"])
    place.wait_csv("other.v1.0.0")
    assert page(f"{replica}/healthz")


def test_other_namespaces_than_those_that_are_watched_are_left_alone(
    olm: Classic, place: Place
) -> None:
    olm.restart_operator(f"--watchedNamespaces={place.name},elsewhere")
    other = olm.place(own=True)
    try:
        other.csv("left.v1.0.0")
        place.csv("taken.v1.0.0")
        place.wait_csv("taken.v1.0.0")
        wait_series(olm, [], "csv_succeeded", namespace=other.name)
        for path in (
            other.path("clusterserviceversions", "left.v1.0.0"),
            other.path("operatorgroups", "group", version=V1),
        ):
            assert not (olm.api.get(path) or {}).get("status"), path
    finally:
        olm._operator_flags = ()
        olm.restart_operator()
    other.wait_csv("left.v1.0.0")
    olm.remove(other.name)
