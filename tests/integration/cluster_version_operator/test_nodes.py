"""Nodes are updated by the operator. The cluster waits for those of the control plane alone."""

from collections.abc import Iterator

import pytest

from api.objects import KubeObject, annotations_of, condition, is_true, name_of
from e2e.harness.controlplane import wait_until
from e2e.olm.cluster_updates import OPERATORS, ClusterUpdates
from e2e.olm.releases import PROFILE, ReleaseSpec, cluster_operator, config_map

pytestmark = pytest.mark.integration

NODES, POOLS = "/api/v1/nodes", "/apis/machineconfiguration.openshift.io/v1/machineconfigpools"
JOBS = "/apis/batch/v1/namespaces/openshift-cluster-version/jobs"
WORKER = {"node-role.kubernetes.io/worker": ""}
CONTROL_PLANE = {"node-role.kubernetes.io/control-plane": ""}
OPERATOR = "machine-config"
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


@pytest.fixture
def control_plane_node(cluster: ClusterUpdates) -> Iterator[str]:
    """A node of the control plane; its pool comes with the release."""
    name = "control-plane"
    meta = {"name": name, "labels": CONTROL_PLANE}
    cluster.api.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": meta})
    boot(cluster, name, "first")
    yield name
    cluster.stop()
    for path in (f"{POOLS}/master", f"{NODES}/{name}", JOBS):
        cluster.api.delete(path)


def with_nodes(version: str) -> ReleaseSpec:
    """A release that has a configuration of nodes of its own, and waits for them."""
    configuration = {"image": "registry.example.com/os", "command": [version]}
    pool = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": "master", "annotations": PROFILE},
        "spec": {
            "nodeSelector": {"matchLabels": CONTROL_PLANE},
            "configuration": configuration,
        },
    }
    extra = {
        "0000_80_machine-config_01_pool.yaml": pool,
        "0000_80_machine-config_05_operator.yaml": cluster_operator(OPERATOR, version),
        "0000_90_last_01_after.yaml": config_map("last", {"version": version}),
    }
    return ReleaseSpec(version, extra=extra)


def boot(cluster: ClusterUpdates, node: str, boot_id: str) -> None:
    status = {"conditions": [READY], "nodeInfo": {"bootID": boot_id}}
    cluster.api.patch(f"{NODES}/{node}/status", {"status": status})


def pool(cluster: ClusterUpdates, name: str) -> dict[str, str]:
    """What its conditions say."""
    found = cluster.api.get(f"{POOLS}/{name}") or {}
    kinds = ("Updated", "Updating", "Degraded")
    return {kind: (condition(found, kind) or {}).get("status", "") for kind in kinds}


def progress_of_nodes(cluster: ClusterUpdates) -> str:
    operator = cluster.api.get(f"{OPERATORS}/{OPERATOR}") or {}
    return str((condition(operator, "Progressing") or {}).get("message", ""))


def is_cordoned(cluster: ClusterUpdates, node: str) -> bool:
    return bool((cluster.api.get(f"{NODES}/{node}") or {})["spec"].get("unschedulable"))


def job_of(cluster: ClusterUpdates, node: str) -> KubeObject | None:
    own = "machineconfiguration.openshift.io/nodeName"
    found = (each for each in cluster.api.list(JOBS) if annotations_of(each).get(own) == node)
    return next(found, None)


def update_node(cluster: ClusterUpdates, node: str, boot_id: str) -> None:
    """The Job on it is done, and it restarts."""
    wait_until(lambda: job_of(cluster, node) is not None, what="the Job of the node")
    job = job_of(cluster, node)
    assert job is not None
    cluster.api.patch(f"{JOBS}/{name_of(job)}/status", {"status": ENDED})
    boot(cluster, node, boot_id)


def test_a_cluster_waits_for_the_nodes_of_its_control_plane(
    cluster: ClusterUpdates, control_plane_node: str
) -> None:
    """In the installation, and in an update, where they were as the release before had them."""
    first, second = with_nodes("1.0.0"), with_nodes("1.0.1")
    cluster.start(first, image=first.publish(cluster.registry))
    cluster.report("1.0.0")
    update_node(cluster, control_plane_node, "second")
    cluster.wait_level("1.0.0")

    cluster.ask(image=second.publish(cluster.registry), force=True)
    cluster.wait_condition("Progressing", "True", "waiting on alpha, beta")
    spec = (cluster.api.get(f"{POOLS}/master") or {})["spec"]
    assert spec["configuration"]["command"] == ["1.0.0"], "nodes come after the components"
    cluster.report("1.0.1")
    cluster.wait_condition("Progressing", "True", f"waiting on {OPERATOR}")
    # The pool says so a moment after its new configuration was applied.
    counted = (
        "Working towards 1.0.1: required pool master is not updated "
        "(1 total, 0 updated, 0 ready, 1 unavailable)"
    )
    wait_until(lambda: progress_of_nodes(cluster) == counted, what="the pool is counted")
    operator = cluster.api.get(f"{OPERATORS}/{OPERATOR}") or {}
    assert operator["status"]["versions"] == [{"name": "operator", "version": "1.0.0"}]
    assert is_true(operator, "Available")
    assert (condition(operator, "Upgradeable") or {})["reason"] == "PoolUpdating"
    update_node(cluster, control_plane_node, "third")
    cluster.wait_level("1.0.1")
    assert pool(cluster, "master")["Updated"] == "True"


def test_a_cluster_is_updated_before_its_nodes_are(cluster: ClusterUpdates, worker: str) -> None:
    """Scenario 64; and the update of a node goes on after the operator was killed meanwhile."""
    cluster.start(ReleaseSpec("1.0.0"))
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")
    wait_until(lambda: job_of(cluster, worker) is not None, what="the Job of the node")
    [entry] = cluster.version["status"]["history"]
    assert entry["state"] == "Completed"
    updating = {"Updated": "False", "Updating": "True", "Degraded": "False"}
    wait_until(lambda: pool(cluster, worker) == updating, what="the pool says so")

    cluster.kill()
    job = job_of(cluster, worker)
    assert job is not None
    cluster.api.patch(f"{JOBS}/{name_of(job)}/status", {"status": ENDED})
    boot(cluster, worker, "second")
    cluster.restart()
    wait_until(lambda: pool(cluster, worker)["Updated"] == "True", what="the node is updated")
    wait_until(lambda: not is_cordoned(cluster, worker), what="the node is uncordoned")
    wait_until(lambda: job_of(cluster, worker) is None, what="the Job is gone")
