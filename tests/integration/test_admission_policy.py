"""A policy of the administrator's bounds what a team may install (config/samples)."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.olm.api import OLM
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

SAMPLE = Path(__file__).parents[2] / "config" / "samples" / "team-extensions.yaml"
TEAM = {"Impersonate-User": "someone", "Impersonate-Group": "team-a"}
ALLOWED: KubeObject = {
    "apiVersion": "olm.operatorframework.io/v1",
    "kind": "ClusterExtension",
    "metadata": {"name": "of-team-a"},
    "spec": {
        "namespace": "team-a",
        "serviceAccount": {"name": "installer"},
        "source": {
            "sourceType": "Catalog",
            "catalog": {
                "packageName": "hello-operator",
                "selector": {
                    "matchLabels": {"olm.operatorframework.io/metadata.name": "team-catalog"}
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def admin(control_plane: ControlPlane, olm: Olm) -> Iterator[httpx.Client]:
    """The API server with the policy, and an extension that is not the team's."""
    control_plane.kubectl("apply", "-f", str(SAMPLE))
    other = changed(lambda found: found["spec"].update(namespace="team-b"))
    other["metadata"]["name"] = "of-team-b"
    with control_plane.client() as client:
        client.post(f"{OLM}/clusterextensions", json=other).raise_for_status()
        wait_until(lambda: ask(client, other).status_code == 422, what="the policy is in force")
        yield client
        client.delete(f"{OLM}/clusterextensions/of-team-b").raise_for_status()
    control_plane.kubectl("delete", "-f", str(SAMPLE))


def changed(change: Callable[[KubeObject], Any]) -> KubeObject:
    found = copy.deepcopy(ALLOWED)
    change(found)
    return found


def ask(client: httpx.Client, extension: KubeObject) -> httpx.Response:
    """What the server says to the team; nothing is made."""
    path, dry_run = f"{OLM}/clusterextensions", {"dryRun": "All"}
    return client.post(path, json=extension, headers=TEAM, params=dry_run)


def catalog(**fields: Any) -> Callable[[KubeObject], Any]:
    return lambda found: found["spec"]["source"]["catalog"].update(fields)


def safety(**fields: Any) -> Callable[[KubeObject], Any]:
    preflight = {"preflight": {"crdUpgradeSafety": fields}}
    return lambda found: found["spec"].update(install=preflight)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda _: None, id="as it is"),
        pytest.param(catalog(packageName="other-operator", version="1.x"), id="another package"),
        pytest.param(catalog(upgradeConstraintPolicy="CatalogProvided"), id="the policy said"),
        pytest.param(safety(enforcement="Strict"), id="the check said"),
    ],
)
def test_what_the_team_may_ask_for(
    admin: httpx.Client, change: Callable[[KubeObject], Any]
) -> None:
    answer = ask(admin, changed(change))
    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found["spec"].update(namespace="kube-system"), "into the namespace team-a"),
        (lambda found: found["spec"].pop("serviceAccount"), "with the service account installer"),
        (
            lambda found: found["spec"].update(serviceAccount={"name": "default"}),
            "with the service account installer",
        ),
        (catalog(packageName="any-operator"), "installs hello-operator and other-operator"),
        (catalog(selector={"matchLabels": {}}), "from the catalog team-catalog"),
        (
            lambda found: found["spec"]["source"]["catalog"].pop("selector"),
            "from the catalog team-catalog",
        ),
        (
            catalog(
                selector={"matchLabels": {"olm.operatorframework.io/metadata.name": "any-catalog"}}
            ),
            "from the catalog team-catalog",
        ),
        (catalog(upgradeConstraintPolicy="SelfCertified"), "follows the update paths"),
        (safety(enforcement="None"), "leaves the check of changed definitions on"),
        (safety(disabled=True), "leaves the check of changed definitions on"),
    ],
)
def test_what_is_denied_and_why(
    admin: httpx.Client, change: Callable[[KubeObject], Any], said: str
) -> None:
    answer = ask(admin, changed(change))
    assert answer.status_code == 422
    assert said in answer.json()["message"]


def test_what_is_not_the_teams_is_out_of_its_reach(admin: httpx.Client) -> None:
    path = f"{OLM}/clusterextensions/of-team-b"
    merge = {**TEAM, "Content-Type": "application/merge-patch+json"}
    label = {"metadata": {"labels": {"a": "b"}}}
    for answer in (
        admin.patch(path, json=label, headers=merge),
        admin.delete(path, headers=TEAM),
    ):
        assert answer.status_code == 422
        assert "into the namespace team-a" in answer.json()["message"]


def test_nobody_else_is_bound(admin: httpx.Client) -> None:
    body = changed(lambda found: found["spec"].update(namespace="team-c"))
    path = f"{OLM}/clusterextensions"
    answer = admin.post(path, json=body, params={"dryRun": "All"})
    assert answer.status_code == 201, answer.text
