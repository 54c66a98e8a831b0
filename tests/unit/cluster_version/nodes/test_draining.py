"""Which pods leave a node."""

from typing import Any

import pytest

from api.objects import KubeObject, name_of
from cluster_version.nodes.draining import drain

OWN = "openshift-cluster-version"


def pod(name: str, namespace: str = "default", phase: str = "Running", **meta: Any) -> KubeObject:
    return {
        "metadata": {"name": name, "namespace": namespace, **meta},
        "status": {"phase": phase},
    }


def owned_by(kind: str, *, controller: bool = True) -> dict[str, Any]:
    return {"ownerReferences": [{"kind": kind, "name": "a", "controller": controller}]}


STAYING = [
    pod("static", annotations={"kubernetes.io/config.mirror": "a"}),
    pod("of-a-daemon-set", **owned_by("DaemonSet")),
    pod("succeeded", phase="Succeeded"),
    pod("failed", phase="Failed"),
    pod("the-operator", OWN),
    pod("the-update", labels={"machineconfiguration.openshift.io/node": "1"}),
]


@pytest.mark.parametrize("stays", STAYING, ids=name_of)
def test_pods_that_stay(stays: KubeObject) -> None:
    assert drain([stays], OWN).is_done


def test_pods_that_leave() -> None:
    leaving = [
        pod("of-a-replica-set", **owned_by("ReplicaSet")),
        pod("by-itself"),
        pod("pending", phase="Pending"),
        pod("seen-by-a-daemon-set", **owned_by("DaemonSet", controller=False)),
    ]
    ending = pod("ending", deletionTimestamp="2025-01-01T00:00:00Z")
    found = drain([*STAYING, *leaving, ending], OWN)
    assert found.to_evict == tuple(leaving)
    assert found.ending == (ending,)
    assert not found.is_done
    assert not drain([ending], OWN).is_done
