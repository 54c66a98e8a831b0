"""Published operators, applied by plans.

A catalog names them without what they require, so each is installed by itself. `make faults` does
it with every bundle of the corpus.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.images import bundle_image
from e2e.harness.registry import Registry
from e2e.olm.classic import DEFINITIONS, Classic, Place, status
from e2e.olm.fbc import PublishedBundle, bundle_facts, package_blobs

pytestmark = pytest.mark.corpus

SAMPLE = ("prometheus/0.56.3", "flux/2.3.0", "kube-green/0.7.0")
"""Large definitions, the kinds that others make objects of; many of both; webhooks."""
NO_BUNDLES = {"rabbitmq-messaging-topology-operator/1.19.1"}
"""Folders without the annotations that make a bundle of them."""
FIRST = ("prometheus", "cert-manager")
"""They bring kinds of which others make objects."""

Install = Callable[[Path], KubeObject]


@pytest.fixture
def installed(classic: Classic, registry: Registry) -> Iterator[Install]:
    """Installs the bundle of a folder in a namespace of its own; gives its plan."""
    places: list[Place] = []

    def install(folder: Path) -> KubeObject:
        place = classic.place()
        places.append(place)
        published = publish(registry, folder)
        place.catalog("real", package_blobs([published]))
        place.subscribe(published.package, source="real")
        place.wait_subscription(published.package, installedCSV=published.name)
        return place.wait_plan("Complete")

    yield install
    definitions = {
        each["resource"]["name"]
        for place in places
        for plan in place.install_plans()
        for each in status(plan, "plan") or ()
        if each["resource"]["kind"] == "CustomResourceDefinition"
    }
    for place in places:
        classic.control_plane.remove(f"/api/v1/namespaces/{place.name}")
    for name in definitions:
        classic.control_plane.remove(f"{DEFINITIONS}/{name}")


def publish(registry: Registry, folder: Path) -> PublishedBundle:
    pushed = registry.push(bundle_image(folder), f"plans/{folder.parent.name}")
    return bundle_facts(folder, pushed.reference)


def objects_of(classic: Classic, plan: KubeObject) -> Iterable[tuple[str, KubeObject | None]]:
    """What the steps of a plan name, as it is in the cluster."""
    for step in status(plan, "plan"):
        resource = step["resource"]
        path = path_of(classic, resource, plan["metadata"]["namespace"])
        yield path, classic.api.get(path)


def path_of(classic: Classic, resource: dict[str, str], namespace: str) -> str:
    """Where an object is, as discovery has it."""
    group, version = resource["group"], resource["version"]
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    served = (classic.api.get(root) or {})["resources"]
    [found] = [e for e in served if e["kind"] == resource["kind"] and "/" not in e["name"]]
    inside = f"/namespaces/{namespace}" if found["namespaced"] else ""
    return f"{root}{inside}/{found['name']}/{resource['name']}"


def is_all_there(classic: Classic, plan: KubeObject) -> None:
    assert {each["status"] for each in status(plan, "plan")} <= {"Created", "Present"}
    missing = [path for path, found in objects_of(classic, plan) if found is None]
    assert not missing


@pytest.mark.integration
@pytest.mark.parametrize("bundle", SAMPLE)
def test_a_plan_applies_a_published_operator(
    bundle: str, corpus: Path, classic: Classic, installed: Install
) -> None:
    is_all_there(classic, installed(corpus / "bundles" / bundle))


@pytest.mark.faults
def test_plans_apply_every_bundle(corpus: Path, classic: Classic, installed: Install) -> None:
    folders = [
        folder
        for folder in (corpus / "bundles").glob("*/*")
        if f"{folder.parent.name}/{folder.name}" not in NO_BUNDLES
    ]
    folders.sort(key=lambda folder: (folder.parent.name not in FIRST, folder))
    for folder in folders:
        is_all_there(classic, installed(folder))
