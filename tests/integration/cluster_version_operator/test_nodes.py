"""Nodes are updated by the operator, which the cluster does not wait for."""

from collections.abc import Iterator

import pytest

from api.objects import KubeObject, annotations_of, condition, name_of
from e2e.harness.controlplane import wait_until
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.releases import ReleaseSpec

pytestmark = pytest.mark.integration

NODES, POOLS = "/api/v1/nodes", "/apis/machineconfiguration.openshift.io/v1/machineconfigpools"
JOBS = "/apis/batch/v1/namespaces/openshift-cluster-version/jobs"
WORKER = {"node-role.kubernetes.io/worker": ""}
READY = {"type": "Ready", "status": "True"}
WHEN = "2026-01-01T00:00:00Z"
ENDED = {
    "startTime": WHEN,
    "completionTime": WHEN,
    "conditions": [
        {"type": kind, "status": "True", "lastTransitionTime": WHEN}
        for kind in ("SuccessCriteriaMet", "Complete")
    ],
}


@pytest.fixture
def worker(cluster: ClusterUpdates) -> Iterator[str]:
    """A node that nothing runs on, and its pool of the same name."""
    name = "worker"
    meta = {"name": name, "labels": WORKER}
    cluster.api.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": meta})
    boot(cluster, name, "first")
    spec = {
        "nodeSelector": {"matchLabels": WORKER},
        "configuration": {"image": "registry.example.com/os"},
    }
    kind = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool"}
    cluster.api.create(POOLS, {**kind, "metadata": {"name": name}, "spec": spec})
    yield name
    cluster.stop()
    for each in (POOLS, NODES):
        cluster.api.delete(f"{each}/{name}")
    cluster.api.delete(JOBS)


def boot(cluster: ClusterUpdates, node: str, boot_id: str) -> None:
    status = {"conditions": [READY], "nodeInfo": {"bootID": boot_id}}
    cluster.api.patch(f"{NODES}/{node}/status", {"status": status})


def pool(cluster: ClusterUpdates, name: str) -> dict[str, str]:
    """What its conditions say."""
    found = cluster.api.get(f"{POOLS}/{name}") or {}
    kinds = ("Updated", "Updating", "Degraded")
    return {kind: (condition(found, kind) or {}).get("status", "") for kind in kinds}


def job_of(cluster: ClusterUpdates, node: str) -> KubeObject | None:
    own = "machineconfiguration.openshift.io/nodeName"
    found = (each for each in cluster.api.list(JOBS) if annotations_of(each).get(own) == node)
    return next(found, None)


def test_a_cluster_is_updated_before_its_nodes_are(cluster: ClusterUpdates, worker: str) -> None:
    """Scenario 64; and the update of a node goes on after the operator was killed meanwhile."""
    cluster.start(ReleaseSpec("1.0.0"))
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")
    wait_until(lambda: job_of(cluster, worker) is not None, what="the Job of the node")
    [entry] = cluster.version["status"]["history"]
    assert entry["state"] == "Completed"
    assert pool(cluster, worker) == {"Updated": "False", "Updating": "True", "Degraded": "False"}

    cluster.kill()
    job = job_of(cluster, worker)
    assert job is not None
    cluster.api.patch(f"{JOBS}/{name_of(job)}/status", {"status": ENDED})
    boot(cluster, worker, "second")
    cluster.restart()
    wait_until(lambda: pool(cluster, worker)["Updated"] == "True", what="the node is updated")
    node = cluster.api.get(f"{NODES}/{worker}") or {}
    assert not node["spec"].get("unschedulable")
    wait_until(lambda: job_of(cluster, worker) is None, what="the Job is gone")
