"""An extension that upstream's controller installed becomes ours, and no pod notices."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.objects import KubeObject, annotations_of, labels_of, metadata, name_of
from api.olm.v1 import names
from e2e.harness.controlplane import wait_until
from e2e.harness.images import bundle_image, catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import bundle_facts, catalog_files, package_blobs
from e2e.olm.manifests import installer, namespace, with_administrator
from e2e.olm.pages import HOW_TO, Step, steps
from e2e.olm.programs import Olm
from e2e.olm.reader import Reader
from tests.integration.from_upstream import fixtures
from tests.integration.from_upstream.left_behind import note_managers, path_of, put

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]
PAGE = HOW_TO / "from-upstream.md"
LEFT_OUT = ("Lease", "ClusterCatalog", "Namespace")
RECORDS = ("ClusterExtension", "ClusterObjectSet", "Secret")


@dataclass(frozen=True)
class World:
    """A cluster whose operator-controller is stopped until upstream's objects are there."""

    olm: Olm
    api: Api

    def place(self, name: str) -> None:
        self.olm.stop_operator_controller()
        self.olm.control_plane.apply("---".join((namespace(name), installer(name))))

    def take_over(self, extension: str, version: str) -> None:
        """Names an account, as the page says, and starts our controller."""
        account = {"spec": {"serviceAccount": {"name": "installer"}}}
        self.api.patch(extension_path(extension), account)
        self.olm.start_operator_controller()
        text = "desired state reached"
        self.api.wait_condition(extension_path(extension), "Progressing", "True", message=text)
        found = self.api.wait_installed(extension, version)
        assert [r["name"] for r in found["status"]["activeRevisions"]]

    def pods(self, space: str) -> dict[str, set[str]]:
        """What would be others if a pod had been restarted: templates' ReplicaSets, and pods."""
        home = "/apis/apps/v1", "/api/v1"
        paths = (f"{home[0]}/namespaces/{space}/replicasets", f"{home[1]}/namespaces/{space}/pods")
        return {path: {metadata(o)["uid"] for o in self.api.list(path)} for path in paths}

    def wait_for_pods(self, space: str) -> dict[str, set[str]]:
        def has_all(deployment: KubeObject) -> bool:
            pods: int | None = deployment.get("status", {}).get("replicas")
            return pods == int(deployment["spec"]["replicas"])

        path = f"/apis/apps/v1/namespaces/{space}/deployments"
        wait_until(
            lambda: bool(found := self.api.list(path)) and all(map(has_all, found)),
            what="each Deployment has its pods",
        )
        return self.pods(space)


@pytest.fixture
def world(olm: Olm, api: Api) -> Iterator[World]:
    yield World(olm, api)
    if olm.operator_controller is None or olm.operator_controller.pid is None:
        olm.start_operator_controller()


def assert_ours(world: World, before: KubeObject, extension: str) -> None:
    """The same object, owned and applied by us alone, with nothing left of upstream's marks."""
    live = world.api.get(path_of(before))
    assert live is not None, name_of(before)
    assert metadata(live)["uid"] == metadata(before)["uid"]
    owner = world.api.get(extension_path(extension))
    [reference] = metadata(live)["ownerReferences"]
    assert (reference["uid"], reference["controller"]) == (metadata(owner or {})["uid"], True)
    assert labels_of(live)[names.LABEL_MANAGED_BY] == names.FIELD_MANAGER
    assert not [key for key in annotations_of(live) if key.startswith("meta.helm.sh/")]
    managers = {
        (e["manager"], e["operation"])
        for e in metadata(live)["managedFields"]
        if not e.get("subresource")
    }
    assert (names.FIELD_MANAGER, "Apply") in managers
    assert not {m for m in managers if m[0] == names.UPSTREAM_FIELD_MANAGER}
    assert (names.FIELD_MANAGER, "Update") not in managers
    if live["kind"] == "Deployment":
        assert live["spec"] == before["spec"]
        key = "deployment.kubernetes.io/revision"
        assert annotations_of(live)[key] == annotations_of(before)[key]


