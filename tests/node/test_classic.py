"""The life of an operator of OLM Classic, whose catalog is served by its pod and then without.

Its bundles are unpacked by Jobs. Each test goes on where the one before it ended.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from api.objects import KubeObject, condition, labels_of, metadata, name_of
from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import wait_until
from e2e.harness.errors import CommandFailed
from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.api import Api
from e2e.olm.bundles import BundleSpec
from e2e.olm.chart import CLASSIC
from e2e.olm.classic import DEFINITIONS, Classic, Place, status
from e2e.operator import bundles
from e2e.operator.bundles import PACKAGE
from e2e.operator.images import WORDS
from olm_runtime.clocks import utc_now
from tests.node.callers import Caller
from tests.node.greetings import GREETINGS, greet, greeting, wait_said

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("source")]

CATALOG, EXTRACTED = "greetings", "extracted"
UNPACKS = "operatorframework.io/bundle-unpack-ref"
FIRST, SECOND = (f"{PACKAGE}.v{version}" for version in WORDS)
HOOKS = "/apis/admissionregistration.k8s.io/v1"
BOUND = "/apis/rbac.authorization.k8s.io/v1"
CLUSTER_WIDE = (
    f"{HOOKS}/validatingwebhookconfigurations",
    f"{HOOKS}/mutatingwebhookconfigurations",
    f"{BOUND}/clusterroles",
    f"{BOUND}/clusterrolebindings",
)
SOME = 5
"""Calls at least, while something happens."""
GREET = "/apis/greeter.example.com"


@pytest.fixture(scope="module")
def team(users: Classic) -> Iterator[Place]:
    """A namespace of operators that watch all namespaces."""
    place = users.place(name="classic-team")
    yield place
    users.control_plane.kubectl("delete", "crd", GREETINGS, "--ignore-not-found")
    users.control_plane.kubectl("delete", "namespace", place.name)


@pytest.fixture(scope="module")
def source(users: Classic, classic: Release, greeter_catalog: str) -> Iterator[Place]:
    """A catalog for all namespaces, whose image serves it; another has its content alone."""
    catalogs = Place(users, CLASSIC.namespace)
    base = f"{classic.repository}:{classic.tag}"
    versions = (*WORDS, bundles.BAD)
    image = bundles.publish_catalog(users.registry, versions, base=base)
    spec = {"sourceType": "grpc", "image": image, "displayName": "Greetings"}
    catalogs.create(V1ALPHA1, "CatalogSource", CATALOG, spec)
    extracted = {"extractContent": {"catalogDir": "/configs"}}
    without = {"sourceType": "grpc", "image": greeter_catalog, "grpcPodConfig": extracted}
    catalogs.create(V1ALPHA1, "CatalogSource", EXTRACTED, without)
    yield catalogs
    names = (CATALOG, EXTRACTED, "--ignore-not-found", f"-n={CLASSIC.namespace}")
    users.control_plane.kubectl("delete", "catalogsource", *names)


def serving_pods(source: Place) -> list[KubeObject]:
    pods = source.path("pods", version="v1")
    return source.classic.api.list(pods, f"olm.catalogSource={CATALOG}")


def deployment(team: Place) -> KubeObject:
    return team.classic.api.get(team.path("deployments", PACKAGE, version="apps/v1")) or {}


def left_of_operator(team: Place) -> list[str]:
    """What it has outside of its namespace."""
    labels = f"olm.owner.namespace={team.name},olm.owner.kind=ClusterServiceVersion"
    return [name_of(each) for path in CLUSTER_WIDE for each in team.classic.api.list(path, labels)]


def test_an_image_that_opm_built_is_served_by_its_pod(source: Place) -> None:
    source.wait_catalog(CATALOG)
    [pod] = serving_pods(source)
    assert pod["spec"]["priorityClassName"] == "system-cluster-critical"
    [container] = pod["status"]["containerStatuses"]
    assert container["ready"]


def test_content_of_an_image_without_programs_is_served_by_ours(source: Place) -> None:
    source.wait_catalog(EXTRACTED)
    source.delete("catalogsources", EXTRACTED)


def test_its_packages_are_listed_by_the_api_server(node: Node, team: Place) -> None:
    path = team.path("packagemanifests", PACKAGE, version="packages.operators.coreos.com/v1")
    team.classic.api.wait(path, lambda found: found is not None, what="the package")
    assert "Greetings" in node.kubectl("get", "packagemanifests", f"--namespace={team.name}")


def test_an_approved_plan_brings_the_operator_to_run(
    node: Node, api: Api, team: Place, source: Place
) -> None:
    team.subscribe(
        PACKAGE,
        source=CATALOG,
        namespace=source.name,
        startingCSV=FIRST,
        installPlanApproval="Manual",
    )
    team.approve(team.wait_plan("RequiresApproval"))
    team.wait_plan("Complete")
    team.wait_csv(FIRST)
    greet(node, "ada", name="Ada")
    wait_said(api, "ada", "Hello, Ada!")


def test_its_bundles_were_unpacked_by_jobs(source: Place) -> None:
    """Also that of the next version, whose plan waits for approval."""
    paths = source.path("jobs", version="batch/v1"), source.path("pods", version="v1")

    def unpacked() -> set[str]:
        jobs = source.classic.api.list(paths[0], UNPACKS)
        return {name_of(each) for each in jobs if status(each, "succeeded")}

    wait_until(lambda: len(unpacked()) == len(WORDS), what="complete Jobs")
    pods = source.classic.api.list(paths[1], UNPACKS)
    assert {labels_of(each)[UNPACKS] for each in pods} == unpacked()
    assert [status(each, "phase") for each in pods] == ["Succeeded"] * len(WORDS)


def test_its_webhooks_are_called(node: Node, api: Api) -> None:
    greet(node, "all")
    wait_said(api, "all", "Hello, world!")
    with pytest.raises(CommandFailed, match="nobody is not there to be greeted"):
        greet(node, "none", name="nobody")
    converted = api.get(f"{GREET}/v2/namespaces/default/greetings/ada") or {}
    assert converted["spec"] == {"who": "Ada"}


def test_a_pod_that_is_deleted_comes_back(source: Place) -> None:
    [pod] = serving_pods(source)
    source.classic.api.delete(source.path("pods", name_of(pod), version="v1"))

    def is_another() -> bool:
        uids = [metadata(each)["uid"] for each in serving_pods(source)]
        return bool(uids) and metadata(pod)["uid"] not in uids

    wait_until(is_another, what="another pod")
    source.wait_catalog(CATALOG)


def test_an_update_is_served_without_a_pod(
    api: Api, team: Place, source: Place, classic: Release, greeter_catalog: str
) -> None:
    source.patch("catalogsources", CATALOG, {"spec": {"image": greeter_catalog}})
    classic.upgrade({"catalogOperator": {"catalogServing": "shared"}})
    wait_until(lambda: not serving_pods(source), what="no pod of the catalog")
    source.wait_catalog(CATALOG)
    team.approve(team.wait_plan("RequiresApproval", generation=2))
    team.wait_csv(SECOND)
    api.wait_gone(team.path("clusterserviceversions", FIRST))
    wait_said(api, "ada", "Good day, Ada!")


def test_a_bundle_that_cannot_be_pulled_is_reported_with_its_pod(
    users: Classic, publish: Callable[..., str]
) -> None:
    image = f"{users.registry.address}/nobody/has:bundle"
    spec = BundleSpec(package="unheard", version="1.0.0")
    catalog = publish(replace(spec.publish(users.registry), image=image))
    place = users.place()
    place.create(V1ALPHA1, "CatalogSource", "unheard", {"sourceType": "grpc", "image": catalog})
    place.subscribe("unheard", source="unheard")

    def is_reported(subscription: KubeObject) -> bool:
        said = (condition(subscription, "BundleUnpacking") or {}).get("message", "")
        return f"Unpack pod({place.name}/" in said and "container(pull)" in said and image in said

    place.wait("subscriptions", "unheard", is_reported, what="what keeps the unpacking")
    users.remove(place.name)


def test_certificates_are_rotated_without_a_failed_call(node: Node, team: Place) -> None:
    """Admission and conversion are called all the time."""
    greetings = "namespaces/default/greetings"
    with ExitStack() as stack:
        http = stack.enter_context(node.control_plane.client())
        checked = f"{GREET}/v1/{greetings}?dryRun=All"
        callers = [
            stack.enter_context(Caller(call))
            for call in (
                lambda: http.post(checked, json=greeting("grace", name="Grace")),
                lambda: http.get(f"{GREET}/v2/{greetings}"),
            )
        ]
        before = team.wait_csv(SECOND)
        now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")
        team.patch_status("clusterserviceversions", SECOND, {"certsRotateAt": now})

        def is_rotated(csv: KubeObject) -> bool:
            renewed = status(csv, "certsLastUpdated") > status(before, "certsLastUpdated")
            return bool(renewed) and status(csv, "phase") == "Succeeded"

        team.wait("clusterserviceversions", SECOND, is_rotated, what="another certificate")
        node.kubectl("rollout", "status", f"deployment/{PACKAGE}", f"-n={team.name}")
    assert not [failure for caller in callers for failure in caller.failures]
    assert all(caller.answered > SOME for caller in callers)


def test_it_goes_on_without_its_catalog(node: Node, api: Api, team: Place, source: Place) -> None:
    before = deployment(team)
    source.delete("catalogsources", CATALOG)
    team.wait_condition("subscriptions", PACKAGE, "CatalogSourcesUnhealthy")
    greet(node, "linus", name="Linus")
    wait_said(api, "linus", "Good day, Linus!")
    assert metadata(deployment(team))["generation"] == metadata(before)["generation"]


def test_all_of_it_goes_with_it_but_its_definition(node: Node, api: Api, team: Place) -> None:
    node.kubectl("delete", "greetings", "--all", "-n=default", "--timeout=180s")
    team.delete("subscriptions", PACKAGE)
    team.delete("clusterserviceversions", SECOND)
    for plural, version in (("deployments", "apps/v1"), ("serviceaccounts", "v1")):
        api.wait_gone(team.path(plural, PACKAGE, version=version))
    wait_until(lambda: not left_of_operator(team), what="nothing is left")
    definition = api.get(f"{DEFINITIONS}/{GREETINGS}") or {}
    assert definition["spec"]["conversion"] == {"strategy": "None"}
    assert labels_of(definition)["olm.managed"] == "true"
