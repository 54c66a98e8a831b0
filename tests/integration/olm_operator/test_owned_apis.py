"""API services and webhooks that operators own, as far as they go without pods."""

import base64
import hashlib
import ssl
import time
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, labels_of, name_of
from api.operators.names import V1
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import deployment
from olm_runtime.clocks import utc_now

pytestmark = pytest.mark.integration

ADMISSION = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def webhook(name: str, kind: str = "ValidatingAdmissionWebhook", **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": kind,
        "generateName": name,
        "deploymentName": "controller",
        "containerPort": 9443,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "webhookPath": "/validate",
    }
    if kind != "ConversionWebhook":
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
        described["rules"] = [{**rule, "operations": ["DELETE"]}]
    return described | more


def configurations(olm: Classic, place: Place, name: str) -> list[KubeObject]:
    found = olm.api.list(ADMISSION)
    labels = {"olm.webhook-description-generate-name": name, "olm.owner.namespace": place.name}
    return [each for each in found if labels.items() <= labels_of(each).items()]


def bundle(value: str) -> bytes:
    return base64.b64decode(value)


def test_a_webhook_has_a_service_a_certificate_and_the_namespaces_of_the_group(
    olm: Classic, place: Place
) -> None:
    place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
    csv = place.wait_csv("hello.v1.0.0")
    [configuration] = configurations(olm, place, "check.example.com")
    [only] = configuration["webhooks"]
    group = olm.api.get(place.path("operatorgroups", "group", version=V1)) or {}
    key = f"olm.operatorgroup.uid/{group['metadata']['uid']}"
    assert only["namespaceSelector"] == {"matchLabels": {key: ""}}
    assert only["clientConfig"]["service"] == {
        "namespace": place.name,
        "name": "controller-service",
        "port": 9443,
        "path": "/validate",
    }
    secret = olm.api.get(place.path("secrets", "controller-service-cert", version="v1")) or {}
    authorities = bundle(only["clientConfig"]["caBundle"])
    assert bundle(secret["data"]["olmCAKey"]) == authorities
    ssl.create_default_context(cadata=authorities.decode())
    service = olm.api.get(place.path("services", "controller-service", version="v1")) or {}
    assert service["spec"]["selector"] == {"app": "controller"}
    assert [(each["name"], each["port"]) for each in service["spec"]["ports"]] == [("9443", 9443)]
    made = olm.api.get(place.path("deployments", "controller", version="apps/v1")) or {}
    template = made["spec"]["template"]
    assert annotations_of(template)["olmcahash"] == hashlib.sha256(authorities).hexdigest()
    mounts = {each["mountPath"] for each in template["spec"]["containers"][0]["volumeMounts"]}
    assert mounts == {
        "/apiserver.local.config/certificates",
        "/tmp/k8s-webhook-server/serving-certs",
    }
    assert csv["status"]["certsRotateAt"] > csv["status"]["certsLastUpdated"]


def test_what_others_change_is_made_right(olm: Classic, place: Place) -> None:
    place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
    place.wait_csv("hello.v1.0.0")
    [configuration] = configurations(olm, place, "check.example.com")
    [only] = configuration["webhooks"]
    path = f"{ADMISSION}/{name_of(configuration)}"
    olm.api.patch(path, {"webhooks": [{**only, "rules": []}]})
    olm.api.patch(
        place.path("services", "controller-service", version="v1"),
        {"spec": {"selector": {"app": "other"}}},
    )

    def is_right(obj: KubeObject | None) -> bool:
        service = olm.api.get(place.path("services", "controller-service", version="v1")) or {}
        rules = ((obj or {}).get("webhooks") or [{}])[0].get("rules")
        return bool(rules == only["rules"] and service["spec"]["selector"] == {"app": "controller"})

    olm.api.wait(path, is_right, what="rules and selector as they were")


