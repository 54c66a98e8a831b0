"""ClusterServiceVersions that replace each other, or are changed where they are."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from api.objects import KubeObject, labels_of
from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import definition, deployment, entry

pytestmark = pytest.mark.integration

APPS = "apps/v1"
V2 = "operators.coreos.com/v2"
CSVS = "clusterserviceversions"


@pytest.fixture
def group(olm: Classic) -> Iterator[str]:
    """A group of an API, whose definition is deleted afterwards."""
    group = f"g{secrets.token_hex(4)}.example.com"
    yield group
    olm.remove_definition(f"things.{group}")


def live(place: Place, name: str) -> KubeObject | None:
    return place.classic.api.get(place.path("deployments", name, version=APPS))


def wait_gone(place: Place, name: str, plural: str = CSVS, version: str = "") -> None:
    path = place.path(plural, name, version=version) if version else place.path(plural, name)
    wait_until(lambda: place.classic.api.get(path) is None, what=f"the end of {name}")


def image_of(place: Place, name: str) -> str:
    [container] = (live(place, name) or {})["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


def upgrades(olm: Classic) -> float:
    """The value of csv_upgrade_count."""
    lines = olm.operator_metrics().splitlines()
    [found] = [line for line in lines if line.startswith("csv_upgrade_count")]
    return float(found.rpartition(" ")[2])


def broken(olm: Classic, name: str, **spec: Any) -> dict[str, Any]:
    """A Deployment whose pods do not run, until `mend`."""
    image = f"nowhere.example.com/{secrets.token_hex(4)}"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "there is none")
    return deployment(name, image=image, **spec)


def mend(olm: Classic, place: Place, template: dict[str, Any]) -> None:
    """Has the image of a Deployment be there, and its pods be made anew."""
    [container] = template["spec"]["template"]["spec"]["containers"]
    del olm.stand_ins.nodes.waiting[container["image"]]
    path = place.path("pods", version="v1")
    for pod in olm.api.list(path):
        if pod["spec"]["containers"][0]["image"] == container["image"]:
            olm.api.delete(f"{path}/{pod['metadata']['name']}")


def forward(olm: Classic) -> Place:
    """A place whose group lets what failed be replaced."""
    name = f"test-{secrets.token_hex(4)}"
    strategy = {"upgradeStrategy": "TechPreviewUnsafeFailForward"}
    return olm.place(group={"targetNamespaces": [name], **strategy}, name=name)


def test_an_update_with_the_same_deployment_name(place: Place) -> None:
    place.csv("operator.v1", deployments=[deployment("controller", image="a:1")])
    place.wait_csv("operator.v1")
    before = live(place, "controller") or {}
    newer = [deployment("controller", image="a:2")]
    place.csv("operator.v2", replaces="operator.v1", deployments=newer)
    csv = place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")
    after = live(place, "controller") or {}
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert image_of(place, "controller") == "a:2"
    assert labels_of(after)["olm.owner"] == "operator.v2"
    [owner] = after["metadata"]["ownerReferences"]
    assert owner["uid"] == csv["metadata"]["uid"]


def test_an_update_with_a_different_deployment_name(place: Place) -> None:
    place.csv("operator.v1", deployments=["first"])
    place.wait_csv("operator.v1")
    place.csv("operator.v2", replaces="operator.v1", deployments=["second"])
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")
    wait_gone(place, "first", "deployments", APPS)
    assert live(place, "second")


def test_an_update_through_several_intermediates(olm: Classic, place: Place) -> None:
    """All of the chain are there at once; each goes, the oldest first."""
    before = upgrades(olm)
    place.csv("operator.v1", deployments=["first"])
    place.wait_csv("operator.v1")
    for number in (2, 3, 4):
        older = f"operator.v{number - 1}"
        place.csv(f"operator.v{number}", replaces=older, deployments=[f"operator-{number}"])
    place.wait_csv("operator.v4")
    for number in (1, 2, 3):
        wait_gone(place, f"operator.v{number}")
    assert upgrades(olm) == before + 3


def test_an_update_in_place_of_a_deployment_name(place: Place) -> None:
    """Modified name."""
    place.csv("operator.v1", deployments=["before"])
    place.wait_csv("operator.v1")
    place.csv("operator.v1", deployments=["after"])
    wait_until(lambda: live(place, "after") is not None, what="the new Deployment")
    wait_gone(place, "before", "deployments", APPS)
    place.wait_csv("operator.v1")


def test_a_hotfix_of_the_specification(place: Place) -> None:
    """In place: the Deployment follows, and the phase comes back."""
    place.csv("operator.v1", deployments=[deployment("controller", image="a:1")])
    place.wait_csv("operator.v1")
    place.csv("operator.v1", deployments=[deployment("controller", image="a:2", replicas=2)])
    wait_until(lambda: image_of(place, "controller") == "a:2", what="the image")
    csv = place.wait_csv("operator.v1")
    assert [each["reason"] for each in status(csv, "conditions")].count("ComponentUnhealthy")


def test_an_update_with_several_versions_of_a_definition(place: Place, group: str) -> None:
    both = definition(group, versions=("v1", "v2"))
    place.apply(definition(group))
    place.csv("operator.v1", owned=[entry(definition(group))])
    place.wait_csv("operator.v1")
    place.apply(both)
    owned = [entry(both, "v1"), entry(both, "v2")]
    place.csv("operator.v2", replaces="operator.v1", owned=owned)
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")


def test_a_definition_that_ends_the_version_of_what_is_replaced(place: Place, group: str) -> None:
    """Upstream leaves both Pending for good."""
    first, second = definition(group), definition(group, versions=("v2",))
    place.apply(definition(group, versions=("v1", "v2")))
    place.csv("operator.v1", owned=[entry(first)])
    place.wait_csv("operator.v1")
    unserved = definition(group, versions=("v1", "v2"))
    unserved["spec"]["versions"][0]["served"] = False
    place.apply(unserved)
    place.wait_csv("operator.v1", "Pending")
    place.csv("operator.v2", replaces="operator.v1", owned=[entry(second)])
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")


def test_what_it_replaces_has_to_work_first(olm: Classic, place: Place) -> None:
    """Without fail-forward nothing replaces what failed."""
    late = broken(olm, "first")
    place.csv("operator.v1", deployments=[late])
    place.wait_csv("operator.v1", "Installing")
    place.csv("operator.v2", replaces="operator.v1", deployments=["second"])
    csv = place.wait_csv("operator.v2", "Pending")
    assert status(csv, "reason") == "RequirementsUnknown"
    mend(olm, place, late)
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")


def test_what_failed_is_replaced_by_fail_forward(olm: Classic) -> None:
    place = forward(olm)
    sick = broken(olm, "sick", progressDeadlineSeconds=1)
    place.csv("operator.v1", deployments=[sick])
    csv = place.wait_reason("operator.v1", "InstallCheckFailed")
    assert status(csv, "phase") == "Failed"
    assert 'deployment "sick" exceeded its progress deadline' in status(csv, "message")
    place.csv("operator.v2", replaces="operator.v1", deployments=["second"])
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")
    olm.remove(place.name)


def test_several_that_failed_go_once_the_last_works(olm: Classic) -> None:
    place = forward(olm)
    sick = broken(olm, "sick", progressDeadlineSeconds=1)
    place.csv("operator.v1", deployments=["first"])
    place.wait_csv("operator.v1")
    place.csv("operator.v2", replaces="operator.v1", deployments=[sick])
    place.wait_csv("operator.v2", "Failed")
    place.wait_csv("operator.v1", "Replacing")
    place.csv("operator.v3", replaces="operator.v2", deployments=["third"])
    place.wait_csv("operator.v3")
    wait_gone(place, "operator.v1")
    wait_gone(place, "operator.v2")
    olm.remove(place.name)


def condition(place: Place, name: str, **spec: Any) -> None:
    place.create(V2, "OperatorCondition", name, spec)


def upgradeable(value: str, message: str) -> dict[str, Any]:
    return {
        "type": "Upgradeable",
        "status": value,
        "reason": "Told",
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


def test_an_operator_condition_holds_up_its_replacement(place: Place) -> None:
    """Pending while not upgradeable; the override lets it go."""
    place.csv("operator.v1", deployments=["first"])
    place.wait_csv("operator.v1")
    condition(place, "operator.v1")
    conditions = place.path("operatorconditions", "operator.v1", version=V2)
    patch = {"status": {"conditions": [upgradeable("False", "busy") | {"observedGeneration": 1}]}}
    place.classic.api.patch(f"{conditions}/status", patch)
    place.csv("operator.v2", replaces="operator.v1", deployments=["second"])

    def waits(obj: KubeObject) -> bool:
        return bool(status(obj, "reason") == "OperatorConditionNotUpgradeable")

    csv = place.wait(CSVS, "operator.v2", waits)
    text = "operator is not upgradeable: the operator is not upgradeable: busy"
    assert (status(csv, "phase"), status(csv, "message")) == ("Pending", text)
    place.wait_csv("operator.v1", "Replacing")
    given = upgradeable("True", "go")
    override = {key: given[key] for key in ("type", "status", "reason", "message")}
    place.classic.api.patch(conditions, {"spec": {"overrides": [override]}})
    place.wait_csv("operator.v2")
    wait_gone(place, "operator.v1")


def test_a_replacement_that_is_gone(olm: Classic, place: Place) -> None:
    """What was being replaced stays as it is, until there is another."""
    place.csv("operator.v1", deployments=["first"])
    place.wait_csv("operator.v1")
    late = broken(olm, "second")
    place.csv("operator.v2", replaces="operator.v1", deployments=[late])
    place.wait_csv("operator.v2", "Installing")
    place.delete(CSVS, "operator.v2")
    wait_gone(place, "operator.v2")
    place.wait_csv("operator.v1", "Replacing")
    assert live(place, "first")
    place.csv("operator.v3", replaces="operator.v1", deployments=["third"])
    place.wait_csv("operator.v3")
    wait_gone(place, "operator.v1")
