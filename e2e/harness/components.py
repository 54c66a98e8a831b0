"""The command lines of the control plane's components.

Pure: places and settings in, arguments out. Each flag that is not obvious says why it is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

SERVICE_ACCOUNT_ISSUER = "https://kubernetes.default.svc"
HOST = "127.0.0.1"
FRONT_PROXY = "front-proxy-client"
"""The name of the API server where it passes requests on to aggregated ones."""

# What our products and their tests rely on. Deployments and ReplicaSets run so that
# Deployments get a status and Pods (which stay Pending: there is no scheduler and no kubelet).
# Left out is all that serves nodes, volumes, quotas, certificates and autoscaling.
CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
    "deployment-controller",
    "replicaset-controller",
)


class AuditLevel(StrEnum):
    """How much of each request is in the audit log."""

    METADATA = "Metadata"
    REQUEST = "Request"
    REQUEST_RESPONSE = "RequestResponse"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlaneOptions:
    """Settings that a test may change.

    `admission_plugins` are enabled in addition to the default ones, for example
    OwnerReferencesPermissionEnforcement. `authorizers` are asked in this order. `audit` turns the
    audit log on. The `..._args` are appended as they are and win over ours.
    """

    admission_plugins: tuple[str, ...] = ()
    authorizers: tuple[str, ...] = ("RBAC",)
    audit: AuditLevel | None = None
    controller_manager: bool = True
    controllers: tuple[str, ...] = CONTROLLERS
    service_cidr: str = "10.0.0.0/24"
    apiserver_args: tuple[str, ...] = ()
    controller_manager_args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ports:
    """The loopback ports of one control plane; unchanged by restarts."""

    apiserver: int
    etcd_client: int
    etcd_peer: int
    controller_manager: int


@dataclass(frozen=True, slots=True)
class Places:
    """Where one control plane keeps its files."""

    root: Path

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.root / "pki"

    @property
    def tokens(self) -> Path:
        """The administrator's token, as the API server reads it."""
        return self.pki / "tokens.csv"

    @property
    def logs(self) -> Path:
        """One log for each component."""
        return self.root / "logs"

    @property
    def kubeconfigs(self) -> Path:
        """Kubeconfig files, by user."""
        return self.root / "kubeconfig"

    @property
    def etcd_data(self) -> Path:
        """The cluster's state."""
        return self.root / "etcd"

    @property
    def audit_policy(self) -> Path:
        """What the API server writes to the audit log."""
        return self.root / "audit-policy.yaml"

    @property
    def audit_log(self) -> Path:
        """One JSON event a line."""
        return self.logs / "audit.jsonl"

    def certificate(self, name: str) -> str:
        """The path of a certificate."""
        return str(self.pki / f"{name}.crt")

    def key(self, name: str) -> str:
        """The path of a private key."""
        return str(self.pki / f"{name}.key")


def etcd_args(places: Places, ports: Ports) -> list[str]:
    """The arguments of etcd: one member on loopback, without TLS, no waiting for the disk.

    A fifth of the processor time of an API server would go into TLS between these two.
    """
    client = etcd_url(ports)
    peer = f"http://{HOST}:{ports.etcd_peer}"
    return [
        "--name=default",
        f"--data-dir={places.etcd_data}",
        # Survives the end of the process, not of the machine; tests need no more.
        "--unsafe-no-fsync",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=warn",
    ]


def etcd_url(ports: Ports) -> str:
    """Where the API server finds etcd."""
    return f"http://{HOST}:{ports.etcd_client}"


def apiserver_args(places: Places, ports: Ports, options: ControlPlaneOptions) -> list[str]:
    """The arguments of kube-apiserver: loopback, RBAC, service account tokens."""
    return [
        f"--bind-address={HOST}",
        f"--advertise-address={HOST}",
        f"--secure-port={ports.apiserver}",
        # An Endpoints object may not hold a loopback address: do not try every ten seconds.
        "--endpoint-reconciler-type=none",
        f"--etcd-servers={etcd_url(ports)}",
        f"--tls-cert-file={places.certificate('apiserver')}",
        f"--tls-private-key-file={places.key('apiserver')}",
        f"--client-ca-file={places.certificate('ca')}",
        f"--token-auth-file={places.tokens}",
        # What aggregated API servers know this one by, and learn of its callers.
        f"--requestheader-client-ca-file={places.certificate('front-proxy-ca')}",
        f"--requestheader-allowed-names={FRONT_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={places.certificate('front-proxy')}",
        f"--proxy-client-key-file={places.key('front-proxy')}",
        f"--authorization-mode={','.join(options.authorizers)}",
        f"--service-account-issuer={SERVICE_ACCOUNT_ISSUER}",
        f"--service-account-key-file={places.pki / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={places.key('service-accounts')}",
        f"--service-cluster-ip-range={options.service_cidr}",
        "--allow-privileged=true",
        "--profiling=false",
        # Open watches are ended at shutdown; else they hold it up for a minute.
        "--shutdown-watch-termination-grace-period=500ms",
        *_admission(options.admission_plugins),
        *_audit(places, options.audit),
        *options.apiserver_args,
    ]


def controller_manager_args(
    places: Places, ports: Ports, options: ControlPlaneOptions
) -> list[str]:
    """The arguments of kube-controller-manager: a few controllers, each as its own account."""
    return [
        f"--kubeconfig={places.kubeconfigs / 'kube-controller-manager.yaml'}",
        f"--controllers={','.join(options.controllers)}",
        f"--bind-address={HOST}",
        f"--secure-port={ports.controller_manager}",
        f"--tls-cert-file={places.certificate('controller-manager')}",
        f"--tls-private-key-file={places.key('controller-manager')}",
        f"--root-ca-file={places.certificate('ca')}",
        f"--service-account-private-key-file={places.key('service-accounts')}",
        "--use-service-account-credentials",
        "--leader-elect=false",
        # The default of 20 requests a second makes deleting a namespace take many seconds.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
        *options.controller_manager_args,
    ]


def audit_policy(level: AuditLevel) -> dict[str, Any]:
    """A policy that writes each request once, when it is complete."""
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": str(level)}],
    }


def _admission(plugins: Sequence[str]) -> list[str]:
    return [f"--enable-admission-plugins={','.join(plugins)}"] if plugins else []


def _audit(places: Places, level: AuditLevel | None) -> list[str]:
    if level is None:
        return []
    return [
        f"--audit-policy-file={places.audit_policy}",
        f"--audit-log-path={places.audit_log}",
        # Written before the answer is complete, so that a test need not wait for it.
        "--audit-log-mode=blocking",
    ]
