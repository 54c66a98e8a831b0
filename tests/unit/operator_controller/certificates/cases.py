"""A revision with webhooks, as the renderer makes it for certificates of our own."""

from typing import Any

from api.objects import KubeObject
from olm_rollout.phases import Phase
from operator_controller.apply.order import into_phases

SECRET = "op-service-cert"
WHERE = ("install", SECRET)
INJECT = {"olm.operatorframework.io/inject-ca-from-secret": f"install/{SECRET}"}


def secret() -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": "install"},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": "", "tls.key": ""},
    }


def service(name: str = "op-service") -> KubeObject:
    annotations = {"olm.operatorframework.io/serving-cert-secret-name": SECRET}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "install", "annotations": annotations},
        "spec": {"ports": [{"port": 443}]},
    }


def configuration(kind: str = "ValidatingWebhookConfiguration") -> KubeObject:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "hook", "annotations": dict(INJECT)},
        "webhooks": [{"name": "hook", "clientConfig": {"service": {"name": "op-service"}}}],
    }


def definition(**spec: Any) -> KubeObject:
    webhook = {"clientConfig": {"service": {"name": "op-service"}}}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com", "annotations": dict(INJECT)},
        "spec": {"group": "example.com", "conversion": conversion, **spec},
    }


def phases(*objects: KubeObject) -> tuple[Phase, ...]:
    return into_phases(objects or (secret(), service(), configuration(), definition()))
