"""A Helm chart installed on a node, with our image from the node's registry."""

from typing import Any

import yaml

from e2e.harness.images import Image
from e2e.node.cluster import Node
from e2e.olm.chart import OLM_V1, ChartUnderTest, helm

REPOSITORY = "olmv1"
OPTIONS = {OLM_V1: {"operatorController": {"featureGates": {"BoxcutterRuntime": True}}}}
"""Values of each release of a chart: extensions wait for their pods."""
WAIT = ("--wait", "--timeout=240s")


class Release:
    """One release; nothing is installed before `install`."""

    def __init__(self, node: Node, image: Image, chart: ChartUnderTest = OLM_V1) -> None:
        """Pushes the image. Errors: RegistryFailed."""
        self._node = node
        self._chart = chart
        self._folder = node.places.root / "release" / chart.name
        self._folder.mkdir(parents=True, exist_ok=True)
        pushed = node.registry.push(image, REPOSITORY, tag="tested")
        self.repository = pushed.tag_reference.rpartition(":")[0]
        self.tag = pushed.tag

    def install(self, values: dict[str, Any]) -> None:
        """`helm install` with values besides the image and the registry's CA; waits for the pods.

        Errors: CommandFailed.
        """
        given = ("--create-namespace", *self._values(values), *WAIT)
        self._helm("install", self._chart.name, str(self._chart.folder), *given)

    def upgrade(self, values: dict[str, Any]) -> None:
        """`helm upgrade` with further values; waits for the pods. Errors: CommandFailed."""
        given = ("--reset-then-reuse-values", self._written("given", values), *WAIT)
        self._helm("upgrade", self._chart.name, str(self._chart.folder), *given)

    def uninstall(self) -> None:
        """`helm uninstall`; waits until what it deletes is gone. Errors: CommandFailed."""
        self._helm("uninstall", self._chart.name, *WAIT)

    def _values(self, values: dict[str, Any]) -> list[str]:
        authority = self._node.registry.ca_file
        trusted = authority.read_text() if authority else ""
        image = {"repository": self.repository, "tag": self.tag}
        own = {**OPTIONS.get(self._chart, {}), "image": image, "trustedCAs": {"pem": trusted}}
        return [self._written("own", own), self._written("given", values)]

    def _written(self, name: str, values: dict[str, Any]) -> str:
        path = self._folder / f"{name}-values.yaml"
        path.write_text(yaml.safe_dump(values))
        return f"--values={path}"

    def _helm(self, *arguments: str) -> None:
        helm(
            *arguments,
            f"--namespace={self._chart.namespace}",
            kubeconfig=self._node.control_plane.kubeconfig,
            home=self._folder,
        )
