"""`make demo NODE=1`: our chart on a node, and an operator whose pods run, installed and updated.

To be run in a box of e2e/node. The box has a network of its own: the programs of demo.env enter it.
"""

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from e2e.demo.environment import Environment
from e2e.demo.steps import DemoSteps, run_demo
from e2e.node.cluster import Node
from e2e.node.product import product_image
from e2e.node.release import Release
from e2e.node.sandbox import pid_file, work_folder
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.manifests import catalog, with_administrator
from e2e.operator import bundles
from e2e.operator.bundles import PACKAGE
from e2e.operator.images import WORDS

FIRST, SECOND = WORDS
SECONDS = 120.0


class NodeDemo(DemoSteps):
    """Everything in pods."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        super().__init__(folder, stack)
        self.node = Node(work_folder())
        self.control_plane = self.node.control_plane
        self.registry = self.node.registry

    def run(self) -> None:
        """All steps, in order."""
        self.stack.enter_context(self.node)
        self.say(f"node: ready; control plane: {self.control_plane.url}")
        Release(self.node, product_image()).install({})
        self.say("chart: installed; both programs run in pods")
        self.show("get", "pods", "--namespace=olmv1-system")
        bundles.publish_images(self.registry)
        bundles.publish_bundles(self.registry)
        image = bundles.publish_catalog(self.registry, (FIRST, SECOND))
        self.node.kubectl("apply", "-f", "-", stdin=catalog("demo", image))
        with Api(self.control_plane) as api:
            api.wait_condition(catalog_path("demo"), "Serving", "True", timeout=SECONDS)
            self.say("catalog: Serving")
            self.node.kubectl("apply", "-f", "-", stdin=with_administrator(PACKAGE, FIRST))
            self.wait_available(api, FIRST)
            self.greet(api)
            desired = {"spec": {"source": {"catalog": {"version": SECOND}}}}
            api.patch(extension_path(PACKAGE), desired)
            self.wait_available(api, SECOND)

    def wait_available(self, api: Api, version: str) -> None:
        """Until that version is installed and its pods are ready."""
        api.wait_installed(PACKAGE, version, timeout=SECONDS)
        api.wait_condition(extension_path(PACKAGE), "Available", "True", timeout=SECONDS)
        self.say(f"extension {PACKAGE}: {version} Installed and Available")
        self.show("get", "pods", f"--namespace={PACKAGE}")

    def greet(self, api: Api) -> None:
        """What the operator does with an object of its own kind."""
        greeting = {
            "apiVersion": "greeter.example.com/v1",
            "kind": "Greeting",
            "metadata": {"name": "ada", "namespace": "default"},
            "spec": {"name": "Ada"},
        }
        self.node.kubectl("apply", "-f", "-", stdin=json.dumps(greeting))
        written = "/api/v1/namespaces/default/configmaps/ada"
        api.wait(written, lambda found: found is not None, what="the operator greets")
        self.show("get", "configmap", "ada", "-o", "jsonpath={.data}")

    @property
    def commands(self) -> list[str]:
        """What to try next."""
        return [
            f"olm search {PACKAGE}",
            f"olm plan {PACKAGE}",
            f"opm render {self.registry.address}/{PACKAGE}-catalog:latest",
        ]

    @property
    def notes(self) -> str:
        """What else to know."""
        return f"""\
The file sets PATH with olm, opm and kubectl, which enter the network of the node (as root),
KUBECONFIG, and SSL_CERT_FILE with the CA of the registry ({self.registry.ca_file}).
Then also: kubectl get pods --all-namespaces; olm status {PACKAGE}"""

    def environment(self) -> Environment:
        """For whoever goes on."""
        authority = self.registry.ca_file
        return Environment(
            folder=self.folder,
            kubeconfig=self.control_plane.kubeconfig,
            kubectl=self.control_plane.binaries.kubectl.argv,
            authorities={"REGISTRY_CA": authority} if authority else {},
            others={"REGISTRY": self.registry.address},
            prefix=("nsenter", f"--net=/proc/{_box()}/ns/net", "--"),
        )


def _box() -> str:
    """The process that has the network of the box, which its starter notes at once."""
    while not pid_file().exists():
        time.sleep(0.1)
    return pid_file().read_text()


if __name__ == "__main__":
    sys.exit(run_demo(NodeDemo))