@pytest.mark.parametrize("gone", ["service", "secret", "configuration"])
def test_what_others_delete_comes_back(olm: Classic, place: Place, gone: str) -> None:
    place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
    place.wait_csv("hello.v1.0.0")
    [configuration] = configurations(olm, place, "check.example.com")
    path = {
        "service": place.path("services", "controller-service", version="v1"),
        "secret": place.path("secrets", "controller-service-cert", version="v1"),
        "configuration": f"{ADMISSION}/{name_of(configuration)}",
    }[gone]
    olm.api.delete(path)

    def trusts(_: KubeObject | None) -> bool:
        secret = olm.api.get(place.path("secrets", "controller-service-cert", version="v1"))
        service = olm.api.get(place.path("services", "controller-service", version="v1"))
        found = configurations(olm, place, "check.example.com")
        if secret is None or service is None or len(found) != 1:
            return False
        trusted = found[0]["webhooks"][0]["clientConfig"]["caBundle"]
        return bool(trusted == secret["data"]["olmCAKey"])

    olm.api.wait(place.path("clusterserviceversions", "hello.v1.0.0"), trusts, what=f"{gone} back")
    place.wait_csv("hello.v1.0.0")


def test_who_comes_again_at_once_keeps_the_certificate_that_is_served(
    olm: Classic, place: Place
) -> None:
    """Else it is collected with its first owner, and pods serve with it for a minute more."""
    secret_path = place.path("secrets", "controller-service-cert", version="v1")
    place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
    first = place.wait_csv("hello.v1.0.0")
    served = (olm.api.get(secret_path) or {})["data"]
    path = place.path("clusterserviceversions", "hello.v1.0.0")
    olm.api.delete(path, propagation="Orphan")
    olm.api.wait_gone(path)
    place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
    again = place.wait_csv("hello.v1.0.0")
    secret = olm.api.get(secret_path) or {}
    assert first["metadata"]["uid"] != again["metadata"]["uid"]
    owners = [each["uid"] for each in secret["metadata"].get("ownerReferences") or ()]
    assert owners == [again["metadata"]["uid"]]
    assert secret["data"] == served


def test_api_services_on_one_deployment_share_a_service_with_all_ports(
    olm: Classic, place: Place
) -> None:
    group = f"{place.name}.example.com"
    owned = [
        {
            "group": group,
            "version": version,
            "kind": "Thing",
            "name": "things",
            "deploymentName": "controller",
            "containerPort": port,
        }
        for version, port in (("v1", 5443), ("v2", 6443))
    ]
    place.csv("things.v1.0.0", apiservicedefinitions={"owned": owned})
    place.wait_csv("things.v1.0.0", "Installing")
    bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings"
    there = [each for each in olm.api.list(bindings) if "controller-service" in name_of(each)]
    [reader] = [
        f"{bindings}/{name_of(each)}"
        for each in there
        if each["subjects"][0]["namespace"] == place.name
    ]
    service = olm.api.get(place.path("services", "controller-service", version="v1")) or {}
    assert [each["port"] for each in service["spec"]["ports"]] == [5443, 6443]
    for version, port in (("v1", 5443), ("v2", 6443)):
        found = olm.api.get(f"{API_SERVICES}/{version}.{group}") or {}
        assert found["spec"]["service"]["port"] == port
        assert labels_of(found)["olm.owner"] == "things.v1.0.0"
    place.delete("clusterserviceversions", "things.v1.0.0")
    olm.api.wait(f"{API_SERVICES}/v1.{group}", lambda obj: obj is None, what="the end of v1")
    olm.api.wait_gone(reader)


def test_an_api_service_of_another_namespace_is_not_adopted(olm: Classic, place: Place) -> None:
    other = olm.place(own=True)
    group = f"{place.name}.example.com"
    described = {
        "group": group,
        "version": "v1",
        "kind": "Thing",
        "name": "things",
        "deploymentName": "controller",
    }
    place.csv("things.v1.0.0", apiservicedefinitions={"owned": [described]})
    place.wait_csv("things.v1.0.0", "Installing")
    other.csv("things.v1.0.0", apiservicedefinitions={"owned": [described]})
    csv = other.wait_reason("things.v1.0.0", "OwnerConflict")
    assert csv["status"]["message"] == "unable to adopt APIService"
    olm.remove(other.name)


