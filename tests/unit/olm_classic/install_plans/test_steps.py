"""From unpacked bundles to the steps of a plan."""

from typing import Any

import orjson
import pytest

from api.objects import GVK
from olm_classic.install_plans.lookups import BundleLookup, Unpacked
from olm_classic.install_plans.objects import InvalidBundleError
from olm_classic.install_plans.steps import is_supported, lookups_of, steps_of
from olm_classic.resolve import SourceKey

KEY = SourceKey("operators", "olm")
PROPERTIES = '{"properties":[]}'


def csv(name: str, **spec: Any) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    own = {"serviceAccountName": "worker", "rules": rules}
    default = {"serviceAccountName": "default", "rules": rules}
    strategy = {"permissions": [own], "clusterPermissions": [default], "deployments": []}
    install = {"strategy": "deployment", "spec": strategy}
    meta = {"name": name, "annotations": {"kept": "yes"}}
    api_version = "operators.coreos.com/v1alpha1"
    given = {"replaces": "as-written", "install": install} | spec
    return {
        "apiVersion": api_version, "kind": "ClusterServiceVersion", "metadata": meta, "spec": given
    }  # fmt: skip


def obj(kind: str, name: str = "x", api_version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}


def bundle(name: str, *objects: dict[str, Any], inline: bool = False) -> Unpacked:
    lookup = BundleLookup(name, f"image/{name}", "before", KEY, PROPERTIES)
    return Unpacked(lookup, objects, None if inline else ("olm", "abc"))


def kinds(steps: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["resolving"], each["resource"]["kind"]) for each in steps]


def test_versions_come_first_then_definitions_then_the_rest_of_each_bundle() -> None:
    crd = obj("CustomResourceDefinition", api_version="apiextensions.k8s.io/v1")
    bundles = [bundle("a", obj("Secret"), csv("a")), bundle("b", csv("b"), crd)]
    generated = {"name": "b", "source": "operators", "sourceNamespace": "olm", "startingCSV": "b"}
    steps = steps_of(bundles, [("b-stable-operators-olm", generated)], "apps")
    accounts = ["ClusterRole", "ClusterRoleBinding", "ServiceAccount", "Role", "RoleBinding"]
    assert kinds(steps) == [
        ("a", "ClusterServiceVersion"),
        ("b", "ClusterServiceVersion"),
        ("b", "CustomResourceDefinition"),
        ("a", "BundleSecret"),
        *(("a", kind) for kind in accounts),
        *(("b", kind) for kind in accounts),
        ("b", "Subscription"),
    ]
    assert {each["status"] for each in steps} == {"Unknown"}
    assert orjson.loads(steps[-1]["resource"]["manifest"])["spec"] == generated


def test_a_step_says_where_its_object_is() -> None:
    (step, *_) = steps_of([bundle("a", csv("a"))], [], "apps")
    assert orjson.loads(step["resource"]["manifest"]) == {
        "kind": "ConfigMap",
        "name": "abc",
        "namespace": "olm",
        "catalogSourceName": "operators",
        "catalogSourceNamespace": "olm",
        "replaces": "before",
        "properties": PROPERTIES,
    }


def test_a_version_that_stands_in_the_catalog_is_written_as_it_was_resolved() -> None:
    (step, *_) = steps_of([bundle("a", csv("a"), inline=True)], [], "apps")
    written = orjson.loads(step["resource"]["manifest"])
    assert written["metadata"]["namespace"] == "apps"
    assert written["spec"]["replaces"] == "before"
    assert written["metadata"]["annotations"] == {
        "kept": "yes",
        "operatorframework.io/properties": PROPERTIES,
    }


@pytest.mark.parametrize(
    ("key", "message"),
    [("apiVersion", "bundle CSV a missing APIVersion"), ("kind", "bundle CSV a missing Kind")],
)
def test_a_version_that_does_not_say_what_it_is_makes_no_plan(key: str, message: str) -> None:
    given = {name: value for name, value in csv("a").items() if name != key}
    with pytest.raises(InvalidBundleError, match=message):
        steps_of([bundle("a", given)], [], "apps")


def test_the_bundles_are_listed() -> None:
    assert lookups_of([bundle("a", csv("a"))]) == [
        {
            "path": "image/a",
            "identifier": "a",
            "replaces": "before",
            "properties": PROPERTIES,
            "catalogSourceRef": {"namespace": "olm", "name": "operators"},
        }
    ]


def test_what_plans_write() -> None:
    assert is_supported(GVK("policy", "v1", "PodDisruptionBudget"))
    assert not is_supported(GVK("", "v1", "Pod"))


def test_a_bundle_with_a_credentials_request_is_refused() -> None:
    """Its operator makes it itself (documents, token authentication)."""
    assert not is_supported(GVK("cloudcredential.openshift.io", "v1", "CredentialsRequest"))
