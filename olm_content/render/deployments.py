"""Deployments from a bundle's install strategy, and the certificates mounted into them."""

from collections.abc import Iterator
from typing import Any

from api.objects import TLS_CERTIFICATE, TLS_PRIVATE_KEY, KubeObject
from olm_content.bundle.model import DeploymentTemplate
from olm_content.names import ANNOTATION_OPERATOR_NAMESPACE, ANNOTATION_TARGET_NAMESPACES
from olm_content.render.certificates import serving_of
from olm_content.render.context import Context
from olm_content.render.deployment_config import configured

REVISION_HISTORY_LIMIT = 1
"""Old ReplicaSets are of no use: going back is done with revisions of the extension."""

CERTIFICATE_MOUNTS = {
    "webhook-cert": (
        "/tmp/k8s-webhook-server/serving-certs",  # noqa: S108 - where operators look
        "tls.crt",
        "tls.key",
    ),
    "apiservice-cert": (
        "/apiserver.local.config/certificates",
        "apiserver.crt",
        "apiserver.key",
    ),
}
"""Volume name: where it is mounted, and the names of certificate and key in it."""

_PROTECTED_PATHS = frozenset(path for path, _, _ in CERTIFICATE_MOUNTS.values())


def deployments(context: Context) -> Iterator[KubeObject]:
    """The deployments of the operator, with the namespaces to watch and their certificates."""
    served = {webhook.deployment_name for webhook in context.bundle.csv.webhooks}
    for template in context.bundle.csv.deployments:
        deployment = _deployment(context, template)
        if context.certificates and template.name in served:
            secret = serving_of(template.name, context.install_namespace).secret
            _mount_certificates(deployment["spec"]["template"]["spec"], secret)
        yield configured(deployment, context.deployment_config)


def _deployment(context: Context, template: DeploymentTemplate) -> KubeObject:
    """A new object whose pod template, metadata and pod spec may be changed freely."""
    metadata: dict[str, Any] = {"name": template.name, "namespace": context.install_namespace}
    if template.labels:
        metadata["labels"] = dict(template.labels)
    pod_template = template.spec.get("template") or {}
    pod_metadata = pod_template.get("metadata") or {}
    annotations = {
        **context.bundle.csv.annotations,
        **(pod_metadata.get("annotations") or {}),
        ANNOTATION_TARGET_NAMESPACES: ",".join(context.target_namespaces),
        ANNOTATION_OPERATOR_NAMESPACE: context.install_namespace,
    }
    spec = {
        **template.spec,
        "revisionHistoryLimit": REVISION_HISTORY_LIMIT,
        "template": {
            **pod_template,
            "metadata": {**pod_metadata, "annotations": annotations},
            "spec": dict(pod_template.get("spec") or {}),
        },
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _mount_certificates(pod: dict[str, Any], secret: str) -> None:
    """Put the certificate's Secret where operators look for it, in place of what is there."""
    containers = pod.get("containers") or []
    volumes = pod.get("volumes") or []
    replaced = set(CERTIFICATE_MOUNTS) | {
        mount["name"]
        for container in containers
        for mount in container.get("volumeMounts") or ()
        if mount["mountPath"] in _PROTECTED_PATHS
    }
    others = [volume for volume in volumes if volume["name"] not in replaced]
    pod["volumes"] = others + _certificate_volumes(secret)
    pod["containers"] = [_with_mounts(container, replaced) for container in containers]


def _certificate_volumes(secret: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "secret": {
                "secretName": secret,
                "items": [
                    {"key": TLS_CERTIFICATE, "path": certificate},
                    {"key": TLS_PRIVATE_KEY, "path": key},
                ],
            },
        }
        for name, (_, certificate, key) in CERTIFICATE_MOUNTS.items()
    ]


def _with_mounts(container: dict[str, Any], replaced: set[str]) -> dict[str, Any]:
    others = [m for m in container.get("volumeMounts") or () if m["name"] not in replaced]
    added = [{"name": name, "mountPath": path} for name, (path, _, _) in CERTIFICATE_MOUNTS.items()]
    return {**container, "volumeMounts": others + added}
