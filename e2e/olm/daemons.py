"""Daemons of ours as processes outside the cluster."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from e2e.harness.controlplane import answers_ok
from e2e.harness.process import ChildProcess, service_environment

HOST = "127.0.0.1"


def start_daemon(
    program: str,
    arguments: Sequence[str],
    *,
    health_port: int,
    log: Path,
    executable: str = "",
    environment: Mapping[str, str] | None = None,
) -> ChildProcess:
    """Starts a program, its own flags added, and waits until it is ready.

    `executable` is another one than that beside this interpreter. Errors: ProcessFailed.
    """
    child = ChildProcess(
        program,
        [
            executable or str(Path(sys.executable).with_name(program)),
            f"--health-probe-bind-address={HOST}:{health_port}",
            *arguments,
        ],
        log=log,
        env=service_environment(PYTHONUNBUFFERED="1", **(environment or {})),
    )
    child.start()
    with httpx.Client(timeout=2.0, verify=False, trust_env=False) as client:  # plain HTTP
        child.wait_ready(lambda: answers_ok(client, f"http://{HOST}:{health_port}/readyz"))
    return child