@pytest.mark.parametrize("mode", ["Helm", "revisions"])
def test_what_upstream_installed_is_taken_over_updated_and_removed(
    world: World,
    registry: Registry,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    mode: str,
) -> None:
    group = f"{package}.example.com"
    old = BundleSpec(
        package=package, version="1.0.0", crd_group=group, configmaps=("settings", "old")
    )
    new = BundleSpec(package=package, version="1.1.0", crd_group=group, data={"other": "value"})
    image = old.publish(registry).image
    world.place(package)
    made = fixtures.by_helm if mode == "Helm" else fixtures.by_revisions
    records, objects = made(old, image)
    with world.olm.control_plane.client() as http:
        manager = names.UPSTREAM_FIELD_MANAGER if mode == "Helm" else names.FIELD_MANAGER
        put(http, [*records, *objects], manager=manager)
        for obj in objects if mode == "revisions" else ():
            [*entries] = metadata(world.api.get(path_of(obj)) or {})["managedFields"]
            applied = [{**e, "operation": "Apply"} for e in entries if e["manager"] == manager]
            note_managers(http, obj, applied)
    serve_catalog(package, publish_catalog(old, new))
    pods = world.wait_for_pods(package)
    before = [world.api.get(path_of(obj)) or {} for obj in objects]
    world.take_over(package, "1.0.0")
    for obj in before:
        assert_ours(world, obj, package)
    assert world.pods(package) == pods

    path = extension_path(package)
    world.api.patch(path, {"spec": {"source": {"catalog": {"version": "1.1.0"}}}})
    world.api.wait_installed(package, "1.1.0")
    configmaps = f"/api/v1/namespaces/{package}/configmaps"
    world.api.wait_gone(f"{configmaps}/{package}-old")
    settings = world.api.get(f"{configmaps}/{package}-settings") or {}
    assert settings["data"] == {"other": "value"}, "what only the old version set is gone"

    world.api.delete(path)
    world.api.wait_gone(path)
    world.api.wait_gone(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.{group}")


def serve_ours(
    world: World, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> list[KubeObject]:
    """An extension of ours, installed; its objects. Its operator-controller is stopped then."""
    spec = BundleSpec(package=package, version="1.0.0", crd_group=f"{package}.example.com")
    serve_catalog(package, publish_catalog(spec))
    world.olm.control_plane.apply(with_administrator(package))
    world.api.wait_installed(package, "1.0.0")
    world.wait_for_pods(package)
    _, objects = fixtures.by_helm(spec, "")
    world.olm.stop_operator_controller()
    return [world.api.get(path_of(obj)) or {} for obj in objects]


@pytest.fixture
def reader(world: World, package: str, tmp_path: Path) -> Reader:
    """Follows the page for the extension of the test."""
    return Reader(tmp_path, world.olm.control_plane, names={"greeter": package})


def page(section: str) -> list[Step]:
    return [step for step in steps(PAGE) if step.section == section]


def test_and_back_again_to_clusterobjectsets(
    world: World, reader: Reader, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> None:
    objects = serve_ours(world, package, publish_catalog, serve_catalog)
    pods = world.pods(package)
    reader.follow(page("Go back") + page("Go back to ClusterObjectSets"))
    extension = world.api.get(extension_path(package)) or {}
    assert set(metadata(extension)["finalizers"]) == UPSTREAMS_FINALIZERS
    ours, copy = (world.api.get(f"{OLM}/clusterobjectsets/{package}-{n}") or {} for n in (1, 2))
    assert copy["spec"] == {**ours["spec"], "revision": 2, "collisionProtection": "None"}
    for part in ("labels", "ownerReferences"):
        assert metadata(copy)[part] == metadata(ours)[part]
    for obj in objects:
        as_upstream_takes_over(world, obj, copy)
    assert world.pods(package) == pods

    world.olm.start_operator_controller()
    for obj in objects:
        world.api.wait(path_of(obj), has_one_owner, what=f"{name_of(obj)} is ours again")
        assert_ours(world, obj, package)
    assert world.pods(package) == pods
    world.api.delete(extension_path(package))
    world.api.wait_gone(extension_path(package))


def has_one_owner(obj: KubeObject | None) -> bool:
    return obj is not None and len(metadata(obj)["ownerReferences"]) == 1


UPSTREAMS_FINALIZERS = {
    names.FINALIZER_CLEANUP_UNPACK_CACHE,
    names.FINALIZER_CLEANUP_CONTENT_CACHE,
}


def as_upstream_takes_over(world: World, obj: KubeObject, revision: KubeObject) -> None:
    """The write by which a set with collisionProtection None takes an object of another owner."""
    live = world.api.get(path_of(obj)) or {}
    assert int(annotations_of(live)[names.ANNOTATION_REVISION]) <= revision["spec"]["revision"]
    owners = [{**reference, "controller": False} for reference in metadata(live)["ownerReferences"]]
    controller = {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_OBJECT_SET,
        "name": name_of(revision),
        "uid": metadata(revision)["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    meta = {
        "name": name_of(live),
        "resourceVersion": metadata(live)["resourceVersion"],
        "labels": labels_of(live),
        "annotations": {names.ANNOTATION_REVISION: str(revision["spec"]["revision"])},
        "ownerReferences": [*owners, controller],
    }
    content = {k: v for k, v in live.items() if k not in ("metadata", "status")}
    with world.olm.control_plane.client() as http:
        answer = http.patch(
            path_of(obj),
            params={"fieldManager": names.FIELD_MANAGER, "force": "true"},
            json={**content, "metadata": meta},
            headers={"Content-Type": "application/apply-patch+yaml"},
        )
    assert answer.is_success, answer.text


def test_and_back_again_to_helm(
    world: World,
    reader: Reader,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    tmp_path: Path,
) -> None:
    objects = serve_ours(world, package, publish_catalog, serve_catalog)
    pods = world.pods(package)
    chart = tmp_path / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("{apiVersion: v2, name: x, version: 1.0.0}")
    for number, obj in enumerate(objects):
        meta = {k: v for k, v in metadata(obj).items() if k in ("name", "namespace")}
        content = {k: v for k, v in obj.items() if k != "status"} | {"metadata": meta}
        (chart / "templates" / f"{number}.yaml").write_text(json.dumps(content))
    install = f"helm install {package} chart --namespace {package}"
    refused = reader.run(install)
    assert "cannot be imported into the current release" in refused.stderr
    reader.follow(page("Go back") + page("Go back to Helm"))
    done = reader.run(install)
    assert done.returncode == 0, done.stderr
    assert world.pods(package) == pods
    reader.run(f"helm uninstall {package} --namespace {package}")
    world.api.delete(extension_path(package))
    world.olm.start_operator_controller()
    world.api.wait_gone(extension_path(package))


@pytest.fixture(scope="module")
def demo_catalog(corpus: Path, registry: Registry) -> str:
    """The catalog of the extension that upstream installed; its reference."""
    bundles = corpus / "upstream-objects" / "bundles"
    folders = [bundles / version for version in ("1.0.0", "1.1.0")]
    pushed = [registry.push(bundle_image(f), "demo-operator") for f in folders]
    facts = [bundle_facts(f, p.reference) for f, p in zip(folders, pushed, strict=True)]
    image = catalog_image(catalog_files([package_blobs(facts)]))
    return registry.push(image, "demo-catalog", tag="latest").tag_reference


@pytest.mark.corpus
@pytest.mark.parametrize(("step", "version"), [("installed", "1.0.0"), ("updated", "1.1.0")])
@pytest.mark.parametrize("mode", ["helm", "boxcutter", "migrated"])
def test_objects_exactly_as_upstream_leaves_them(
    world: World,
    corpus: Path,
    demo_catalog: str,
    serve_catalog: Serve,
    mode: str,
    step: str,
    version: str,
) -> None:
    files = sorted((corpus / "upstream-objects" / mode / step).glob("*.json"))
    left = [obj for obj in map(_read, files) if obj["kind"] not in LEFT_OUT]
    objects = [obj for obj in left if obj["kind"] not in RECORDS]
    world.place("demo-system")
    with world.olm.control_plane.client() as http:
        put(http, left)
    serve_catalog("demo-catalog", demo_catalog)
    pods = world.wait_for_pods("demo-system")
    before = [world.api.get(path_of(obj)) or {} for obj in objects]
    world.take_over("demo", version)
    for obj in before:
        assert_ours(world, obj, "demo")
    assert world.pods("demo-system") == pods

    path = extension_path("demo")
    world.api.patch(path, {"spec": {"source": {"catalog": {"version": "1.1.0"}}}})
    world.api.wait_installed("demo", "1.1.0")
    world.api.wait_gone("/api/v1/namespaces/demo-system/configmaps/demo-operator-config")
    live = {path_of(obj) for obj in before if world.api.get(path_of(obj))}
    generated = {path_of(obj) for obj in before if name_of(obj).startswith("demo-operator.v1.0")}
    assert live.isdisjoint(generated)

    world.api.delete(path)
    world.api.wait_gone(path)
    for obj in before:
        world.api.wait_gone(path_of(obj))
    for found in world.api.list(f"{OLM}/clusterobjectsets", f"{names.LABEL_OWNER_NAME}=demo"):
        world.api.wait_gone(path_of(found))
    world.olm.control_plane.drop_namespace("demo-system")


def _read(path: Path) -> KubeObject:
    found: KubeObject = json.loads(path.read_text())
    return found
