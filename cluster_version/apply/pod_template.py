"""The merge of pods that workloads make. Source of the rules: upstream's notes, section 10.3."""

from collections.abc import Mapping
from typing import Any

from cluster_version.apply.rules import (
    METADATA,
    Rule,
    added,
    default,
    each,
    exactly,
    if_set,
    keys,
    pointer,
    struct,
)

Fields = dict[str, Any]

MODE = 0o644
TOKEN_SECONDS = 3600


def _with_defaults(values: Fields, defaults: Mapping[str, Any]) -> Fields:
    """An object with what the API server puts where nothing is said."""
    return {**defaults, **values}


# --- containers ------------------------------------------------------------------------------


def _environment(live: Any, wanted: Any) -> Any:
    return exactly(live, [_variable(item) for item in wanted or ()] or None)


def _variable(variable: Fields) -> Fields:
    source = variable.get("valueFrom") or {}
    if "fieldRef" not in source:
        return variable
    field = _with_defaults(source["fieldRef"], {"apiVersion": "v1"})
    return {**variable, "valueFrom": {**source, "fieldRef": field}}


def _port(*, host_network: bool) -> Rule:
    def rule(live: Any, wanted: Any) -> Any:
        on_host = {"hostPort": wanted["containerPort"]} if host_network else {}
        return exactly(live, _with_defaults(wanted, {"protocol": "TCP", **on_host}))

    return rule


def _http_get(live: Any, wanted: Any) -> Any:
    return exactly(live, wanted and _with_defaults(wanted, {"scheme": "HTTP"}))


_PROBE = pointer(
    exec=exactly,
    httpGet=_http_get,
    tcpSocket=exactly,
    grpc=exactly,
    initialDelaySeconds=exactly,
    timeoutSeconds=default(1),
    periodSeconds=default(10),
    successThreshold=default(1),
    failureThreshold=default(3),
)

_SELINUX = pointer(user=if_set, role=if_set, type=if_set, level=if_set)

_SECURITY = pointer(
    capabilities=pointer(add=added, drop=added),
    seLinuxOptions=_SELINUX,
    privileged=exactly,
    runAsUser=exactly,
    runAsNonRoot=exactly,
    readOnlyRootFilesystem=exactly,
    allowPrivilegeEscalation=exactly,
    seccompProfile=exactly,
)


def _containers(*, host_network: bool) -> Rule:
    container = struct(
        image=if_set,
        command=exactly,
        args=exactly,
        env=_environment,
        envFrom=exactly,
        workingDir=if_set,
        resources=struct(limits=exactly, requests=exactly),
        ports=each("name", _port(host_network=host_network)),
        volumeMounts=each("mountPath", exactly),
        livenessProbe=_PROBE,
        readinessProbe=_PROBE,
        securityContext=_SECURITY,
    )
    return each("name", container)


# --- volumes ---------------------------------------------------------------------------------

_VOLUME_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "hostPath": {"type": ""},
    "secret": {"defaultMode": MODE},
    "configMap": {"defaultMode": MODE},
    "downwardAPI": {"defaultMode": MODE},
    "projected": {"defaultMode": MODE},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "kind": "Shared",
        "fsType": "ext4",
        "readOnly": False,
    },
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def _volume(live: Any, wanted: Any) -> Any:
    """A volume of no source is an empty directory."""
    sources = {field: value for field, value in wanted.items() if field != "name"}
    filled = {
        field: _with_defaults(value, _VOLUME_DEFAULTS.get(field, {}))
        for field, value in (sources or {"emptyDir": {}}).items()
    }
    if "projected" in filled:
        parts = filled["projected"].get("sources") or ()
        filled["projected"]["sources"] = [_projection(part) for part in parts]
    return exactly(live, {**wanted, **filled})


def _projection(source: Fields) -> Fields:
    token = source.get("serviceAccountToken")
    if token is None:
        return source
    seconds = {"expirationSeconds": TOKEN_SECONDS}
    return {**source, "serviceAccountToken": _with_defaults(token, seconds)}


# --- pods ------------------------------------------------------------------------------------


def _tolerations(live: Any, wanted: Any) -> Any:
    """Those of the manifest are added, and are there once."""
    before = live or []
    once = [
        item
        for index, item in enumerate(before)
        if item not in (wanted or ()) or item not in before[:index]
    ]
    return added(live if once == before else once, wanted)


_POD_SECURITY = pointer(
    seLinuxOptions=_SELINUX,
    runAsUser=exactly,
    runAsGroup=exactly,
    runAsNonRoot=exactly,
    seccompProfile=exactly,
    supplementalGroups=added,
    fsGroup=exactly,
    sysctls=each("name", exactly, others_stay=True),
)


def _pod_security(live: Any, wanted: Any) -> Any:
    """The API server makes an empty one where there is none."""
    return live if wanted is None and not live else _POD_SECURITY(live, wanted)


def _pod(*, host_network: bool) -> Rule:
    containers = _containers(host_network=host_network)
    return struct(
        initContainers=containers,
        containers=containers,
        volumes=each("name", _volume, new=_volume),
        restartPolicy=if_set,
        serviceAccountName=if_set,
        hostNetwork=exactly,
        nodeSelector=keys,
        securityContext=_pod_security,
        affinity=if_set,
        tolerations=_tolerations,
        priorityClassName=if_set,
        priority=exactly,
        shareProcessNamespace=exactly,
        dnsPolicy=default("ClusterFirst"),
        terminationGracePeriodSeconds=default(30),
    )


_POD, _HOST_POD = _pod(host_network=False), _pod(host_network=True)


def _spec(live: Any, wanted: Any) -> Any:
    return (_HOST_POD if (wanted or {}).get("hostNetwork") else _POD)(live, wanted)


POD_TEMPLATE = struct(metadata=METADATA, spec=_spec)
