"""Daemons of ours as processes outside the cluster."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.harness.client import plain_client
from e2e.harness.controlplane import answers_ok
from e2e.harness.process import ChildProcess, service_environment
from e2e.olm.forked import ForkedDaemon

HOST = "127.0.0.1"
_forked = False


def fork_daemons() -> None:
    """From now on daemons are forked (e2e/olm/forked.py), which is no way to measure them."""
    global _forked  # noqa: PLW0603 - one choice for a run of tests
    _forked = True


def daemon(
    program: str,
    arguments: Sequence[str],
    *,
    log: Path,
    executable: str = "",
    environment: Mapping[str, str] | None = None,
) -> ChildProcess:
    """A program with a small environment; it is not started yet.

    `executable` is another one than that next to this interpreter.
    """
    own = environment or {}
    forked = _forked and not executable and "LD_PRELOAD" not in own
    return (ForkedDaemon if forked else ChildProcess)(
        program,
        [executable or str(Path(sys.executable).with_name(program)), *arguments],
        log=log,
        env=service_environment(PYTHONUNBUFFERED="1", **own),
    )


def start_daemon(
    program: str,
    arguments: Sequence[str],
    *,
    health_port: int,
    log: Path,
    executable: str = "",
    environment: Mapping[str, str] | None = None,
) -> ChildProcess:
    """Starts a program, its own flags added, and waits until it is ready. Errors: ProcessFailed."""
    health = f"--health-probe-bind-address={HOST}:{health_port}"
    child = daemon(
        program, [health, *arguments], log=log, executable=executable, environment=environment
    )
    child.start()
    with plain_client(timeout=2.0) as client:
        child.wait_ready(lambda: answers_ok(client, f"http://{HOST}:{health_port}/readyz"))
    return child


def metrics_of(port: int) -> str:
    """What a program says of itself at a port. Errors: httpx.HTTPError."""
    return page(f"http://{HOST}:{port}/metrics")


def page(url: str) -> str:
    """What is at a plain HTTP address. Errors: httpx.HTTPError."""
    with plain_client() as client:
        return client.get(url).raise_for_status().text
