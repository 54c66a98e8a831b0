"""What stands around the pod of a catalog: Service, accounts, roles, network policies. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.objects import GVK, KubeObject
from api.operators.v1alpha1.catalogsource import CatalogSource
from olm_classic.catalog_sources.labels import (
    LABEL_CATALOG,
    LABEL_SERVICE_HASH,
    MANAGED,
    PORT,
    owner_reference,
    service_name,
)
from olm_classic.catalog_sources.validation import is_config_map
from olm_classic.hashes import json_hash
from olm_classic.names import LABEL_BUNDLE_UNPACK

POD = GVK("", "v1", "Pod")
CONFIG_MAP = GVK("", "v1", "ConfigMap")
NAMESPACE = GVK("", "v1", "Namespace")
SERVICE = GVK("", "v1", "Service")
ACCOUNT = GVK("", "v1", "ServiceAccount")
NETWORK_POLICY = GVK("networking.k8s.io", "v1", "NetworkPolicy")
ROLE = GVK("rbac.authorization.k8s.io", "v1", "Role")
ROLE_BINDING = GVK("rbac.authorization.k8s.io", "v1", "RoleBinding")
ENDPOINT_SLICE = GVK("discovery.k8s.io", "v1", "EndpointSlice")
OWNED = (SERVICE, ACCOUNT, NETWORK_POLICY, ROLE, ROLE_BINDING, ENDPOINT_SLICE)
MANAGER = "catalog-operator.operators.coreos.com"
"""Who keeps an EndpointSlice: nobody else is to touch it."""

_TCP_PORT = {"protocol": "TCP", "port": PORT}


def account_name(source: CatalogSource) -> str:
    """The service account of a catalog's pod."""
    name = source.metadata.name
    return f"{name}-configmap-server" if is_config_map(source.spec) else name


def objects(
    source: CatalogSource, raw: KubeObject, pull_secrets: Iterable[str] = ()
) -> Sequence[KubeObject]:
    """All objects of a catalog that is run as a pod, but the pod.

    `pull_secrets` are those of the account that somebody else added, and that stay.
    """
    made = [
        _account(source, raw, pull_secrets),
        _service(source, raw, {LABEL_CATALOG: source.metadata.name}),
        _server_policy(source, raw),
        _unpack_policy(source, raw),
    ]
    return made + (_roles(source, raw) if is_config_map(source.spec) else [])


def shared_objects(
    source: CatalogSource, raw: KubeObject, address: str, port: int
) -> list[KubeObject]:
    """All objects of a catalog that is served at an address and a port.

    Without either of them the Service leads nowhere.
    """
    made = [_service(source, raw, selector=None), _unpack_policy(source, raw)]
    return [*made, _endpoints(source, raw, address, port)] if address and port else made


def _object(
    kind: GVK, name: str, raw: KubeObject, *, controller: bool = False, **fields: Any
) -> KubeObject:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {
            "name": name,
            "namespace": raw["metadata"]["namespace"],
            "labels": dict(MANAGED),
            "ownerReferences": [owner_reference(raw, controller=controller)],
        },
        **fields,
    }


def _account(source: CatalogSource, raw: KubeObject, others: Iterable[str]) -> KubeObject:
    """It carries the pull secrets; the kubelet tries each of them."""
    names = dict.fromkeys((*source.spec.secrets, *others))
    secrets = [{"name": name} for name in names]
    return _object(ACCOUNT, account_name(source), raw, controller=True, imagePullSecrets=secrets)


def _service(
    source: CatalogSource, raw: KubeObject, selector: Mapping[str, str] | None
) -> KubeObject:
    """Without a selector it leads where its EndpointSlice says."""
    spec: dict[str, Any] = {"ports": [{"name": "grpc", "port": PORT, "targetPort": PORT}]}
    if selector is not None:
        spec["selector"] = selector
    made = _object(SERVICE, service_name(source.metadata.name), raw, spec=spec)
    made["metadata"]["labels"][LABEL_SERVICE_HASH] = json_hash(spec)
    return made


def _endpoints(source: CatalogSource, raw: KubeObject, address: str, port: int) -> KubeObject:
    name = service_name(source.metadata.name)
    made = _object(
        ENDPOINT_SLICE,
        name,
        raw,
        controller=True,
        addressType="IPv6" if ":" in address else "IPv4",
        endpoints=[{"addresses": [address], "conditions": {"ready": True}}],
        ports=[{"name": "grpc", "port": port, "protocol": "TCP"}],
    )
    made["metadata"]["labels"] |= {
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": MANAGER,
    }
    return made


def _server_policy(source: CatalogSource, raw: KubeObject) -> KubeObject:
    """The server of an image asks nobody; that of a ConfigMap asks the API server."""
    name = source.metadata.name
    spec = {
        "podSelector": {"matchLabels": {LABEL_CATALOG: name, **MANAGED}},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"ports": [_TCP_PORT]}],
        **({"egress": [{}]} if is_config_map(source.spec) else {}),
    }
    return _object(NETWORK_POLICY, f"{name}-grpc-server", raw, spec=spec)


def _unpack_policy(source: CatalogSource, raw: KubeObject) -> KubeObject:
    """Pods that unpack bundles ask the API server, whose port differs from cluster to cluster."""
    unpacking = {"key": LABEL_BUNDLE_UNPACK, "operator": "Exists"}
    spec = {
        "podSelector": {"matchLabels": MANAGED, "matchExpressions": [unpacking]},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [{}],
    }
    return _object(NETWORK_POLICY, f"{source.metadata.name}-unpack-bundles", raw, spec=spec)


def _roles(source: CatalogSource, raw: KubeObject) -> list[KubeObject]:
    """What lets the server read its ConfigMap."""
    name, namespace = source.metadata.name, source.metadata.namespace
    config_map = source.spec.config_map
    rule = {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [config_map],
        "verbs": ["get"],
    }
    role = f"{name}-configmap-reader"
    subject = {"kind": "ServiceAccount", "name": account_name(source), "namespace": namespace}
    reference = {"apiGroup": ROLE.group, "kind": "Role", "name": role}
    return [
        _object(ROLE, role, raw, rules=[rule]),
        _object(
            ROLE_BINDING,
            f"{name}-server-configmap-reader",
            raw,
            roleRef=reference,
            subjects=[subject],
        ),
    ]
