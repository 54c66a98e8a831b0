"""Which pods leave a node before it is updated."""

from collections.abc import Iterable
from dataclasses import dataclass

from api.objects import KubeObject, annotations_of, is_deleting, labels_of, metadata, namespace_of
from cluster_version.nodes.names import NODE_JOB

MIRROR = "kubernetes.io/config.mirror"
"""Annotation of a pod that shows a static one."""
_FINISHED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Drain:
    """Pods that are to be evicted, and those that are about to end."""

    to_evict: tuple[KubeObject, ...]
    ending: tuple[KubeObject, ...]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left that has to leave."""
        return not self.to_evict and not self.ending


def drain(pods: Iterable[KubeObject], own_namespace: str) -> Drain:
    """What is left to do about the pods of a node.

    Static pods, those of DaemonSets and those that have ended stay. So do those of the namespace
    that this program runs in: with one node alone, nobody would be left to take it into use again.
    """
    leaving = [pod for pod in pods if _leaves(pod, own_namespace)]
    return Drain(
        to_evict=tuple(pod for pod in leaving if not is_deleting(pod)),
        ending=tuple(pod for pod in leaving if is_deleting(pod)),
    )


def _leaves(pod: KubeObject, own_namespace: str) -> bool:
    owners = metadata(pod).get("ownerReferences") or ()
    return not (
        namespace_of(pod) == own_namespace
        or MIRROR in annotations_of(pod)
        or NODE_JOB in labels_of(pod)
        or any(owner.get("controller") and owner["kind"] == "DaemonSet" for owner in owners)
        or (pod.get("status") or {}).get("phase") in _FINISHED
    )
