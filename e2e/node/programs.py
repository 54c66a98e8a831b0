"""The programs of a node: Debian's packages, and what we build of Go modules."""

import shutil
from collections.abc import Mapping

from e2e.harness.binaries import CONTROL_PLANE, Executable
from e2e.harness.errors import BinaryUnavailable
from e2e.harness.gobuild import GoModule, built

KUBENODE = GoModule(
    name="kubenode",
    title="kubelet and its companions",
    packages=1760,
    ldflags=CONTROL_PLANE.ldflags,
)
COREDNS = GoModule(name="coredns", title="CoreDNS", packages=780)
PAUSE = GoModule(name="pause", title="pause", packages=60)

PACKAGES: Mapping[str, str] = {
    "containerd": "containerd",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "nft": "nftables",
    "ip": "iproute2",
    "mount": "mount",
    "unshare": "util-linux",
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
}
"""Debian package by a program in it that we call or that something we start calls."""


def kubenode(component: str) -> Executable:
    """kubelet, kube-proxy or kube-scheduler. Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(KUBENODE)), component), "built")


def coredns() -> Executable:
    """CoreDNS. Errors: BinaryUnavailable, BuildFailed."""
    return Executable((str(built(COREDNS)),), "built")


def containerd() -> Executable:
    """Debian's containerd. Errors: BinaryUnavailable."""
    found = shutil.which("containerd")
    if found is None:
        raise BinaryUnavailable("there is no containerd\nhint: run `make e2e-node`, as root")
    return Executable((found,), "PATH")


def missing_packages() -> list[str]:
    """Debian packages whose programs are not there, by name."""
    return sorted({package for program, package in PACKAGES.items() if not shutil.which(program)})
