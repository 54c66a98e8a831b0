"""Objects of a small namespace."""

from datetime import UTC, datetime
from typing import Any

from api.operators.v1alpha1.catalogsource import CatalogSource
from api.operators.v1alpha1.installplan import InstallPlan
from api.operators.v1alpha1.subscription import Subscription
from olm_classic.subscriptions.view import Csv, View

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
V1ALPHA1 = "operators.coreos.com/v1alpha1"
GROUP: dict[str, Any] = {"metadata": {"name": "group"}, "spec": {}}
FAIL_FORWARD: dict[str, Any] = {
    "metadata": {"name": "group"},
    "spec": {"upgradeStrategy": "TechPreviewUnsafeFailForward"},
}


def subscription(
    name: str = "app",
    status: dict[str, Any] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Subscription:
    meta = {"name": name, "namespace": "apps", "uid": f"uid-{name}", "annotations": annotations}
    wanted = {"source": "catalog", "sourceNamespace": "olm", "name": name} | spec
    said = {"lastUpdated": "2026-01-01T00:00:00Z"} | status if status else None
    return Subscription.from_object({"metadata": meta, "spec": wanted, "status": said})


def referring(plan: str = "install-1", **status: Any) -> dict[str, Any]:
    """A status with a reference to a plan."""
    return {"installPlanRef": {"name": plan}, "installPlanGeneration": 1} | status


def plan(
    name: str = "install-1",
    phase: str = "Installing",
    csvs: tuple[str, ...] = ("app.v1",),
    generation: int = 1,
    approved: bool = True,
    **status: Any,
) -> InstallPlan:
    spec = {
        "approval": "Automatic" if approved else "Manual",
        "approved": approved,
        "clusterServiceVersionNames": list(csvs),
        "generation": generation,
    }
    said = {"phase": phase, "catalogSources": []} | status
    meta: dict[str, Any] = {"name": name, "namespace": "apps", "uid": f"uid-{name}"}
    if generation:
        owner = {"apiVersion": V1ALPHA1, "kind": "Subscription", "name": "app", "uid": "uid-app"}
        meta["ownerReferences"] = [owner]
    return InstallPlan.from_object({"metadata": meta, "spec": spec, "status": said})


def catalog(
    name: str = "catalog", namespace: str = "olm", reason: str = "", served: bool = True
) -> CatalogSource:
    service = {"registryService": {"protocol": "grpc"}} if served else {}
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    spec = {"sourceType": "grpc", "address": "example.com:50051"}
    return CatalogSource.from_object(
        {"metadata": meta, "spec": spec, "status": {"reason": reason, **service}}
    )


def view(*subscriptions: Subscription, csvs: tuple[Csv, ...] = (), **other: Any) -> View:
    defaults: dict[str, Any] = {"groups": (GROUP,), "catalogs": (catalog(),)}
    found = {csv.name: csv for csv in csvs}
    return View(
        namespace="apps", now=NOW, subscriptions=subscriptions, csvs=found, **defaults | other
    )
