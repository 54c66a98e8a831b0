"""The version of a cluster: its updates, and what speaks against each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from cluster_version.names import DEFAULT_NAMESPACE
from cluster_version.payload.release import Release
from cluster_version.status.levels import Level, as_config_map
from e2e.harness.controlplane import ControlPlane
from e2e.olm.api import Api
from tests.integration.console.visits import Console, Visit, notice

CRDS = Path(__file__).parents[3] / "config" / "crd" / "cluster-version"
KINDS = ("clusterversions", "clusteroperators")
TIME = "2026-01-01T00:00:00Z"
RELEASE = {"version": "4.10.1", "image": "example.com/release@sha256:" + "a" * 64}
NEWER = {"version": "4.10.2", "image": "example.com/release@sha256:" + "b" * 64}
RISKY = {"version": "4.10.3", "image": "example.com/release@sha256:" + "c" * 64}
RISK = {
    "name": "SlowDisks",
    "url": "https://example.com/slow-disks",
    "message": "Nodes may take an hour.",
    "matchingRules": [{"type": "Always"}],
}
AGAINST = {
    "type": "Recommended",
    "status": "False",
    "reason": "SlowDisks",
    "message": "Nodes may take an hour.",
    "lastTransitionTime": TIME,
}


def conditions(**statuses: str) -> list[dict[str, str]]:
    return [
        {"type": kind, "status": status, "lastTransitionTime": TIME, "reason": "AsExpected"}
        for kind, status in ({"Available": "True", "Failing": "False"} | statuses).items()
    ]


RUN = {"state": "Completed", "verified": True, "startedTime": TIME, "completionTime": TIME}
STATUS = {
    "desired": RELEASE | {"channels": ["stable-4.10", "fast-4.10"]},
    "history": [RELEASE | RUN],
    "observedGeneration": 1,
    "versionHash": "",
    "availableUpdates": [NEWER],
    "conditionalUpdates": [{"release": RISKY, "risks": [RISK], "conditions": [AGAINST]}],
    "conditions": conditions(Progressing="False"),
}
VERSION = "/apis/config.openshift.io/v1/clusterversions/version"
UPDATING = conditions(Progressing="True")

pytestmark = pytest.mark.integration


def _spec(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = (api.get(VERSION) or {})["spec"]
    return found


def _ask(page: Page, spec: Callable[[], dict[str, Any]]) -> None:
    """Each act of the page, one after the other."""
    page.get_by_text("Take updates from another channel").click()
    page.get_by_label("Channel").fill("fast-4.10")
    page.get_by_role("button", name="Change the channel").click()
    expect(notice(page)).to_contain_text("Requested channel fast-4.10")
    assert spec()["channel"] == "fast-4.10"

    page.get_by_role("link", name="Update to 4.10.3 …").click()
    expect(page.get_by_text("SlowDisks: Nodes may take an hour.")).to_be_visible()
    assert not Axe().run(page).response["violations"]
    page.get_by_role("button", name="Update", exact=True).click()  # held up by the browser
    assert "desiredUpdate" not in spec()
    page.get_by_label("I know, and accept this risk").check()
    page.get_by_role("button", name="Update", exact=True).click()
    expect(notice(page)).to_contain_text("Requested update to 4.10.3")
    assert spec()["desiredUpdate"]["version"] == "4.10.3"

    page.get_by_role("button", name="Take back what was asked for").click()
    expect(notice(page)).to_contain_text("Cancelled requested upgrade to 4.10.3")
    assert "desiredUpdate" not in spec()


def test_updates_are_shown_as_they_come_and_asked_for(
    browser: Browser,
    control_plane: ControlPlane,
    api: Api,
    start_console: Callable[..., Console],
) -> None:
    crds = [CRDS / f"config.openshift.io_{each}.yaml" for each in KINDS]
    for crd in crds:
        control_plane.apply(crd)
    version = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version"},
        "spec": {"clusterID": "00000000-0000-4000-8000-000000000000", "channel": "stable-4.10"},
    }
    operator = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator",
        "metadata": {"name": "dns"},
        "spec": {},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": DEFAULT_NAMESPACE}}
    for each in (version, operator, namespace):
        control_plane.apply([each])
    try:
        api.patch(f"{VERSION}/status", {"status": STATUS})
        visit = Visit(browser, start_console())
        visit.page.get_by_role("link", name="Cluster", exact=True).click()
        expect(visit.page.get_by_role("heading", name="Cluster 4.10.1")).to_be_visible()
        expect(visit.page.get_by_role("rowheader", name="4.10.2", exact=True)).to_be_visible()
        assert not Axe().run(visit.page).response["violations"]
        _ask(visit.page, lambda: _spec(api))
        none: dict[str, Any] = {"availableUpdates": [], "conditionalUpdates": []}
        api.patch(f"{VERSION}/status", {"status": none})
        expect(visit.page.get_by_text("There are none.")).to_be_visible()
        expect(notice(visit.page)).to_contain_text("Cancelled requested upgrade to 4.10.3")
        levels = [Level("10", 3, 3), Level("20", 1, 4, ("dns", "etcd")), Level("30", 0, 2)]
        release = Release(RELEASE["version"], RELEASE["image"])
        progress = as_config_map(DEFAULT_NAMESPACE, release, levels)
        control_plane.apply([progress])
        api.patch(f"{VERSION}/status", {"status": {"conditions": UPDATING}})
        for row in ("10 3 of 3 done", "20 1 of 4 at work: dns, etcd", "30 0 of 2 waits"):
            expect(visit.page.get_by_role("row", name=row)).to_be_visible()
        assert not Axe().run(visit.page).response["violations"]
        visit.close()
    finally:
        control_plane.end(f"/api/v1/namespaces/{DEFAULT_NAMESPACE}")
        for crd in crds:
            control_plane.delete(crd)
