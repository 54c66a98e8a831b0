"""The Helm chart installed on a node, with our image from the node's registry."""

from typing import Any

import yaml

from e2e.harness.images import Image
from e2e.node.cluster import Node
from e2e.olm.chart import CHART, NAMESPACE, RELEASE, helm

REPOSITORY = "olmv1"
OPTIONS = {"operatorController": {"featureGates": {"BoxcutterRuntime": True}}}
"""Values of each release: extensions wait for their pods."""
WAIT = ("--wait", "--timeout=240s")


class Release:
    """One release; nothing is installed before `install`."""

    def __init__(self, node: Node, image: Image) -> None:
        """Pushes the image. Errors: RegistryFailed."""
        self._node = node
        self._folder = node.places.root / "release"
        self._folder.mkdir(parents=True, exist_ok=True)
        pushed = node.registry.push(image, REPOSITORY, tag="tested")
        self._image = {
            "repository": pushed.tag_reference.rpartition(":")[0],
            "tag": pushed.tag,
        }

    def install(self, values: dict[str, Any]) -> None:
        """`helm install` with values besides the image and the registry's CA; waits for the pods.

        Errors: CommandFailed.
        """
        self._helm(
            "install", RELEASE, str(CHART), "--create-namespace", *self._values(values), *WAIT
        )

    def upgrade(self, values: dict[str, Any]) -> None:
        """`helm upgrade` with further values; waits for the pods. Errors: CommandFailed."""
        given = self._written("given", values)
        self._helm("upgrade", RELEASE, str(CHART), "--reset-then-reuse-values", given, *WAIT)

    def uninstall(self) -> None:
        """`helm uninstall`; waits until what it deletes is gone. Errors: CommandFailed."""
        self._helm("uninstall", RELEASE, *WAIT)

    def _values(self, values: dict[str, Any]) -> list[str]:
        authority = self._node.registry.ca_file
        trusted = authority.read_text() if authority else ""
        own = {**OPTIONS, "image": self._image, "trustedCAs": {"pem": trusted}}
        return [self._written("own", own), self._written("given", values)]

    def _written(self, name: str, values: dict[str, Any]) -> str:
        path = self._folder / f"{name}-values.yaml"
        path.write_text(yaml.safe_dump(values))
        return f"--values={path}"

    def _helm(self, *arguments: str) -> None:
        helm(
            *arguments,
            f"--namespace={NAMESPACE}",
            kubeconfig=self._node.control_plane.kubeconfig,
            home=self._folder,
        )
