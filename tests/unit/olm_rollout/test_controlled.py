"""Fields that controllers of Kubernetes own by design are not applied."""

import base64
import copy
from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.controlled import CA_BUNDLES, CA_INJECTORS, without_controlled

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n").decode()
AGGREGATION = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
RBAC = "rbac.authorization.k8s.io/v1"


def obj(kind: str, api: str = "example.com/v1", notes: Any = None, **fields: Any) -> KubeObject:
    meta = {"name": "x"} | ({"annotations": notes} if notes else {})
    return {"apiVersion": api, "kind": kind, "metadata": meta, **fields}


def calling(kind: str, config: dict[str, Any], notes: Any = None) -> KubeObject:
    """An object whose `caBundle` is in this configuration."""
    match kind:
        case "APIService":
            return obj(kind, notes=notes, spec=config)
        case "CustomResourceDefinition":
            conversion = {"strategy": "Webhook", "webhook": {"clientConfig": config}}
            return obj(kind, notes=notes, spec={"group": "g", "conversion": conversion})
        case _:
            return obj(kind, notes=notes, webhooks=[{"name": "a", "clientConfig": config}])


def test_rules_of_an_aggregated_role() -> None:
    role = obj("ClusterRole", RBAC, aggregationRule=AGGREGATION, rules=[])
    assert without_controlled(role, None) == obj("ClusterRole", RBAC, aggregationRule=AGGREGATION)
    for untouched in (obj("ClusterRole", RBAC, rules=[]), {**role, "apiVersion": "example.com/v1"}):
        assert without_controlled(untouched, None) == untouched


@pytest.mark.parametrize("kind", CA_BUNDLES)
@pytest.mark.parametrize("annotation", sorted(CA_INJECTORS))
def test_a_bundle_that_is_to_be_injected(kind: str, annotation: str) -> None:
    notes = {annotation: "true"}
    asking = calling(kind, {"url": "u", "caBundle": PEM}, notes)
    before = copy.deepcopy(asking)
    assert without_controlled(asking, None) == calling(kind, {"url": "u"}, notes)
    assert asking == before


@pytest.mark.parametrize("kind", CA_BUNDLES)
@pytest.mark.parametrize("bundle", ["", None, "Cg==", "bm9uZQ=="])
def test_a_place_for_a_bundle(kind: str, bundle: str | None) -> None:
    found = without_controlled(calling(kind, {"url": "u", "caBundle": bundle}), None)
    assert found == calling(kind, {"url": "u"})


@pytest.mark.parametrize("kind", CA_BUNDLES)
@pytest.mark.parametrize("bundle", [PEM, "no base64!", 7])
def test_a_bundle_of_the_manifest_is_applied(kind: str, bundle: Any) -> None:
    untouched = calling(kind, {"url": "u", "caBundle": bundle})
    assert without_controlled(untouched, None) == untouched


@pytest.mark.parametrize(
    ("entry", "scaled"),
    [
        ({"manager": "kube-controller-manager", "subresource": "scale"}, True),
        ({"manager": "kube-controller-manager", "subresource": "status"}, False),
        ({"manager": "kubectl", "subresource": "scale"}, False),
    ],
)
def test_replicas_that_an_autoscaler_sets(entry: dict[str, str], *, scaled: bool) -> None:
    workload = obj("Deployment", "apps/v1", spec={"replicas": 1, "paused": False})
    live = {"metadata": {"managedFields": [entry]}}
    spec = without_controlled(workload, live)["spec"]
    assert spec == ({"paused": False} if scaled else {"replicas": 1, "paused": False})
    assert without_controlled(workload, None) == workload


def test_annotations_that_were_exported_with_an_object() -> None:
    notes = {"deployment.kubernetes.io/revision": "3", "team": "red"}
    found = without_controlled(obj("Deployment", "apps/v1", notes), None)
    assert found == obj("Deployment", "apps/v1", {"team": "red"})


@pytest.mark.parametrize(
    "odd",
    [
        obj("MutatingWebhookConfiguration", webhooks="x"),
        obj("MutatingWebhookConfiguration", webhooks=[None, {"clientConfig": []}]),
        obj("CustomResourceDefinition", spec={"conversion": {"webhook": None}}),
        obj("CustomResourceDefinition"),
        obj("APIService", spec=["x"]),
        obj("Deployment", spec=7),
        {"metadata": {}},
    ],
)
def test_what_the_api_server_will_refuse_is_left_to_it(odd: KubeObject) -> None:
    live = {
        "metadata": {
            "managedFields": [{"manager": "kube-controller-manager", "subresource": "scale"}]
        }
    }
    assert without_controlled(odd, live) == odd
