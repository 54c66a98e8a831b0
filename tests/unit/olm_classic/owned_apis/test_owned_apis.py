"""What API services and webhooks of operators need."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, labels_of
from olm_classic.csv.owner import Owner
from olm_classic.hashes import deep_hash
from olm_classic.names import LABEL_DEPLOYMENT_HASH
from olm_classic.owned_apis.availability import refusal
from olm_classic.owned_apis.described import conversion_problem, servings
from olm_classic.owned_apis.legacy import legacy_objects
from olm_classic.owned_apis.mounts import PATHS, mounted
from olm_classic.owned_apis.objects import (
    AUTHORITY_HASH,
    TRUSTED_HASH,
    objects,
    secret,
    webhook_configuration,
)
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import issued, prepared, promoted

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OWNER = Owner("csv.v1", "ns", "uid")


def described(**more: Any) -> dict[str, Any]:
    base = {"type": "ValidatingAdmissionWebhook", "generateName": "w", "sideEffects": "None"}
    return {**base, "deploymentName": "my.controller", "admissionReviewVersions": ["v1"], **more}


def csv(*webhooks: dict[str, Any], modes: tuple[str, ...] = ("AllNamespaces",)) -> KubeObject:
    return {
        "metadata": {"name": "csv.v1", "namespace": "ns"},
        "spec": {
            "webhookdefinitions": list(webhooks),
            "installModes": [{"type": mode, "supported": True} for mode in modes],
            "customresourcedefinitions": {"owned": [{"name": "things.x", "version": "v1"}]},
        },
    }


def deployment(**container: Any) -> KubeObject:
    pod = {"containers": [{"name": "manager", **container}], "serviceAccountName": "runner"}
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": {"spec": pod}}
    return {"metadata": {"name": "my.controller", "labels": {"own": "label"}}, "spec": spec}


def test_names_of_services_have_no_dots_and_ports_are_listed_once() -> None:
    [serving] = servings(csv(described(containerPort=9443), described(containerPort=9443)))
    assert serving.service == "my-controller-service"
    assert serving.dns_names[1] == "my-controller-service.ns.svc"
    assert serving.ports == [{"name": "9443", "port": 9443, "targetPort": 9443}]
    assert servings(csv(described()))[0].ports[0]["port"] == 443


def test_the_account_of_a_deployment_reads_its_certificate_and_no_more() -> None:
    [serving] = servings(csv(described()))
    kinds = [each["kind"] for each in objects(serving, OWNER, deployment())]
    assert kinds == ["Service", "Role", "RoleBinding"]
    _, role, binding = objects(serving, OWNER, deployment())
    assert role["rules"][0]["resourceNames"] == ["my-controller-service-cert"]
    assert binding["subjects"][0]["name"] == "runner"


def test_mounts_of_the_same_path_are_replaced_and_of_the_same_name_preserved() -> None:
    mounts = [
        {"name": "own", "mountPath": PATHS["webhook-cert"]},
        {"name": "apiservice-cert", "mountPath": "/elsewhere"},
        {"name": "data", "mountPath": "/data"},
    ]
    made = mounted(deployment(volumeMounts=mounts), "secret", "hash")
    found = made["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]
    assert {each["name"]: each["mountPath"] for each in found} == {
        "apiservice-cert": "/elsewhere",
        "data": "/data",
        "webhook-cert": PATHS["webhook-cert"],
    }
    assert annotations_of(made["spec"]["template"])[AUTHORITY_HASH] == "hash"
    assert labels_of(made) == {
        "own": "label",
        LABEL_DEPLOYMENT_HASH: deep_hash("DeploymentSpec", made["spec"]),
    }


def test_pods_restart_for_another_certificate_and_callers_know_its_ca_before() -> None:
    [serving] = servings(csv(described()))
    issue = issuer(timedelta(days=1))
    first = issued(issue(serving.dns_names, NOW))
    both = prepared(first, issue(serving.dns_names, NOW), NOW)
    second = promoted(both, NOW)
    before, between, after = (
        annotations_of(secret(serving, OWNER, each)) for each in (first, both, second)
    )
    assert before[AUTHORITY_HASH] == between[AUTHORITY_HASH] != after[AUTHORITY_HASH]
    assert before[TRUSTED_HASH] != between[TRUSTED_HASH] == after[TRUSTED_HASH]


@pytest.mark.parametrize(
    ("spec", "selector"),
    [
        ({}, None),
        ({"selector": {}}, None),
        ({"selector": {"matchLabels": {"a": "b"}}}, {"matchLabels": {"a": "b"}}),
        ({"targetNamespaces": ["ns"]}, {"matchLabels": {"olm.operatorgroup.uid/group": ""}}),
    ],
)
def test_webhooks_are_for_the_namespaces_of_the_group(
    spec: dict[str, Any], selector: dict[str, Any] | None
) -> None:
    [serving] = servings(csv(described()))
    group = {"metadata": {"uid": "group"}, "spec": spec}
    made = webhook_configuration(serving, described(), OWNER, b"", group)
    assert made["metadata"]["generateName"] == "w-"
    assert made["webhooks"][0].get("namespaceSelector") == selector


@pytest.mark.parametrize(
    ("names", "modes", "problem"),
    [
        (["things.x"], ("AllNamespaces",), ""),
        (["things.x"], ("AllNamespaces", "OwnNamespace"), "must support only AllNamespaces"),
        (["things.y"], ("AllNamespaces",), "csv csv.v1 does not own CRD things.y"),
        ([], ("AllNamespaces",), "must name at least one CRD"),
    ],
)
def test_conversion_is_for_own_definitions_everywhere(
    names: list[str], modes: tuple[str, ...], problem: str
) -> None:
    convert = described(type="ConversionWebhook", conversionCRDs=names)
    found = conversion_problem(csv(convert, modes=modes))
    assert problem in found
    assert bool(found) == bool(problem)


def test_names_of_earlier_releases_that_are_ours_too_are_left_alone() -> None:
    """Version and group together may be called as the Service of a Deployment is."""
    described = {"group": "service", "version": "v1", "kind": "Thing", "deploymentName": "v1"}
    described = {**described, "name": "things"}
    spec = {"apiservicedefinitions": {"owned": [described, {**described, "group": "other.x"}]}}
    [serving] = servings({"metadata": {"name": "csv.v1", "namespace": "ns"}, "spec": spec})
    found = [(kind.kind, namespace, name) for kind, namespace, name in legacy_objects(serving)]
    assert found == [
        ("Service", "ns", "v1-other-x"),
        ("Secret", "ns", "v1.other.x-cert"),
        ("Role", "ns", "v1.other.x-cert"),
        ("RoleBinding", "ns", "v1.other.x-cert"),
        ("ClusterRoleBinding", "", "v1.other.x-system:auth-delegator"),
        ("RoleBinding", "kube-system", "v1.other.x-auth-reader"),
    ]


@pytest.mark.parametrize(
    ("status", "reason", "message", "refused"),
    [
        ("False", "FailedDiscoveryCheck", "failing or ...: bad status from https://x: 404", True),
        ("False", "FailedDiscoveryCheck", "failing or missing response: no route to host", False),
        ("False", "MissingEndpoints", "no endpoints; bad status from", False),
        ("True", "Passed", "all checks passed", False),
    ],
)
def test_only_an_answer_of_the_operator_itself_is_a_refusal(
    status: str, reason: str, message: str, refused: bool
) -> None:
    available = {"type": "Available", "status": status, "reason": reason, "message": message}
    assert refusal({"status": {"conditions": [available]}}) == (message if refused else "")
    assert refusal(None) == refusal({}) == ""
