"""catalog-operator as a program: its metrics, its end and its return."""

import re
import ssl
from pathlib import Path

import httpx
import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.pki import CertificateAuthority
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place
from e2e.olm.fbc import package_blobs

pytestmark = pytest.mark.integration


def values(classic: Classic, name: str, /, **labels: str) -> list[float]:
    """The values of the series that have these labels."""
    found = []
    for line in classic.metrics().splitlines():
        series, _, value = line.rpartition(" ")
        if series.partition("{")[0] == name:
            has = dict(re.findall(r'(\w+)="([^"]*)"', series))
            found += [float(value)] if labels.items() <= has.items() else []
    return found


def wait_value(classic: Classic, expected: list[float], name: str, /, **labels: str) -> None:
    what = f"{name}{labels} {expected}"
    wait_until(lambda: values(classic, name, **labels) == expected, what=what)


def wait_for_snapshot(classic: Classic, catalog: dict[str, str]) -> None:
    """Waits until the content of a catalog was read."""
    name = "catalog_source_snapshots_total"
    wait_until(lambda: values(classic, name, **catalog) != [], what=f"{name} of {catalog}")


def test_series_follow_what_they_are_about(
    classic: Classic, place: Place, registry: Registry
) -> None:
    blobs = package_blobs([BundleSpec(package="counted", version="1.0.0").publish(registry)])
    before = values(classic, "olm_resolution_duration_seconds_count", outcome="succeeded")
    server = place.catalog("ours", blobs)
    catalog = {"namespace": place.name, "name": "ours"}
    wait_value(classic, [1.0], "catalogsource_ready", **catalog)
    wait_for_snapshot(classic, catalog)

    place.subscribe("counted", source="ours", channel="stable")
    place.wait_csv("counted.v1.0.0")
    place.wait_subscription("counted", installedCSV="counted.v1.0.0")
    wait_until(
        lambda: bool(
            values(classic, "subscription_sync_total", name="counted", installed="counted.v1.0.0")
        ),
        what="the installed version among the labels",
    )
    series = {"name": "counted", "package": "counted", "channel": "stable"}
    assert len(values(classic, "subscription_sync_total", **series)) == 1
    after = values(classic, "olm_resolution_duration_seconds_count", outcome="succeeded")
    assert after > before
    for name in ("catalog_source_count", "install_plan_count", "subscription_count"):
        [count] = values(classic, name)
        assert count >= 1

    server.stop()
    wait_value(classic, [0.0], "catalogsource_ready", **catalog)
    place.delete("subscriptions", "counted")
    wait_value(classic, [], "subscription_sync_total", **series)
    place.delete("catalogsources", "ours")
    wait_value(classic, [], "catalogsource_ready", **catalog)
    wait_value(classic, [], "catalog_source_snapshots_total", **catalog)


def test_metrics_over_tls_are_for_who_may_read_them(classic: Classic, tmp_path: Path) -> None:
    authority = CertificateAuthority.load_or_create(tmp_path, "ca")
    authority.issue_server("metrics", hosts=["127.0.0.1"]).write(tmp_path, "server")
    authority.issue_client("prometheus").write(tmp_path, "reader")
    authority.issue_client("somebody").write(tmp_path, "other")
    kubectl = classic.control_plane.kubectl
    role = "--clusterrole=catalog-operator-metrics-reader"
    kubectl("create", "clusterrolebinding", "readers", role, "--user=prometheus")
    classic.restart(
        f"--tls-cert={tmp_path / 'server.crt'}",
        f"--tls-key={tmp_path / 'server.key'}",
        f"--client-ca={tmp_path / 'ca.crt'}",
    )

    def answer(who: str = "", token: str = "") -> int:
        context = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
        if who:
            context.load_cert_chain(tmp_path / f"{who}.crt", tmp_path / f"{who}.key")
        url = f"https://127.0.0.1:{classic.metrics_port}/metrics"
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        asked = httpx.get(url, verify=context, headers=headers, trust_env=False, timeout=60.0)
        return asked.status_code

    try:
        answers = [answer("reader"), answer("other"), answer(), answer(token="made-up")]
        assert answers == [200, 403, 401, 401]
    finally:
        classic.stop()
        classic.start()
        kubectl("delete", "clusterrolebinding", "readers")
