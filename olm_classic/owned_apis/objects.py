"""The objects by which API services and webhooks of operators are reached and trusted."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from cryptography import x509

from api.metadata import LabelSelector
from api.objects import KubeObject, metadata
from olm_classic.csv.owner import Owner
from olm_classic.hashes import map_hash
from olm_classic.names import LABEL_MANAGED
from olm_classic.operator_groups.selection import LABEL_GROUP_PREFIX
from olm_classic.owned_apis.described import (
    MUTATING,
    Description,
    Serving,
    api_service_name,
    port_of,
)
from olm_content.render.rbac import RBAC_API, RBAC_GROUP
from olm_runtime.certificates.content import SecretContent
from olm_runtime.certificates.secret import is_signed_by

AUTHORITY_HASH = "olmcahash"
"""Annotation of Secrets and pod templates: of the CA of the certificate that is served."""
TRUSTED_HASH = "olm.trusted-cas-hash"
"""Annotation of Secrets: of the CAs that callers are to trust, the next one among them."""
AUTHORITY_KEY = "olmCAKey"
"""In the data of Secrets: the CAs, under upstream's name for the one."""
LABEL_WEBHOOK_NAME = "olm.webhook-description-generate-name"
LABEL_WEBHOOK_HASH = "olm.webhook-description-hash"
DELEGATOR = "system:auth-delegator"
SYSTEM_NAMESPACE = "kube-system"
PRIORITIES = {"groupPriorityMinimum": 2000, "versionPriority": 15}


def digest(pem: bytes) -> str:
    """The hash of CAs (PEM)."""
    return hashlib.sha256(pem).hexdigest()


def secret(serving: Serving, owner: Owner, content: SecretContent) -> KubeObject:
    """The Secret with a certificate."""
    made = _owned("v1", "Secret", serving.secret, owner)
    made["metadata"]["annotations"] = {
        AUTHORITY_HASH: digest(authority_of(content)),
        TRUSTED_HASH: digest(content.bundle),
    }
    bundle = base64.b64encode(content.bundle).decode()
    return {
        **made,
        "type": "kubernetes.io/tls",
        "data": {**content.data(), AUTHORITY_KEY: bundle},
    }


def authority_of(content: SecretContent) -> bytes:
    """The CA (PEM) that signed the certificate that is served."""
    served = x509.load_pem_x509_certificate(content.current.certificate)
    return next(
        each.certificate
        for each in content.authorities
        if is_signed_by(served, x509.load_pem_x509_certificate(each.certificate))
    )


def objects(
    serving: Serving, owner: Owner, deployment: KubeObject, *, apart: bool = False
) -> Iterator[KubeObject]:
    """What a Deployment is reached through, and what its account needs to know its callers.

    `apart`: a Service of this name in another namespace has taken the names without namespace.
    """
    service = _owned("v1", "Service", serving.service, owner)
    selector = deployment["spec"]["selector"].get("matchLabels") or {}
    yield {**service, "spec": {"selector": selector, "ports": serving.ports}}
    pod = deployment["spec"]["template"]["spec"]
    account = {
        "kind": "ServiceAccount",
        "name": pod.get("serviceAccountName") or "default",
        "namespace": serving.namespace,
    }
    role = _inside(RBAC_API, "Role", serving.secret, owner)
    reads = {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}
    yield {**role, "rules": [{**reads, "resourceNames": [serving.secret]}]}
    binding = _inside(RBAC_API, "RoleBinding", serving.secret, owner)
    yield _bound(binding, "Role", serving.secret, account)
    if serving.api_services:
        where = (serving.service, serving.namespace if apart else "")
        delegator = _cluster_wide("ClusterRoleBinding", delegator_name(*where), owner)
        yield _bound(delegator, "ClusterRole", DELEGATOR, account)
        # Without the owner's labels: what has them is given to other namespaces, too.
        meta = {"name": reader_name(*where), "namespace": SYSTEM_NAMESPACE}
        reader = {"apiVersion": RBAC_API, "kind": "RoleBinding", "metadata": meta}
        yield _bound(reader, "Role", "extension-apiserver-authentication-reader", account)


def reader_name(service: str, namespace: str = "") -> str:
    """The binding by which who serves behind a Service reads how the API server proves itself.

    Upstream's names do without the namespace, so that one Service of each name can have them.
    """
    return f"{_qualified(service, namespace)}-auth-reader"


def delegator_name(service: str, namespace: str = "") -> str:
    """The binding by which it asks the API server who calls; likewise."""
    return f"{_qualified(service, namespace)}-{DELEGATOR}"


