"""OpenShift's Proxy `cluster`, while olm-operator runs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from api.objects import KubeObject
from e2e.olm.classic import Classic, Place

pytestmark = pytest.mark.integration

NAME = "proxies.config.openshift.io"
PATH = "/apis/config.openshift.io/v1/proxies"
PROXY = {"apiVersion": "config.openshift.io/v1", "kind": "Proxy", "metadata": {"name": "cluster"}}


@pytest.fixture
def proxies(olm: Classic) -> Iterator[None]:
    """The kind, served."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": NAME,
            "annotations": {"api-approved.kubernetes.io": "https://example.com"},
        },
        "spec": {
            "group": "config.openshift.io",
            "scope": "Cluster",
            "names": {"plural": "proxies", "kind": "Proxy", "listKind": "ProxyList"},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    olm.control_plane.apply(json.dumps(definition))
    path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
    olm.api.wait_condition(path, "Established", "True")
    yield
    olm.control_plane.kubectl("delete", "crd", NAME)


def variables(deployment: KubeObject | None) -> dict[str, str]:
    [container] = (deployment or {})["spec"]["template"]["spec"]["containers"]
    return {each["name"]: each["value"] for each in container.get("env") or ()}


@pytest.mark.usefixtures("proxies")
def test_a_proxy_reaches_operators_while_they_run(olm: Classic, place: Place) -> None:
    path = place.path("deployments", "controller", version="apps/v1")

    def has(wanted: dict[str, str]) -> None:
        def holds(deployment: KubeObject | None) -> bool:
            found = variables(deployment) if deployment else {}
            return {k: v for k, v in found.items() if "PROXY" in k} == wanted

        olm.api.wait(path, holds, what=f"variables {wanted}")
        place.wait_csv("hello.v1.0.0")

    def say(**status: Any) -> None:
        olm.api.patch(f"{PATH}/cluster/status", {"status": status})

    place.csv("hello.v1.0.0")
    place.wait_csv("hello.v1.0.0")
    has({})
    olm.api.create(PATH, {**PROXY, "spec": {"httpProxy": "http://wished.example.com"}})
    say(httpProxy="http://proxy.example.com:3128", noProxy=".svc")
    has({"HTTP_PROXY": "http://proxy.example.com:3128", "NO_PROXY": ".svc"})
    say(httpProxy="", httpsProxy="http://other.example.com:3128")
    has({"HTTPS_PROXY": "http://other.example.com:3128", "NO_PROXY": ".svc"})
    olm.restart_operator()
    has({"HTTPS_PROXY": "http://other.example.com:3128", "NO_PROXY": ".svc"})
    olm.api.delete(f"{PATH}/cluster")
    has({})
