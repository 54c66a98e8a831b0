"""Runs another catalogd, such as upstream's, in the place of ours: same cluster, same catalog.

It reads its account's token at the fixed place of a pod, so it gets a mount namespace of its own
with the token there; no root is needed. It acts as the cluster's administrator.
"""

import shutil
from pathlib import Path

import yaml

from e2e.harness.controlplane import ControlPlane
from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess, service_environment
from e2e.olm.programs import HOST, SYSTEM_NAMESPACE, Olm

_IN_A_POD = """
mount -t tmpfs tmpfs /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount || exit 1
printf %s "$TOKEN" > /run/secrets/kubernetes.io/serviceaccount/token
unset TOKEN
exec "$@"
"""
ACCOUNT = "catalogd-controller-manager"


def other_catalogd(program: Path, olm: Olm, control_plane: ControlPlane) -> ChildProcess:
    """The process, not started; it serves at `olm.catalogs_url`."""
    kubeconfig = control_plane.kubeconfig_for_service_account(SYSTEM_NAMESPACE, ACCOUNT)
    token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    address = olm.catalogs_url.removeprefix("https://")
    certificate = olm.work_dir / "pki" / "catalogd.crt"
    arguments = [
        f"--kubeconfig={control_plane.kubeconfig}",
        f"--system-namespace={SYSTEM_NAMESPACE}",
        f"--health-probe-bind-address={HOST}:{free_port(HOST)}",
        f"--pull-cas-dir={olm.registry_cas}",
        f"--catalogs-server-addr={address}",
        f"--external-address={address}",
        f"--tls-cert={certificate}",
        f"--tls-key={certificate.with_suffix('.key')}",
        f"--cache-dir={olm.work_dir / 'other'}",
        f"--webhook-server-port={free_port(HOST)}",
        "--metrics-bind-address=0",
        "--feature-gates=APIV1MetasHandler=true",
    ]
    return ChildProcess(
        "other-catalogd",
        [
            shutil.which("unshare") or "unshare",
            "-Urm",
            "sh",
            "-c",
            _IN_A_POD,
            "sh",
            str(program),
            *arguments,
        ],
        log=olm.work_dir / "logs" / "other.log",
        env=service_environment(TOKEN=token),
    )
