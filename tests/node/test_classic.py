"""OLM Classic by its chart: catalogs served by pods and without, plans carried out on a node.

Each test goes on where the one before it ended.
"""

from collections.abc import Iterator

import pytest
import yaml

from api.objects import KubeObject, metadata
from api.operators.names import V1, V1ALPHA1
from e2e.harness.images import CATALOG_LABEL, CATALOG_ROOT, derived_image
from e2e.node.cluster import Node
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.olm.api import Api
from e2e.olm.chart import CLASSIC
from e2e.operator import bundles
from e2e.operator.bundles import PACKAGE
from e2e.operator.images import WORDS

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("team")]

TEAM = "classic-team"
CATALOG, SHOP = "greetings", "shop"
FIRST, SECOND = (f"{PACKAGE}.v{version}" for version in WORDS)
OPM = "/opt/olmv1/programs/bin/opm"
SERVE = (
    OPM,
    "serve",
    f"/{CATALOG_ROOT}",
    "--cache-dir=/tmp/cache",
    "--cache-enforce-integrity=false",
)
GREETINGS = "greetings.greeter.example.com"
API = f"/apis/{V1ALPHA1}/namespaces"
SOURCE = f"{API}/{CLASSIC.namespace}/catalogsources/{CATALOG}"
PODS = f"/api/v1/namespaces/{CLASSIC.namespace}/pods"


@pytest.fixture(scope="module")
def classic(node: Node) -> Iterator[Release]:
    """The chart, as it comes."""
    release = Release(node, product_image(), CLASSIC)
    release.install({})
    yield release
    release.uninstall()


@pytest.fixture(scope="module")
def team(node: Node, classic: Release, greeter_catalog: str) -> Iterator[None]:
    """A namespace of operators that watch all namespaces, and a catalog for all of them."""
    image = serving_image(node, greeter_catalog)
    source = {"sourceType": "grpc", "image": image, "displayName": "Greetings"}
    apply(node, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
    apply(node, made(V1, "OperatorGroup", TEAM, "team", {}))
    apply(node, made(V1ALPHA1, "CatalogSource", CLASSIC.namespace, CATALOG, source))
    yield
    node.kubectl("delete", "catalogsource", CATALOG, f"--namespace={CLASSIC.namespace}")
    node.kubectl("delete", "subscriptions,csv", "--all", f"--namespace={TEAM}")
    node.kubectl("delete", "crd", GREETINGS, "--ignore-not-found")
    node.kubectl("delete", "namespace", TEAM, "--wait=false")


def serving_image(node: Node, catalog: str) -> str:
    """The reference of an image with the catalog's content, which serves it as a pod."""
    content = bundles.rendered(node.registry, catalog).encode()
    layer = {f"{CATALOG_ROOT}/{PACKAGE}/catalog.json": content}
    image = derived_image(
        product_image(), layer, labels={CATALOG_LABEL: f"/{CATALOG_ROOT}"}, runs=SERVE
    )
    return node.registry.push(image, f"{PACKAGE}-served", tag="v1").tag_reference


def made(version: str, kind: str, namespace: str, name: str, spec: KubeObject) -> KubeObject:
    meta = {"namespace": namespace, "name": name}
    return {"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}


def apply(node: Node, obj: KubeObject) -> None:
    node.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(obj))


def wait_ready(api: Api, source: str = SOURCE) -> None:
    def holds(obj: KubeObject | None) -> bool:
        status = (obj or {}).get("status") or {}
        return (status.get("connectionState") or {}).get("lastObservedState") == "READY"

    api.wait(source, holds, what="the catalog is connected to")


def serving_pods(api: Api) -> list[KubeObject]:
    return api.list(PODS, f"olm.catalogSource={CATALOG}")


def plan_of(api: Api, csv: str, phase: str) -> str:
    """The name of the plan that installs a ClusterServiceVersion, once it is in a phase."""
    found: list[str] = []

    def holds(_: KubeObject | None) -> bool:
        found[:] = [
            str(metadata(plan)["name"])
            for plan in api.list(f"{API}/{TEAM}/installplans")
            if csv in plan["spec"]["clusterServiceVersionNames"]
            and (plan.get("status") or {}).get("phase") == phase
        ]
        return bool(found)

    api.wait(f"{API}/{TEAM}/installplans", holds, what=f"the plan of {csv} is {phase}")
    return found[0]


def approve(node: Node, plan: str) -> None:
    """As the documents have it."""
    patch = '{"spec":{"approved":true}}'
    node.kubectl("patch", "installplan", plan, f"--namespace={TEAM}", "--type=merge", "-p", patch)


def exists(api: Api, path: str) -> None:
    api.wait(path, lambda obj: obj is not None, what=f"{path} is there")


def test_a_catalog_is_served_by_its_pod(api: Api) -> None:
    wait_ready(api)
    [pod] = serving_pods(api)
    assert pod["spec"]["priorityClassName"] == "system-cluster-critical"
    [container] = pod["status"]["containerStatuses"]
    assert container["ready"]


def test_its_packages_are_listed_by_the_api_server(node: Node, api: Api) -> None:
    path = f"/apis/packages.operators.coreos.com/v1/namespaces/{TEAM}/packagemanifests/{PACKAGE}"
    exists(api, path)
    assert "Greetings" in node.kubectl("get", "packagemanifests", f"--namespace={TEAM}")


def test_an_approved_plan_brings_what_the_bundle_has(node: Node, api: Api) -> None:
    spec = {
        "name": PACKAGE,
        "source": CATALOG,
        "sourceNamespace": CLASSIC.namespace,
        "startingCSV": FIRST,
        "installPlanApproval": "Manual",
    }
    apply(node, made(V1ALPHA1, "Subscription", TEAM, PACKAGE, spec))
    approve(node, plan_of(api, FIRST, "RequiresApproval"))
    plan_of(api, FIRST, "Complete")
    exists(api, f"{API}/{TEAM}/clusterserviceversions/{FIRST}")
    exists(api, f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{GREETINGS}")


def test_a_pod_that_is_deleted_comes_back(api: Api) -> None:
    [pod] = serving_pods(api)
    api.delete(f"{PODS}/{metadata(pod)['name']}")

    def holds(_: KubeObject | None) -> bool:
        uids = [metadata(each)["uid"] for each in serving_pods(api)]
        return bool(uids) and metadata(pod)["uid"] not in uids

    api.wait(SOURCE, holds, what="another pod")
    wait_ready(api)


def test_an_update_is_served_without_a_pod(
    node: Node, api: Api, classic: Release, greeter_catalog: str
) -> None:
    api.patch(SOURCE, {"spec": {"image": greeter_catalog}})
    classic.upgrade({"catalogOperator": {"catalogServing": "shared"}})
    api.wait(SOURCE, lambda _: not serving_pods(api), what="no pod of the catalog")
    wait_ready(api)
    approve(node, plan_of(api, SECOND, "RequiresApproval"))
    plan_of(api, SECOND, "Complete")
    exists(api, f"{API}/{TEAM}/clusterserviceversions/{SECOND}")
