"""What a machine has to be like to run a node, and getting the rest."""

import os
import shutil
import subprocess
import sys

from e2e.harness.binaries import helm_binary
from e2e.harness.errors import HarnessError
from e2e.harness.gobuild import built
from e2e.node import cgroups, programs
from e2e.node.product import layout as product_layout
from e2e.operator.images import layout as operator_layout

SKIPPED = 77
"""The exit code that says that nothing was tried, as test runners of the GNU tools have it."""


def reason_to_skip() -> str | None:
    """Why this machine cannot run a node, or None."""
    if sys.platform != "linux":
        return "a node needs Linux"
    if os.geteuid() != 0:
        return "a node needs root"
    if lacking := cgroups.missing():
        return f"a node needs the cgroup controllers {', '.join(lacking)}"
    if (packages := programs.missing_packages()) and not shutil.which("apt-get"):
        return f"a node needs {', '.join(packages)}, and there is no apt-get to install them"
    return None


def prepare() -> int:
    """Install missing packages and build what is not in the cache. Errors: HarnessError."""
    if packages := programs.missing_packages():
        print(f"installing {' '.join(packages)}", flush=True)
        _apt("update")
        _apt("install", "--yes", "--no-install-recommends", *packages)
    for module in (programs.PAUSE, programs.COREDNS, programs.KUBENODE):
        built(module)
    helm_binary()
    operator_layout()
    product_layout()
    return 0


def _apt(*arguments: str) -> None:
    environment = dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ("apt-get", "-qq", *arguments), env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise HarnessError(f"apt-get {' '.join(arguments)}: {done.stderr.strip()}")
