"""The version of a cluster: its updates, and what speaks against each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, expect

from e2e.harness.pytest_plugin import Kubectl
from tests.integration.console.visits import Console, Visit

CRDS = Path(__file__).parents[3] / "config" / "crd" / "cluster-version"
KINDS = ("clusterversions", "clusteroperators")
TIME = "2026-01-01T00:00:00Z"
RELEASE = {"version": "4.10.1", "image": "example.com/release@sha256:" + "a" * 64}
NEWER = {"version": "4.10.2", "image": "example.com/release@sha256:" + "b" * 64}
RUN = {"state": "Completed", "verified": True, "startedTime": TIME, "completionTime": TIME}
STATUS = {
    "desired": RELEASE,
    "history": [RELEASE | RUN],
    "observedGeneration": 1,
    "versionHash": "",
    "availableUpdates": [NEWER],
    "conditions": [
        {"type": kind, "status": status, "lastTransitionTime": TIME, "reason": "AsExpected"}
        for kind, status in (("Available", "True"), ("Failing", "False"), ("Progressing", "False"))
    ],
}

pytestmark = pytest.mark.integration


def test_updates_are_shown_as_they_come(
    browser: Browser, kubectl: Kubectl, start_console: Callable[..., Console]
) -> None:
    crds = [f"--filename={CRDS / f'config.openshift.io_{each}.yaml'}" for each in KINDS]
    kubectl("apply", "--server-side", "--force-conflicts", *crds)
    kubectl("wait", "--for=condition=Established", *crds)
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
    for each in (version, operator):
        kubectl("create", "-f", "-", stdin=json.dumps(each))
    try:
        patch = ["--subresource=status", "--type=merge", "-p"]
        kubectl("patch", "clusterversion/version", *patch, json.dumps({"status": STATUS}))
        visit = Visit(browser, start_console())
        visit.page.get_by_role("link", name="Cluster", exact=True).click()
        expect(visit.page.get_by_role("heading", name="Cluster 4.10.1")).to_be_visible()
        expect(visit.page.get_by_role("cell", name="4.10.2", exact=True)).to_be_visible()
        assert not Axe().run(visit.page).response["violations"]
        none = json.dumps({"status": {"availableUpdates": []}})
        kubectl("patch", "clusterversion/version", *patch, none)
        expect(visit.page.get_by_text("There are none.")).to_be_visible()
        visit.close()
    finally:
        kubectl("delete", *crds)
