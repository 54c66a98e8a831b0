"""OpenShift's kinds, as far as cluster updates are concerned."""

import json

from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import ControlPlane


class OpenShift:
    """OpenShift's kinds in a cluster, and the version that it says it has."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self.kubectl = control_plane.kubectl

    def appear(self, version: str) -> None:
        """The kinds are served, and the cluster has a version."""
        self.define("clusterversions")
        self.be(version)
        self.define("clusteroperators")

    def define(self, plural: str) -> None:
        """Has a kind served."""
        file = str(CLUSTER_VERSION_CRD_FOLDER / f"config.openshift.io_{plural}.yaml")
        self.kubectl("apply", "-f", file)
        self.kubectl("wait", "--for=condition=Established", "-f", file, "--timeout=120s")
        self.kubectl("get", f"{plural}.config.openshift.io")  # waits for its storage

    def disappear(self) -> None:
        """Takes the kinds and their objects away."""
        kinds = (
            f"{plural}.config.openshift.io" for plural in ("clusteroperators", "clusterversions")
        )
        self.kubectl("delete", "crd", *kinds, "--ignore-not-found")

    def be(self, version: str) -> None:
        """Is at a version, as if an update to it had been accepted."""
        meta = {"name": "version"}
        spec = {"clusterID": "7d6bd2b8-6e4f-4a25-9d76-1d3f2c8a9b10"}
        kind = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion"}
        made = {**kind, "metadata": meta, "spec": spec}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(made))
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
        patch = f"--patch={json.dumps({'status': status})}"
        self.kubectl(
            "patch", "clusterversion", "version", "--subresource=status", "--type=merge", patch
        )
