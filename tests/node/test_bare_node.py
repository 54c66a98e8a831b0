"""A node on which nothing of ours runs yet: it is updated as a pool's node is.

First of this folder: it drains the node, which the budgets of the product would hold up.
"""

import asyncio
import json
from collections.abc import Iterator

import pytest

from config.generate import CLUSTER_VERSION_CRD_FOLDER
from e2e.harness.controlplane import wait_until
from e2e.node.cluster import Node
from e2e.node.network import NODE_NAME
from e2e.operator.images import image
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.integration.node_updates.running import updating_nodes

pytestmark = pytest.mark.node

NAMESPACE, POOL = "openshift-cluster-version", "worker"
LABEL = "node-role.kubernetes.io/worker"
CRD = CLUSTER_VERSION_CRD_FOLDER / "machineconfiguration.openshift.io_machineconfigpools.yaml"

BUSY = "import signal; signal.signal(signal.SIGTERM, lambda *_: exit()); signal.pause()"
UPDATE = """
import os, sys
with open(sys.argv[1], "w") as file:
    print(os.environ["NODE_NAME"], os.environ["MACHINE_CONFIG"], file=file)
with open(sys.argv[2], "w") as file:
    file.write("second")
"""
"""Writes what it was told to the first file, and another boot ID to the second."""


@pytest.fixture
def greeter(node: Node) -> str:
    """The reference of an image with Python."""
    return node.registry.push(image("0.1.0"), "greeter", tag="0.1.0").tag_reference


@pytest.fixture
def worker(node: Node, greeter: str) -> Iterator[None]:
    """The node is a worker on which a Deployment runs, and pools are served."""
    kubectl = node.kubectl
    kubectl("apply", "-f", str(CRD))
    kubectl("wait", "--for=condition=Established", "-f", str(CRD))
    kubectl("create", "namespace", NAMESPACE)
    kubectl("label", "node", NODE_NAME, f"{LABEL}=")
    kubectl("create", "deployment", "busy", f"--image={greeter}", "--", "python3", "-c", BUSY)
    kubectl("rollout", "status", "deployment/busy", "--timeout=180s")
    yield
    kubectl("delete", "-f", str(CRD))
    kubectl("delete", "deployment", "busy")
    kubectl("delete", "namespace", NAMESPACE)
    kubectl("label", "node", NODE_NAME, f"{LABEL}-")


def pods(node: Node) -> set[str]:
    uids = node.kubectl("get", "pods", "-l=app=busy", "-o=jsonpath={.items[*].metadata.uid}")
    return set(uids.split())


def shown(node: Node, path: str) -> str:
    return node.kubectl("get", "node", NODE_NAME, f"-o=jsonpath={path}")


@pytest.mark.usefixtures("worker")
async def test_a_node_is_drained_updated_and_restarted(node: Node, greeter: str) -> None:
    """The command writes to the node; the kubelet then starts with another boot ID."""
    assert shown(node, "{.status.nodeInfo.bootID}") == "first"
    before = pods(node)
    written = node.places.root / "configuration"
    files = [f"/host{path}" for path in (written, node.places.boot_id)]
    pool = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": POOL},
        "spec": {
            "nodeSelector": {"matchLabels": {LABEL: ""}},
            "configuration": {"image": greeter, "command": ["python3", "-c", UPDATE, *files]},
        },
    }
    access = load_access(str(node.control_plane.kubeconfig))
    async with KubeClient.connect(access) as client, updating_nodes(client, access, NAMESPACE):
        await asyncio.to_thread(go_through, node, json.dumps(pool))
    name, configuration = written.read_text().split()
    assert name == NODE_NAME
    assert configuration.startswith(f"rendered-{POOL}-")
    row = node.kubectl("get", "mcp", POOL, "--no-headers").split()
    assert row[1:9] == [configuration, "True", "False", "False", "1", "1", "1", "0"]
    assert not shown(node, "{.spec.unschedulable}")
    node.kubectl("rollout", "status", "deployment/busy", "--timeout=180s")
    assert not pods(node) & before, "they were evicted"


def go_through(node: Node, pool: str) -> None:
    node.kubectl("apply", "-f", "-", stdin=pool)
    changed = node.places.boot_id
    wait_until(lambda: changed.read_text() == "second", what="the command has run")
    assert shown(node, "{.spec.unschedulable}") == "true", "until it has restarted"
    node.kubectl(
        "wait", "--for=condition=Complete", "job", "--all", f"-n={NAMESPACE}", "--timeout=180s"
    )
    node.restart_kubelet()
    node.kubectl("wait", "--for=condition=Updated", f"mcp/{POOL}", "--timeout=180s")
