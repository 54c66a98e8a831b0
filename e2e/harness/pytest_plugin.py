"""Fixtures: a control plane, a registry, a namespace of one's own, kubectl.

A control plane and a registry are started once per test process, at their first use; a run that
uses neither pays nothing. With pytest-xdist each worker has its own.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import httpx
import pytest

from e2e.harness.controlplane import KUBECTL_TIMEOUT, ControlPlane
from e2e.harness.registry import Registry

# Servers of tests live for minutes: a sixth less processor time for twice the memory.
os.environ.setdefault("GOGC", "400")


class Kubectl(Protocol):
    """Runs kubectl; returns its standard output, raises CommandFailed with its standard error."""

    def __call__(
        self,
        *arguments: str,
        stdin: str | None = None,
        kubeconfig: Path | None = None,
        timeout: float = KUBECTL_TIMEOUT,
    ) -> str:
        """Run `kubectl ARGUMENTS...`, as the administrator or as `kubeconfig` says."""


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A running control plane, shared by all tests of the session."""
    with ControlPlane(tmp_path_factory.mktemp("control-plane")) as running:
        yield running


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """A running registry with TLS and no authentication, shared by all tests of the session."""
    with Registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """The name of a fresh namespace; it is deleted after the test, without waiting for its end."""
    name = f"test-{secrets.token_hex(5)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    with control_plane.client() as client:
        client.post("/api/v1/namespaces", json=body).raise_for_status()
        yield name
        answer = client.delete(f"/api/v1/namespaces/{name}")
        if answer.status_code != httpx.codes.NOT_FOUND:  # a test may have deleted it itself
            answer.raise_for_status()


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Runs kubectl as the administrator of the control plane."""
    return control_plane.kubectl
