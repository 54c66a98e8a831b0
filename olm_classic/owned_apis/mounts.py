"""How Deployments get the certificates that they serve with."""

from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject, labels_of
from olm_classic.hashes import deep_hash
from olm_classic.names import LABEL_DEPLOYMENT_HASH
from olm_classic.owned_apis.objects import AUTHORITY_HASH

API_SERVICE, WEBHOOK = "apiservice-cert", "webhook-cert"
PATHS: Mapping[str, str] = {
    API_SERVICE: "/apiserver.local.config/certificates",
    WEBHOOK: "/tmp/k8s-webhook-server/serving-certs",  # noqa: S108 - where operators look
}
_FILES: Mapping[str, Mapping[str, str]] = {
    API_SERVICE: {"tls.crt": "apiserver.crt", "tls.key": "apiserver.key"},
    WEBHOOK: {"tls.crt": "tls.crt", "tls.key": "tls.key"},
}
"""The names that they have there."""


def mounted(deployment: KubeObject, secret: str, authority_hash: str) -> KubeObject:
    """A Deployment whose containers have the certificate of a Secret.

    A mount at the same path is replaced, and one with the volume's name stays as it is. Pods are
    started anew with a certificate of another CA.
    """
    template = deployment["spec"]["template"]
    meta, pod = template.get("metadata") or {}, template["spec"]
    annotations = {**(meta.get("annotations") or {}), AUTHORITY_HASH: authority_hash}
    volumes = [each for each in pod.get("volumes") or () if each["name"] not in PATHS]
    spec = {
        **deployment["spec"],
        "template": {
            **template,
            "metadata": {**meta, "annotations": annotations},
            "spec": {
                **pod,
                "volumes": [*volumes, *(_volume(name, secret) for name in PATHS)],
                "containers": [_with_mounts(each) for each in pod.get("containers") or ()],
            },
        },
    }
    labels = {**labels_of(deployment), LABEL_DEPLOYMENT_HASH: deep_hash("DeploymentSpec", spec)}
    return {**deployment, "metadata": {**deployment["metadata"], "labels": labels}, "spec": spec}


def _volume(name: str, secret: str) -> dict[str, Any]:
    items = [{"key": key, "path": path} for key, path in _FILES[name].items()]
    return {"name": name, "secret": {"secretName": secret, "items": items}}


def _with_mounts(container: Mapping[str, Any]) -> dict[str, Any]:
    mounts = list(container.get("volumeMounts") or ())
    names = {each["name"] for each in mounts}
    added = {name: path for name, path in PATHS.items() if name not in names}
    remaining = [each for each in mounts if each["mountPath"] not in added.values()]
    made = [{"name": name, "mountPath": path} for name, path in added.items()]
    return {**container, "volumeMounts": [*remaining, *made]}
