"""Fixtures: a control plane, a registry, a namespace of one's own, kubectl.

A control plane and a registry are started once per test process, at their first use; a run that
uses neither pays nothing. With pytest-xdist each worker has its own.
"""

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

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


def fresh_namespace(control_plane: ControlPlane) -> str:
    """The name of a new namespace. It ends with the control plane: sooner takes many requests."""
    name = f"test-{secrets.token_hex(5)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    control_plane.create("/api/v1/namespaces", body)
    return name


@pytest.fixture
def namespace(control_plane: ControlPlane) -> str:
    """The name of a namespace of the test's own."""
    return fresh_namespace(control_plane)


@pytest.fixture
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """Runs kubectl as the administrator of the control plane."""
    return control_plane.kubectl
