"""The mutating webhook of catalogd, called by a real API server."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from e2e.harness.controlplane import ControlPlane
from e2e.harness.ports import free_port
from e2e.harness.registry import Registry
from e2e.olm.api import OLM
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

LABEL = "olm.operatorframework.io/metadata.name"
NAME = "catalogd-mutating-webhook-configuration"
PATH = "/mutate-olm-operatorframework-io-v1-clustercatalog"


@pytest.fixture
def webhook(tmp_path: Path, control_plane: ControlPlane, registry: Registry) -> Iterator[None]:
    """A running catalogd, registered with the API server."""
    olm = Olm(tmp_path, control_plane, registry)
    olm.install()
    port = free_port("127.0.0.1")
    olm.start_catalogd(f"--webhook-server-port={port}")
    configuration = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": NAME},
        "webhooks": [
            {
                "name": "inject-metadata-name.olm.operatorframework.io",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "timeoutSeconds": 10,
                "clientConfig": {
                    "url": f"https://127.0.0.1:{port}{PATH}",
                    "caBundle": base64.b64encode(olm.catalogs_ca.read_bytes()).decode(),
                },
                "rules": [
                    {
                        "apiGroups": ["olm.operatorframework.io"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["clustercatalogs"],
                    }
                ],
            }
        ],
    }
    control_plane.apply(json.dumps(configuration))
    yield
    control_plane.delete([configuration])
    olm.stop()


def test_the_name_is_a_label_in_the_very_answer(webhook: None, control_plane: ControlPlane) -> None:
    """Nothing is stored, so no reconcile can have set it.

    The server begins to call a new webhook a moment after it was made.
    """
    deadline = time.monotonic() + 60
    while (labels := labels_given(control_plane, "fresh", {})) != {LABEL: "fresh"}:
        assert time.monotonic() < deadline, labels
        time.sleep(0.1)
    wrong = {LABEL: "other", "kept": "yes"}
    assert labels_given(control_plane, "renamed", wrong) == {LABEL: "renamed", "kept": "yes"}


def labels_given(control_plane: ControlPlane, name: str, labels: dict[str, str]) -> dict[str, str]:
    """Those that a new catalog would have."""
    body = yaml.safe_load(catalog("", "r.test/c:v1"))
    body["metadata"] = {"name": name, "labels": labels}
    with control_plane.client() as client:
        made = client.post(f"{OLM}/clustercatalogs?dryRun=All", json=body).raise_for_status()
    found: dict[str, str] = made.json()["metadata"].get("labels", {})
    return found
