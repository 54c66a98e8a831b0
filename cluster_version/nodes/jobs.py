"""The Job that brings a node to a configuration: its form, and what has become of it."""

import hashlib

from api.objects import KubeObject, annotations_of, condition, is_deleting, metadata
from cluster_version.nodes.names import JOB_CONFIGURATION, JOB_NODE, NODE_JOB
from cluster_version.nodes.pools import Target
from cluster_version.nodes.states import JobState

TRIES = 4
DEADLINE_SECONDS = 3600
"""For all tries: an image that cannot be had is an update that failed."""
_HASH_LENGTH = 16
_ENDED = {"Complete": JobState.SUCCEEDED, "Failed": JobState.FAILED}


def job_state(job: KubeObject | None) -> JobState:
    """What has become of a Job. One that is being deleted is waited for, as if it ran."""
    if job is None:
        return JobState.ABSENT
    if is_deleting(job):
        return JobState.RUNNING
    for kind, state in _ENDED.items():
        if (condition(job, kind) or {}).get("status") == "True":
            return state
    return JobState.RUNNING


def job_failure(job: KubeObject) -> str:
    """Why a Job failed, for people."""
    said = (condition(job, "Failed") or {}).get("message") or "failed"
    meta = metadata(job)
    return f"Job {meta['namespace']}/{meta['name']}: {said}"


def node_of(job: KubeObject) -> str:
    """The name of the node that a Job updates; empty for one that updates none."""
    return annotations_of(job).get(JOB_NODE, "")


def configuration_of(job: KubeObject) -> str:
    """The configuration that a Job brings its node to."""
    return annotations_of(job).get(JOB_CONFIGURATION, "")


def job_of(node: KubeObject, target: Target, namespace: str) -> KubeObject:
    """The Job of a node. It goes with the node, and its name is always the same."""
    meta = metadata(node)
    name = str(meta["name"])
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": meta["uid"]}
    label = {NODE_JOB: _sum(name)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"node-update-{_sum(name, target.name)}",
            "namespace": namespace,
            "labels": label,
            "annotations": {JOB_NODE: name, JOB_CONFIGURATION: target.name},
            "ownerReferences": [owner],
        },
        "spec": {
            "backoffLimit": TRIES - 1,
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            "podFailurePolicy": {"rules": [_RESTARTS_DO_NOT_COUNT]},
            "template": {"metadata": {"labels": label}, "spec": _pod(name, target)},
        },
    }


_RESTARTS_DO_NOT_COUNT = {
    "action": "Ignore",
    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
}


def _pod(node: str, target: Target) -> KubeObject:
    """All rights over the node; it is not scheduled, for the node takes no workloads."""
    command = {"command": list(target.command)} if target.command else {}
    environment = {"NODE_NAME": node, "MACHINE_CONFIG": target.name}
    return {
        "nodeName": node,
        "restartPolicy": "Never",
        "hostPID": True,
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "tolerations": [{"operator": "Exists"}],
        "containers": [
            {
                "name": "update",
                "image": target.image,
                **command,
                "env": [{"name": key, "value": value} for key, value in environment.items()],
                "securityContext": {"privileged": True, "runAsUser": 0},
                "volumeMounts": [{"name": "host", "mountPath": "/host"}],
            }
        ],
        "volumes": [{"name": "host", "hostPath": {"path": "/"}}],
    }


def _sum(*texts: str) -> str:
    """For names and labels, which are shorter than names of nodes may be."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:_HASH_LENGTH]
