"""Kubeconfig files: self-contained, readable by their owner only."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from e2e.harness.pki import KeyPair, write_private


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an API server is reached, and the certificate to check it with (PEM)."""

    url: str
    authority: bytes


def certificate_user(pair: KeyPair) -> dict[str, Any]:
    """The user entry of somebody who shows a client certificate."""
    return {
        "client-certificate-data": _encoded(pair.certificate),
        "client-key-data": _encoded(pair.key),
    }


def token_user(token: str) -> dict[str, Any]:
    """The user entry of somebody who shows a bearer token, as service accounts do."""
    return {"token": token}


def write_kubeconfig(path: Path, *, server: str, authority: bytes, user: Mapping[str, Any]) -> Path:
    """Write a kubeconfig with one cluster and one user (mode 0600); its path."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "olmv1",
                "cluster": {"server": server, "certificate-authority-data": _encoded(authority)},
            }
        ],
        "users": [{"name": "user", "user": dict(user)}],
        "contexts": [{"name": "olmv1", "context": {"cluster": "olmv1", "user": "user"}}],
        "current-context": "olmv1",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_private(path, yaml.safe_dump(content, sort_keys=False).encode())
    return path


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()
