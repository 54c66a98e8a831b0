"""What a machine has to be like to run a node, and getting the rest."""

import os
import shutil
import subprocess
import sys

from e2e.harness.binaries import helm_binary
from e2e.harness.errors import CannotRun
from e2e.harness.gobuild import built, cache_folder
from e2e.node import cgroups, programs
from e2e.node.product import layout as product_layout
from e2e.node.sandbox import NAMESPACES
from e2e.operator.images import layout as operator_layout

OVERLAY = """
folder=$(mktemp -d "$0/probe.XXXXXX") && trap 'rm -rf "$folder"' EXIT && cd "$folder" &&
mkdir lower upper work merged &&
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged && umount merged
"""
PROBES = (
    ("namespaces of its own", ("true",)),
    ("to mount /proc", ("mount", "-t", "proc", "proc", "/proc")),
    ("overlay file systems in the cache folder", ("sh", "-c", OVERLAY, str(cache_folder()))),
    ("bridges", ("ip", "link", "add", "probe0", "type", "bridge")),
    ("pairs of links", ("ip", "link", "add", "probe0", "type", "veth")),
    ("nftables", ("nft", "add table ip p; add chain ip p c { type nat hook output priority 0; }")),
)
"""What a node needs of the kernel, and what shows in a box whether it is to be had."""


def require_machine() -> None:
    """Errors: CannotRun if this machine cannot run a node, whatever is installed."""
    if sys.platform != "linux":
        raise CannotRun("a node needs Linux")
    if os.geteuid() != 0:
        raise CannotRun("a node needs root")
    if problem := cgroups.problem():
        raise CannotRun(f"a node needs {problem}")
    if (packages := programs.missing_packages()) and not shutil.which("apt-get"):
        raise CannotRun(f"a node needs {', '.join(packages)}, and there is no apt-get")


def prepare() -> int:
    """Install missing packages and build what is not in the cache.

    Errors: CannotRun if there are no packages or the kernel withholds something; HarnessError.
    """
    if packages := programs.missing_packages():
        print(f"installing {' '.join(packages)}", flush=True)
        _apt("update")
        _apt("install", "--yes", "--no-install-recommends", *packages)
    _require_kernel()
    for module in (programs.PAUSE, programs.COREDNS, programs.KUBENODE):
        built(module)
    helm_binary()
    operator_layout()
    product_layout()
    return 0


def _require_kernel() -> None:
    cache_folder().mkdir(parents=True, exist_ok=True)
    for what, argv in PROBES:
        done = subprocess.run(
            ("unshare", *NAMESPACES, "--", *argv), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = done.stderr.strip().partition("\n")[0]
            raise CannotRun(f"a node needs {what}: {said}")


def _apt(*arguments: str) -> None:
    environment = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ("apt-get", "-qq", *arguments), env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip().rpartition("\n")[2]
        raise CannotRun(f"Debian packages cannot be had: apt-get {arguments[0]}: {said}")
