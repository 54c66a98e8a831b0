"""Operators of OLM Classic that need others, serve an API, cannot run, or are published ones."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.objects import KubeObject
from api.operators.names import V1ALPHA1
from e2e.harness.images import bundle_image, catalog_image
from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place, status
from e2e.olm.fbc import PublishedBundle, bundle_facts, catalog_files, package_blobs
from e2e.operator.dictionary import API_PORT, GROUP, HEALTH_PORT, ROOT
from e2e.operator.images import dictionary
from olm_content.names import CSV_KIND
from olm_runtime.clocks import utc_now
from tests.node.callers import Caller

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("shared")]

WORD = {"group": GROUP, "version": "v1", "kind": "Word"}
SERVED = {
    **WORD,
    "name": "words",
    "deploymentName": "dictionary-operator",
    "containerPort": API_PORT,
}
API_SERVICE = f"/apis/apiregistration.k8s.io/v1/apiservices/v1.{GROUP}"
OWN = ("OwnNamespace",)
READY = {
    "httpGet": {"path": "/readyz", "port": HEALTH_PORT},
    "periodSeconds": 1,
    "timeoutSeconds": 5,
    "failureThreshold": 30,
}
"""Ready soon, and not unready because the machine does much else: then nobody would be called."""
SOME = 5
"""Calls at least, while something happens."""
PUBLISHED = ("external-secrets-operator/0.10.7", "mariadb-operator/26.6.0")
"""Operators whose image says what it runs, so that another may take its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSpec(BundleSpec):
    """A bundle of an operator that is ready when it serves, whose ClusterServiceVersion says more.

    `impatient` gives its pods three seconds.
    """

    says: Mapping[str, Any] = field(default_factory=dict)
    impatient: bool = False

    def files(self) -> dict[str, bytes]:
        """The files of the bundle by path."""
        files = BundleSpec.files(self)
        csv = yaml.safe_load(files["manifests/csv.yaml"])
        csv["spec"] |= self.says
        [deployment] = csv["spec"]["install"]["spec"]["deployments"]
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        container["readinessProbe"] = READY
        if self.impatient:
            deployment["spec"]["progressDeadlineSeconds"] = 3
        return {**files, "manifests/csv.yaml": yaml.safe_dump(csv).encode()}


Blobs = list[Mapping[str, Any]]


def package(published: PublishedBundle, *, skips: str = "", **properties: Any) -> Blobs:
    """A package of one bundle, with properties of it by type, that replaces a range of versions."""
    *others, channel, bundle = package_blobs([published])
    [entry] = channel["entries"]
    entries = [{**entry, **({"skipRange": skips} if skips else {})}]
    more = [
        {"type": f"olm.{key.replace('_', '.')}", "value": each} for key, each in properties.items()
    ]
    described = {**bundle, "properties": [*bundle["properties"], *more]}
    return [*others, {**channel, "entries": entries}, described]


def offer(place: Place, name: str, *packages: Blobs) -> None:
    """Has a catalog of the namespace offer these from now on."""
    image = catalog_image(catalog_files(packages))
    pushed = place.classic.registry.push(image, f"catalogs/{name}")
    source = {"sourceType": "grpc", "image": pushed.reference}
    place.create(V1ALPHA1, "CatalogSource", name, source)
    place.wait_catalog(name)


@pytest.fixture(scope="module")
def shared(classic: Release) -> None:
    """Neither catalogs nor bundles need pods."""
    classic.upgrade({"catalogOperator": {"catalogServing": "shared", "bundleUnpack": "process"}})


@pytest.fixture(scope="module")
def image(node: Node) -> str:
    """The reference of an operator's image that is well, and serves words where it may."""
    return node.registry.push(dictionary(), "dictionary", tag="v1").tag_reference


@pytest.fixture(scope="module")
def readers(users: Classic) -> Iterator[Place]:
    """A namespace of operators for it alone."""
    yield from emptied(users.place(name="classic-readers", own=True))


@pytest.fixture
def place(users: Classic) -> Iterator[Place]:
    """A namespace whose operators watch all, and fail forward."""
    yield from emptied(users.place(group={"upgradeStrategy": "TechPreviewUnsafeFailForward"}))


def emptied(place: Place) -> Iterator[Place]:
    yield place
    place.classic.control_plane.kubectl("delete", "namespace", place.name, "--wait=false")


@pytest.fixture(scope="module")
def dictionary_package(node: Node, image: str) -> Blobs:
    """An operator that serves an API."""
    says = {"apiservicedefinitions": {"owned": [SERVED]}}
    spec = OperatorSpec(package="dictionary", version="1.0.0", modes=OWN, operator=image, says=says)
    return package(spec.publish(node.registry), gvk=WORD)


