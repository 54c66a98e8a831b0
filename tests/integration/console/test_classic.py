"""OLM Classic: what needs a person comes first, and a plan is approved with its steps shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.harness.controlplane import ControlPlane
from e2e.olm.api import Api
from tests.integration.console.visits import Console, Visit

CRDS = Path(__file__).parents[3] / "config" / "crd" / "classic"
GROUP = "operators.coreos.com"
KINDS = (
    *("subscriptions", "installplans", "clusterserviceversions"),
    *("catalogsources", "operatorgroups"),
)
API_VERSION = f"{GROUP}/v1alpha1"
HINDERED = "no operators found in channel <b>stable</b>"

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def console(control_plane: ControlPlane, start_console: Callable[..., Console]) -> Console:
    """One that was started when the cluster had the kinds."""
    for each in KINDS:
        control_plane.apply(CRDS / f"{GROUP}_{each}.yaml")
    return start_console()


def _path(namespace: str, what: str, version: str = API_VERSION) -> str:
    return f"/apis/{version}/namespaces/{namespace}/{what}"


def _status(api: Api, path: str, status: dict[str, Any]) -> None:
    api.patch(f"{path}/status", {"status": status})


def _create(
    api: Api,
    namespace: str,
    kind: str,
    name: str,
    spec: dict[str, Any],
    version: str = API_VERSION,
) -> None:
    metadata = {"name": name, "namespace": namespace}
    obj = {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}
    api.create(_path(namespace, f"{kind.lower()}s", version), obj)


def test_a_plan_that_waits_is_found_looked_at_and_approved(
    visit: Visit, api: Api, namespace: str
) -> None:
    spec: dict[str, Any] = {"name": "widget", "source": "community", "sourceNamespace": namespace}
    _create(api, namespace, "Subscription", "widget", spec)
    condition = {"type": "ResolutionFailed", "status": "True", "message": HINDERED}
    status = {"conditions": [condition], "lastUpdated": "2026-01-01T00:00:00Z"}
    _status(api, _path(namespace, "subscriptions/widget"), status)
    plan = {"approval": "Manual", "approved": False, "clusterServiceVersionNames": ["widget.v1"]}
    _create(api, namespace, "InstallPlan", "install-1", plan)
    resource = {"group": "", "version": "v1", "kind": "ServiceAccount", "name": "widget-account"}
    resource |= {"sourceName": "community", "sourceNamespace": namespace, "manifest": "{}"}
    step = {"resolving": "widget.v1", "resource": resource, "status": "Unknown"}
    status = {"phase": "RequiresApproval", "catalogSources": [], "plan": [step]}
    _status(api, _path(namespace, "installplans/install-1"), status)

    source = {"sourceType": "grpc", "address": "catalog:50051", "displayName": "<b>Community</b>"}
    _create(api, namespace, "CatalogSource", "community", source)
    group = {"targetNamespaces": [namespace]}
    _create(api, namespace, "OperatorGroup", "team", group, f"{GROUP}/v1")
    found = {"namespaces": [namespace], "lastUpdated": "2026-01-01T00:00:00Z"}
    _status(api, _path(namespace, "operatorgroups/team", f"{GROUP}/v1"), found)

    page = visit.page
    page.goto(f"/classic?part=sources&words={namespace}")
    page.get_by_role("link", name="community", exact=True).click()
    expect(page.get_by_role("link", name=f"{namespace}/widget")).to_be_visible()
    page.goto("/classic?part=groups")
    page.get_by_role("link", name="team", exact=True).click()
    expect(page.get_by_text(f"work for {namespace}.")).to_be_visible()
    page.goto("/")
    expect(page.get_by_text(HINDERED)).to_be_visible()
    page.get_by_role("link", name="install-1").click()
    expect(page.get_by_role("row", name="widget-account")).to_be_visible()
    for path in (page.url, "/classic", "/classic?part=plans", "/classic?part=operators",
                 "/classic?part=sources", "/classic?part=groups",
                 f"/classic/groups/{namespace}/team", f"/classic/sources/{namespace}/community",
                 f"/classic/subscriptions/{namespace}/widget"):  # fmt: skip
        page.goto(path)
        assert not Axe().run(page).response["violations"], path
    page.goto(f"/classic/plans/{namespace}/install-1")
    page.get_by_role("button", name="Approve this plan").click()
    expect(page.get_by_text("install-1 is approved.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    assert (api.get(_path(namespace, "installplans/install-1")) or {})["spec"]["approved"] is True
    _status(api, _path(namespace, "installplans/install-1"), {"phase": "Complete"})
    expect(page.get_by_text("Complete")).to_be_visible()


def test_an_operator_is_uninstalled_with_what_stays_shown(
    visit: Visit, api: Api, namespace: str
) -> None:
    spec: dict[str, Any] = {"name": "widget", "source": "community", "sourceNamespace": namespace}
    _create(api, namespace, "Subscription", "widget", spec)
    status = {"installedCSV": "widget.v1", "lastUpdated": "2026-01-01T00:00:00Z"}
    _status(api, _path(namespace, "subscriptions/widget"), status)
    owned = {"name": "installplans.operators.coreos.com", "kind": "InstallPlan"}
    deployment = {"name": "widget-operator", "spec": {"selector": {}, "template": {}}}
    _create(
        api,
        namespace,
        "ClusterServiceVersion",
        "widget.v1",
        {
            "displayName": "Widget",
            "customresourcedefinitions": {"owned": [{**owned, "version": "v1alpha1"}]},
            "install": {"strategy": "deployment", "spec": {"deployments": [deployment]}},
        },
    )
    page = visit.page
    page.goto(f"/classic/subscriptions/{namespace}/widget")
    page.get_by_role("link", name="Uninstall …").click()
    preview = page.get_by_label("What would be deleted")
    expect(preview).to_contain_text("Deployment widget-operator")
    expect(preview).to_contain_text(f"CustomResourceDefinition {owned['name']}, with")
    assert not Axe().run(page).response["violations"]
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("Nothing was deleted")
    page.get_by_label("Type widget").fill("widget")
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status")).to_contain_text("widget is being deleted")
    for plural in ("subscriptions", "clusterserviceversions"):
        assert api.list(_path(namespace, plural)) == []
