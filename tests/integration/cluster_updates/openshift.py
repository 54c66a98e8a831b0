"""OpenShift's kinds, as far as cluster updates are concerned."""

import json
from pathlib import Path

from e2e.harness.controlplane import ControlPlane

FOLDER = Path(__file__).parent


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
        file = str(FOLDER / f"{plural}.yaml")
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
        made = {"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "metadata": meta}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(made))
        status = {"status": {"desired": {"version": version}, "history": [{"version": version}]}}
        patch = f"--patch={json.dumps(status)}"
        self.kubectl(
            "patch", "clusterversion", "version", "--subresource=status", "--type=merge", patch
        )
