"""The first process of a box: `python -m e2e.node.first_process COMMAND [ARGUMENT...]`.

Makes the box a place where a node can run, runs the command, and reaps what is orphaned. When it
ends, the kernel ends everything else in the box.
"""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from e2e.node.network import NODE_ADDRESS, NODE_NAME, SERVICE_CIDR
from e2e.node.sandbox import OWN_FOLDERS

SHIELDED = {"vm/overcommit_memory": "1", "kernel/panic": "10", "kernel/panic_on_oops": "1"}
"""Settings of the machine that the kubelet checks; it sees these values and changes nothing."""


def main() -> None:
    """Prepare, run, exit as the command does."""
    _mounts()
    _names()
    _network()
    socket.sethostname(NODE_NAME)
    command = subprocess.Popen(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command has Ctrl-C too, and ends in order
    while True:
        pid, status = os.wait()
        if pid == command.pid:
            code = os.waitstatus_to_exitcode(status)
            sys.exit(code if code >= 0 else 128 - code)


def _mounts() -> None:
    _run("mount", "-t", "proc", "proc", "/proc")
    for folder in (Path("/run"), *OWN_FOLDERS):
        _run("mount", "-t", "tmpfs", "tmpfs", str(folder))
    for name, desired in SHIELDED.items():
        shown = Path("/run/sysctl", name)
        shown.parent.mkdir(parents=True, exist_ok=True)
        shown.write_text(desired)
        _run("mount", "--bind", str(shown), f"/proc/sys/{name}")


def _names() -> None:
    """The cluster's DNS resolves names for this host too."""
    resolver = Path("/run/resolv.conf")
    resolver.write_text(f"nameserver {NODE_ADDRESS}\n")
    read = Path("/etc/resolv.conf").resolve()
    if not read.exists():  # it was in the machine's /run
        read.parent.mkdir(parents=True, exist_ok=True)
        read.touch()
    _run("mount", "--bind", str(resolver), str(read))


def _network() -> None:
    _run("ip", "link", "set", "lo", "up")
    _run("ip", "address", "add", f"{NODE_ADDRESS}/32", "dev", "lo")
    # What leaves this host for a Service is given its real destination after the choice of a
    # route, so there has to be one.
    _run("ip", "route", "add", SERVICE_CIDR, "dev", "lo", "src", NODE_ADDRESS)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True)


if __name__ == "__main__":
    main()
