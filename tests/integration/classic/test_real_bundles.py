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
NOT_HERE = {"prometheus/0.37.0"}
"""Needs a kind that Kubernetes serves no more."""
SECONDS = 3600
FIRST = ("prometheus", "cert-manager")
"""They bring kinds of which others make objects."""

ENDS = ("Complete", "Failed")

Install = Callable[[Path], KubeObject]


@pytest.fixture
def installed(classic: Classic, registry: Registry) -> Iterator[Install]:
    """Installs the bundle of a folder in a namespace of its own; gives its plan at its end."""
    places: list[Place] = []

    def install(folder: Path) -> KubeObject:
        place = classic.place()
        places.append(place)
        published = publish(registry, folder)
        place.catalog("real", package_blobs([published]))
        place.subscribe(published.package, source="real")
        path = place.path("installplans")
        classic.api.wait(path, lambda _: ended(place) is not None, what=f"a plan of {folder}")
        return ended(place) or {}

    yield install
    definitions = {
        each["resource"]["name"]
        for place in places
        for plan in place.install_plans()
        for each in status(plan, "plan") or ()
        if each["resource"]["kind"] == "CustomResourceDefinition"
    }
    for place in places:
        classic.remove(place.name)
    for name in definitions:
        classic.control_plane.remove(f"{DEFINITIONS}/{name}")


def ended(place: Place) -> KubeObject | None:
    """The plan of a namespace, once it is complete or has failed."""
    return next((p for p in place.install_plans() if status(p, "phase") in ENDS), None)


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
    kind = resource["kind"].removeprefix("Bundle")  # a plan's word for Secrets of bundles
    [found] = [each for each in served if each["kind"] == kind and "/" not in each["name"]]
    inside = f"/namespaces/{namespace}" if found["namespaced"] else ""
    return f"{root}{inside}/{found['name']}/{resource['name']}"


def is_all_there(classic: Classic, plan: KubeObject) -> None:
    assert status(plan, "phase") == "Complete", plan["status"].get("conditions")
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
@pytest.mark.timeout(SECONDS)
def test_plans_apply_every_bundle(corpus: Path, classic: Classic, installed: Install) -> None:
    folders = {f"{each.parent.name}/{each.name}": each for each in (corpus / "bundles").glob("*/*")}
    names = sorted(folders.keys() - NO_BUNDLES, key=lambda name: (not name.startswith(FIRST), name))
    failed = {}
    for name in names:
        plan = installed(folders[name])
        if status(plan, "phase") == "Failed":
            failed[name] = plan["status"]["conditions"]
        else:
            is_all_there(classic, plan)
    assert failed.keys() == NOT_HERE, failed