def reader(node: Node, image: str, version: str, skips: str = "") -> Blobs:
    """An operator that requires that API, and replaces a range of its own versions."""
    says = {"apiservicedefinitions": {"required": [{**WORD, "name": "words"}]}}
    spec = OperatorSpec(package="reader", version=version, modes=OWN, operator=image, says=says)
    return package(spec.publish(node.registry), gvk_required=WORD, skips=skips)


def test_what_an_operator_requires_comes_with_it(
    node: Node, readers: Place, image: str, dictionary_package: Blobs
) -> None:
    offer(readers, "words", dictionary_package, reader(node, image, "1.0.0"))
    readers.subscribe("reader", source="words")
    for csv in ("dictionary.v1.0.0", "reader.v1.0.0"):
        readers.wait_csv(csv)


def test_its_api_is_called_while_its_certificate_is_rotated(node: Node, readers: Place) -> None:
    word = f"{ROOT}/namespaces/{readers.name}/words/hello"
    found = readers.classic.api.get(word) or {}
    assert found["spec"] == {"meaning": "hello"}
    csv = "dictionary.v1.0.0"
    before = status(readers.wait_csv(csv), "certsLastUpdated")
    now = utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def why() -> str:
        return str(http.get(API_SERVICE).json().get("status"))

    with node.control_plane.client() as http, Caller(lambda: http.get(word), why) as caller:
        readers.patch_status("clusterserviceversions", csv, {"certsRotateAt": now})
        readers.wait("clusterserviceversions", csv, lambda each: is_renewed(each, before))
        deployment = "deployment/dictionary-operator"
        node.kubectl("rollout", "status", deployment, f"-n={readers.name}", "--timeout=180s")
    assert caller.failures == []
    assert caller.answered > SOME


def is_renewed(csv: KubeObject, before: str) -> bool:
    renewed: bool = status(csv, "certsLastUpdated") > before
    return renewed and status(csv, "phase") == "Succeeded"


def test_an_update_skips_a_range_of_versions(
    node: Node, readers: Place, image: str, dictionary_package: Blobs
) -> None:
    skips = ">=1.0.0 <1.5.0"
    offer(readers, "words", dictionary_package, reader(node, image, "1.5.0", skips))
    readers.wait_csv("reader.v1.5.0")
    path = readers.path("clusterserviceversions", "reader.v1.0.0")
    readers.classic.api.wait_gone(path)


def test_an_image_that_nobody_has_is_reported_and_mended_by_a_new_catalog(
    node: Node, place: Place, image: str
) -> None:
    absent = OperatorSpec(
        package="absent",
        version="1.0.0",
        operator=f"{node.registry.address}/nobody/has:this",
        impatient=True,
    )
    offer(place, "absent", package(absent.publish(node.registry)))
    place.subscribe("absent", source="absent")
    path = place.path("clusterserviceversions", absent.name)
    place.classic.api.wait(path, names_image, what="that the image cannot be pulled")
    place.wait_csv(absent.name, "Failed")
    there = OperatorSpec(package="absent", version="1.0.1", operator=image)
    offer(place, "absent", package(there.publish(node.registry), skips="<1.0.1"))
    place.wait_csv(there.name)
    place.classic.api.wait_gone(path)


def names_image(csv: KubeObject | None) -> bool:
    said = str(status(csv or {}, "message"))
    return "ImagePullBackOff" in said and "nobody/has:this" in said


@pytest.mark.parametrize("bundle", PUBLISHED)
def test_a_published_operator_runs_on_an_image_of_ours(
    bundle: str, node: Node, place: Place, image: str, corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(corpus / "bundles" / bundle, folder)
    replace_images(folder, image)
    pushed = node.registry.push(bundle_image(folder), f"published/{bundle.partition('/')[0]}")
    published = bundle_facts(folder, pushed.reference)
    offer(place, "published", package_blobs([published]))
    place.subscribe(published.package, source="published")
    place.wait_csv(published.name)


def replace_images(folder: Path, image: str) -> None:
    """Has all containers of a bundle's operator run another image."""
    for file in (folder / "manifests").iterdir():
        obj = yaml.safe_load(file.read_text())
        if obj["kind"] == CSV_KIND:
            for each in obj["spec"]["install"]["spec"]["deployments"]:
                for container in each["spec"]["template"]["spec"]["containers"]:
                    container["image"] = image
            file.write_text(yaml.safe_dump(obj))
