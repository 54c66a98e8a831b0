"""The FeatureGate of a cluster, as its configuration operator writes it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from e2e.harness.controlplane import ControlPlane
from e2e.olm.api import Api

NAME = "featuregates.config.openshift.io"
DEFINITION = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
PATH = "/apis/config.openshift.io/v1/featuregates/cluster"
_OPEN: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": NAME},
    "spec": {
        "group": "config.openshift.io",
        "scope": "Cluster",
        "names": {"kind": "FeatureGate", "plural": "featuregates"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": _OPEN},
            }
        ],
    },
}


class FeatureGates:
    """What is on and off in a cluster."""

    def __init__(self, control_plane: ControlPlane, api: Api) -> None:
        """Nothing is written yet."""
        self._control_plane = control_plane
        self._api = api

    def set(self, feature_set: str, enabled: Mapping[str, Sequence[str]]) -> None:
        """Write the feature set and the enabled gates by version; make the kind served first."""
        self._control_plane.apply(json.dumps(_CRD))
        found = {
            "apiVersion": "config.openshift.io/v1",
            "kind": "FeatureGate",
            "metadata": {"name": "cluster"},
            "spec": {"featureSet": feature_set},
        }
        self._control_plane.apply(json.dumps(found))
        gates = [
            {"version": version, "enabled": [{"name": name} for name in names]}
            for version, names in enabled.items()
        ]
        self._api.patch(f"{PATH}/status", {"status": {"featureGates": gates}})

    def clear(self) -> None:
        """Delete the kind, and wait until it is served no more."""
        if self._api.get(DEFINITION) is not None:
            self._api.delete(DEFINITION)
            self._api.wait_gone(DEFINITION)
