"""OpenShift's kinds, as far as cluster updates are concerned."""

import json
from pathlib import Path

from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import ControlPlane
from e2e.olm.api import Api

API = "/apis/config.openshift.io/v1"


class OpenShift:
    """OpenShift's kinds in a cluster, and the version that it says it has."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.kubectl = control_plane.kubectl
        self._control_plane = control_plane

    def appear(self, version: str) -> None:
        """The kinds are served, and the cluster has a version."""
        self.define("clusterversions")
        self.be(version)
        self.define("clusteroperators")

    def define(self, plural: str) -> None:
        """Has a kind served."""
        self._control_plane.apply(_definition(plural))

    def disappear(self) -> None:
        """Takes the kinds and their objects away."""
        for plural in ("clusteroperators", "clusterversions"):
            self._control_plane.delete(_definition(plural))

    def be(self, version: str) -> None:
        """Is at a version, as if an update to it had been accepted."""
        meta = {"name": "version"}
        spec = {"clusterID": "7d6bd2b8-6e4f-4a25-9d76-1d3f2c8a9b10"}
        kind = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion"}
        made = {**kind, "metadata": meta, "spec": spec}
        self._control_plane.apply(json.dumps(made))
        image = f"registry.example.com/release:{version}"
        since = "2025-01-01T00:00:00Z"
        entry = {"version": version, "image": image, "state": "Completed", "verified": True}
        status = {
            "desired": {"version": version, "image": image},
            "history": [entry | {"startedTime": since, "completionTime": since}],
            "observedGeneration": 1,
            "versionHash": "",
            "availableUpdates": [],
        }
        with Api(self._control_plane) as api:
            api.patch(f"{API}/clusterversions/version/status", {"status": status})


def _definition(plural: str) -> Path:
    return CLUSTER_VERSION_CRD_FOLDER / f"config.openshift.io_{plural}.yaml"