def _qualified(service: str, namespace: str) -> str:
    return f"{service}.{namespace}" if namespace else service


def api_services(serving: Serving, owner: Owner, bundle: bytes) -> Iterator[KubeObject]:
    """Those that a Deployment serves; `bundle` are the CAs (PEM) to trust."""
    for each in serving.api_services:
        service = {"namespace": serving.namespace, "name": serving.service, "port": port_of(each)}
        yield {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": api_service_name(each), "labels": _labels(owner)},
            "spec": {
                "group": each["group"],
                "version": each["version"],
                **PRIORITIES,
                "service": service,
                "caBundle": base64.b64encode(bundle).decode(),
            },
        }


def webhook_configuration(
    serving: Serving, each: Description, owner: Owner, bundle: bytes, group: KubeObject
) -> KubeObject:
    """That of an admission webhook for the namespaces of a group; without a name of its own."""
    webhook: dict[str, Any] = {
        "name": each["generateName"],
        "admissionReviewVersions": list(each["admissionReviewVersions"]),
        "sideEffects": each["sideEffects"],
        "clientConfig": client_config(serving, each, bundle),
    }
    copied = ["failurePolicy", "matchPolicy", "objectSelector", "rules", "timeoutSeconds"]
    copied += ["reinvocationPolicy"] if each["type"] == MUTATING else []
    webhook |= {key: each[key] for key in copied if each.get(key) is not None}
    webhook |= _namespaces(group)
    kind = "Mutating" if each["type"] == MUTATING else "Validating"
    labels = {
        **_labels(owner),
        LABEL_WEBHOOK_NAME: each["generateName"],
        LABEL_WEBHOOK_HASH: map_hash(dict(each)),
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"generateName": f"{each['generateName']}-", "labels": labels},
        "webhooks": [webhook],
    }


def client_config(serving: Serving, each: Description, bundle: bytes) -> dict[str, Any]:
    """How a webhook is called."""
    path = each.get("webhookPath")
    return {
        "service": {
            "namespace": serving.namespace,
            "name": serving.service,
            "port": port_of(each),
            **({"path": path} if path else {}),
        },
        "caBundle": base64.b64encode(bundle).decode(),
    }


def conversion(serving: Serving, each: Description, bundle: bytes) -> dict[str, Any]:
    """`spec.conversion` of a definition that a webhook converts."""
    config = client_config(serving, {"webhookPath": "/", **each}, bundle)
    versions = list(each["admissionReviewVersions"])
    webhook = {"clientConfig": config, "conversionReviewVersions": versions}
    return {"strategy": "Webhook", "webhook": webhook}


def _namespaces(group: KubeObject) -> dict[str, Any]:
    """The selector of the namespaces of a group; nothing where it has all."""
    spec = group.get("spec") or {}
    if spec.get("targetNamespaces"):
        key = f"{LABEL_GROUP_PREFIX}{metadata(group)['uid']}"
        return {"namespaceSelector": {"matchLabels": {key: ""}}}
    selector = spec.get("selector")
    return {"namespaceSelector": selector} if selector and selector != LabelSelector() else {}


def _labels(owner: Owner) -> dict[str, str]:
    return {**owner.labels(), LABEL_MANAGED: "true"}


def _owned(version: str, kind: str, name: str, owner: Owner) -> KubeObject:
    """An object of the owner's namespace, which goes with it and is found by its labels."""
    made = _inside(version, kind, name, owner)
    made["metadata"]["labels"] = _labels(owner)
    return made


def _inside(version: str, kind: str, name: str, owner: Owner) -> KubeObject:
    """One that goes with its owner, without labels that name it."""
    meta = {
        "name": name,
        "namespace": owner.namespace,
        "labels": {LABEL_MANAGED: "true"},
        "ownerReferences": [owner.reference()],
    }
    return {"apiVersion": version, "kind": kind, "metadata": meta}


def _cluster_wide(kind: str, name: str, owner: Owner) -> KubeObject:
    """One elsewhere: found by its labels when its owner ends."""
    meta = {"name": name, "labels": _labels(owner)}
    return {"apiVersion": RBAC_API, "kind": kind, "metadata": meta}


def _bound(binding: KubeObject, kind: str, role: str, account: Mapping[str, str]) -> KubeObject:
    reference = {"apiGroup": RBAC_GROUP, "kind": kind, "name": role}
    return {**binding, "roleRef": reference, "subjects": [dict(account)]}