def test_a_conversion_webhook_is_armed_once_its_deployment_serves(olm: Classic) -> None:
    place = olm.place()
    group = f"{place.name}.example.com"
    name = f"things.{group}"
    schema = {"openAPIV3Schema": {"type": "object"}}
    versions = [
        {"name": version, "served": True, "storage": version == "v1", "schema": schema}
        for version in ("v1", "v2")
    ]
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    place.apply(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": name},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
        }
    )
    image = "registry.example.com/converter:v1"
    csv = f"{place.name}.v1.0.0"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "not there")
    convert = webhook("convert.example.com", "ConversionWebhook", conversionCRDs=[name])
    place.csv(
        csv,
        deployments=[deployment("controller", image=image)],
        modes=["AllNamespaces"],
        owned=[{"name": name, "version": "v1", "kind": "Thing"}],
        webhookdefinitions=[convert],
    )
    place.wait_csv(csv, "Installing")
    assert (olm.api.get(f"{DEFINITIONS}/{name}") or {})["spec"]["conversion"]["strategy"] == "None"
    del olm.stand_ins.nodes.waiting[image]
    olm.control_plane.kubectl("delete", "pods", "--all", "--namespace", place.name, "--wait=false")
    olm.control_plane.kubectl("delete", "pods", "--all", "--namespace", place.name, "--force")
    place.wait_csv(csv)
    armed = (olm.api.get(f"{DEFINITIONS}/{name}") or {})["spec"]["conversion"]
    assert armed["strategy"] == "Webhook"
    assert armed["webhook"]["clientConfig"]["service"]["name"] == "controller-service"
    place.delete("clusterserviceversions", csv)
    olm.api.wait(
        f"{DEFINITIONS}/{name}",
        lambda obj: obj is not None and obj["spec"]["conversion"]["strategy"] == "None",
        what="no conversion any more",
    )
    olm.remove(place.name)
    olm.control_plane.end(f"{DEFINITIONS}/{name}")


@pytest.mark.parametrize(
    ("changed", "modes", "message"),
    [
        ({}, ["AllNamespaces", "OwnNamespace"], "must support only AllNamespaces"),
        ({"conversionCRDs": ["others.example.com"]}, ["AllNamespaces"], "does not own CRD others"),
    ],
)
def test_conversion_is_for_own_definitions_everywhere(
    olm: Classic, changed: dict[str, Any], modes: list[str], message: str
) -> None:
    place = olm.place()
    convert = webhook("convert.example.com", "ConversionWebhook", **changed)
    name = f"{place.name}.v1.0.0"  # it is copied to the namespaces of other tests
    place.csv(name, modes=modes, webhookdefinitions=[convert])
    place.wait(
        "clusterserviceversions",
        name,
        lambda csv: message in str(status(csv, "message")),
    )
    olm.remove(place.name)


def test_two_webhooks_of_one_name_and_rules_of_olm_itself_are_refused(
    olm: Classic, place: Place
) -> None:
    twice = [webhook("check.example.com"), webhook("check.example.com")]
    place.csv("twice.v1.0.0", webhookdefinitions=twice)
    place.wait_reason("twice.v1.0.0", "InvalidWebhookDescription")
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
    place.csv("all.v1.0.0", webhookdefinitions=[webhook("all.example.com", rules=rules)])
    csv = place.wait_reason("all.v1.0.0", "InvalidWebhookDescription")
    assert csv["status"]["message"] == "webhook rules cannot include all groups"


def test_a_certificate_is_rotated_in_steps_that_callers_follow(olm: Classic, place: Place) -> None:
    """A new CA is trusted before pods serve with it, and the old one after."""
    olm.restart_operator("--serving-cert-settle=2s")
    try:
        place.csv("hello.v1.0.0", webhookdefinitions=[webhook("check.example.com")])
        place.wait_csv("hello.v1.0.0")
        [before] = configurations(olm, place, "check.example.com")
        old = bundle(before["webhooks"][0]["clientConfig"]["caBundle"])
        time.sleep(2)  # it is asked for after the certificate was made
        asked = {"certsRotateAt": utc_now().strftime("%Y-%m-%dT%H:%M:%SZ")}
        seen = [old]

        def rotated(_: KubeObject | None) -> bool:
            [found] = configurations(olm, place, "check.example.com")
            trusted = bundle(found["webhooks"][0]["clientConfig"]["caBundle"])
            secret = olm.api.get(place.path("secrets", "controller-service-cert", version="v1"))
            if not seen or seen[-1] != trusted:
                seen.append(trusted)
            return bool(secret and "next.crt" not in secret["data"] and len(seen) > 1)

        path = place.path("clusterserviceversions", "hello.v1.0.0")
        place.patch_status("clusterserviceversions", "hello.v1.0.0", asked)
        olm.api.wait(path, rotated, what="another certificate")
        assert old in seen[-1], "what pods that are left serve with is trusted"
        assert place.wait_csv("hello.v1.0.0")["status"]["certsRotateAt"] > asked["certsRotateAt"]
    finally:
        olm.restart_operator()
