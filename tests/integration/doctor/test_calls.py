"""What the API server calls and cannot."""

import json
from pathlib import Path

import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.pki import CertificateAuthority
from e2e.olm.api import Api
from e2e.olm.manifests import namespace
from e2e.olm.programs import Olm
from tests.integration.doctor.world import (
    WORKLOAD,
    Doctor,
    definition,
    secret,
    thing,
    webhook,
)

pytestmark = pytest.mark.integration


def test_a_webhook_that_refuses_the_pods_that_are_to_answer_it(
    olm: Olm, api: Api, doctor: Doctor
) -> None:
    olm.control_plane.apply(namespace("locked"))
    olm.control_plane.apply(json.dumps(webhook("Validating", "locked")))
    olm.control_plane.apply(WORKLOAD.format(namespace="locked", secret="none"))
    deployment = "/apis/apps/v1/namespaces/locked/deployments/guard"
    api.wait_condition(deployment, "ReplicaFailure", "True", message="failed calling webhook")
    found = doctor.finds("webhooks", "error", "a deadlock")
    assert "CREATE of pods in namespace locked" in found["why"]
    assert "has no endpoint that is ready" in found["why"]
    doctor.follow(found, "let requests pass")
    wait_until(lambda: api.list("/api/v1/namespaces/locked/pods") != [], what="its pod is made")
    assert doctor.is_content("webhooks")
    [finding] = doctor("--check", "webhooks")[1]["findings"]
    assert finding["severity"] == "warning"
    doctor.follow(finding, "remove the configuration")
    assert doctor("--check", "webhooks")[1]["findings"] == []


def test_a_webhook_that_is_called_with_another_ca_than_signed_what_is_served(
    olm: Olm, doctor: Doctor, tmp_path: Path
) -> None:
    olm.control_plane.apply(namespace("mistrusted"))
    served, other = (
        CertificateAuthority.load_or_create(tmp_path, name) for name in ("served", "other")
    )
    pair = served.issue_server("guard", hosts=["guard.mistrusted.svc"])
    pair.write(tmp_path, "guard")
    files = {
        "ca.crt": served.certificate,
        "tls.crt": (tmp_path / "guard.crt").read_bytes(),
        "tls.key": (tmp_path / "guard.key").read_bytes(),
    }
    olm.control_plane.apply(json.dumps(secret("guard-cert", "mistrusted", files)))
    olm.control_plane.apply(WORKLOAD.format(namespace="mistrusted", secret="guard-cert"))
    configuration = webhook("Mutating", "mistrusted", other.certificate)
    olm.control_plane.apply(json.dumps(configuration))
    found = doctor.finds("webhook-certificates", "error", "trusts another CA")
    assert "Secret mistrusted/guard-cert" in found["why"]
    doctor.follow(found, "put the CA of the Secret into it")
    assert doctor("--check", "webhook-certificates")[1]["findings"] == []
    webhooks = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    olm.control_plane.end(f"{webhooks}/guard-mistrusted")


def test_a_definition_whose_objects_nobody_converts(olm: Olm, api: Api, doctor: Doctor) -> None:
    olm.control_plane.apply(json.dumps(definition("turned")))
    plain = thing("turned", "default", "old").replace(", finalizers: [example.com/cleanup]", "")
    olm.control_plane.apply(plain)
    config = {"service": {"name": "converter", "namespace": "nowhere"}}
    conversion = {
        "strategy": "Webhook",
        "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]},
    }
    changed = definition("turned", storage="v2", conversion=conversion)
    olm.control_plane.apply(json.dumps(changed))
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.turned.example.com"

    def unreadable() -> bool:
        _, report = doctor("--check", "conversions")
        return "cannot be read or deleted" in str(report)

    wait_until(unreadable, what="the server asks the webhook")
    found = doctor.finds("conversions", "error", "things.turned.example.com cannot be read")
    assert "Service nowhere/converter does not exist" in found["why"]
    doctor.follow(found, "let the server convert")
    wait_until(lambda: doctor.is_content("conversions"), what="they are read again")
    api.delete(path)
    api.wait_gone(path)


def test_a_namespace_that_an_api_service_without_a_server_holds(
    olm: Olm, api: Api, doctor: Doctor
) -> None:
    olm.control_plane.apply(namespace("held-by-discovery"))
    olm.control_plane.apply(API_SERVICE)
    path = "/api/v1/namespaces/held-by-discovery"
    api.delete(path)
    api.wait_condition(path, "NamespaceDeletionDiscoveryFailure", "True")
    found = doctor.finds("api-services", "error", "v1.metrics.example.com is not available")
    assert "held-by-discovery" in found["why"]
    found = doctor.finds("deletions", "error", "Namespace held-by-discovery is being deleted")
    doctor.follow(found, "take the API service away")
    api.wait_gone(path)
    assert doctor.is_content("deletions")
    assert doctor.is_content("api-services")


API_SERVICE = """
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec:
  group: metrics.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: metrics, namespace: nowhere}
"""
