"""The life of an extension whose operator runs: each test goes on where the one before it ended."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.errors import CommandFailed
from e2e.node.cluster import Node
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.manifests import catalog, with_administrator
from e2e.operator.bundles import BAD, PACKAGE
from tests.node.greetings import config_map, greet, wait_said

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("product", "extension")]

DEPLOYMENT = f"/apis/apps/v1/namespaces/{PACKAGE}/deployments/{PACKAGE}"
EXTENSION = extension_path(PACKAGE)
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/greetings.greeter.example.com"


@pytest.fixture(scope="module")
def extension(node: Node, product: None, greeter_catalog: str) -> Iterator[None]:
    """Version 0.1.0, asked for."""
    node.kubectl("apply", "-f", "-", stdin=catalog(PACKAGE, greeter_catalog))
    with Api(node.control_plane) as api:
        api.wait_condition(catalog_path(PACKAGE), "Serving", "True")
    node.kubectl("apply", "-f", "-", stdin=with_administrator(PACKAGE, "0.1.0"))
    yield
    node.kubectl("delete", "clusterextension", PACKAGE, "--ignore-not-found")
    node.kubectl("delete", "clustercatalog", PACKAGE)


def update(api: Api, version: str) -> None:
    api.patch(EXTENSION, {"spec": {"source": {"catalog": {"version": version}}}})


def pods(api: Api) -> list[dict[str, Any]]:
    return api.list(f"/api/v1/namespaces/{PACKAGE}/pods")


def test_its_operator_runs(api: Api) -> None:
    api.wait_installed(PACKAGE, "0.1.0")
    api.wait_condition(EXTENSION, "Available", "True")
    deployment = api.get(DEPLOYMENT)
    assert deployment is not None
    assert deployment["status"]["readyReplicas"] == 1


def test_its_operator_reconciles(node: Node, api: Api) -> None:
    greet(node, "ada", name="Ada")
    wait_said(api, "ada", "Hello, Ada!")
    status = node.kubectl("get", "greetings", "ada", "-o", "jsonpath={.status}")
    assert json.loads(status) == {"configMap": "ada", "version": "0.1.0"}


def test_its_mutating_webhook_is_called(node: Node, api: Api) -> None:
    greet(node, "all")
    wait_said(api, "all", "Hello, world!")


def test_its_validating_webhook_is_called(node: Node) -> None:
    with pytest.raises(CommandFailed, match="nobody is not there to be greeted"):
        greet(node, "none", name="nobody")


def test_its_conversion_webhook_is_called(node: Node) -> None:
    spec = node.kubectl("get", "greetings.v2.greeter.example.com", "ada", "-o", "jsonpath={.spec}")
    assert json.loads(spec) == {"who": "Ada"}


def test_a_deleted_deployment_comes_back_and_its_operator_runs_again(node: Node, api: Api) -> None:
    before = {pod["metadata"]["uid"] for pod in pods(api)}
    node.kubectl("delete", "deployment", PACKAGE, "-n", PACKAGE)

    def replaced(deployment: dict[str, Any] | None) -> bool:
        return bool(deployment and (deployment.get("status") or {}).get("readyReplicas") == 1)

    api.wait(DEPLOYMENT, replaced, what="the operator runs again")
    assert {pod["metadata"]["uid"] for pod in pods(api)} - before


def test_a_changed_deployment_is_put_right(node: Node, api: Api) -> None:
    node.kubectl("set", "env", "-n", PACKAGE, f"deployment/{PACKAGE}", "GREETER_WORDS-")
    node.kubectl("scale", "-n", PACKAGE, f"deployment/{PACKAGE}", "--replicas=0")

    def runs(deployment: dict[str, Any] | None) -> bool:
        status = (deployment or {}).get("status") or {}
        return bool(
            deployment and deployment["spec"]["replicas"] == 1 == status.get("readyReplicas")
        )

    api.wait(DEPLOYMENT, runs, what="one replica")


def test_an_update_replaces_the_operator(node: Node, api: Api) -> None:
    update(api, "0.2.0")
    api.wait_installed(PACKAGE, "0.2.0")
    wait_said(api, "ada", "Good day, Ada!")


def test_an_update_that_cannot_run_leaves_the_old_version_at_work(node: Node, api: Api) -> None:
    update(api, BAD)
    api.wait_condition(EXTENSION, "Available", "False", message="ImagePullBackOff")
    extension = api.get(EXTENSION)
    assert extension is not None
    assert extension["status"]["install"]["bundle"]["version"] == "0.2.0"
    greet(node, "grace", name="Grace")
    wait_said(api, "grace", "Good day, Grace!")


def test_the_bad_update_is_taken_back(node: Node, api: Api) -> None:
    update(api, "0.2.0")
    api.wait_installed(PACKAGE, "0.2.0")
    api.wait_condition(EXTENSION, "Available", "True")
    wait_until(lambda: len(pods(api)) == 1, what="the bad pod is gone")


def test_a_rollback_brings_the_old_operator_back(
    node: Node, api: Api, olm_command: Callable[..., str]
) -> None:
    olm_command("rollback", PACKAGE, "--wait")
    wait_said(api, "ada", "Hello, Ada!")


def test_what_a_custom_resource_owned_is_collected(node: Node, api: Api) -> None:
    """The collector reads them in a version that only the conversion webhook can give it.

    In the foreground, for that ends only once the collector has seen all of them. Of what it has
    not seen before their kind goes with the extension, it never collects what they owned.
    """
    greet(node, "linus", name="Linus")
    wait_said(api, "linus", "Hello, Linus!")
    node.kubectl("delete", "greeting", "linus", "--cascade=foreground", "--timeout=180s")
    api.wait_gone(config_map("linus"))


def test_a_deleted_extension_takes_its_operator_with_it(node: Node, api: Api) -> None:
    node.kubectl("delete", "clusterextension", PACKAGE, "--timeout=180s")
    for path in (DEPLOYMENT, CRD):
        api.wait_gone(path)
    for kind in ("validating", "mutating"):
        hooks = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"
        assert not [hook for hook in api.list(hooks) if "greeter" in hook["metadata"]["name"]]
    wait_until(lambda: not pods(api), what="its pods end")


@pytest.mark.parametrize("name", ["ada", "all", "grace"])
def test_what_its_custom_resources_owned_goes_with_it(api: Api, name: str) -> None:
    api.wait_gone(config_map(name))
