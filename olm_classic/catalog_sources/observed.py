"""What is seen of the pods of a catalog. Pure."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from api.objects import KubeObject, is_true, labels_of, metadata, name_of
from olm_classic.catalog_sources.labels import LABEL_CONFIG_MAP_VERSION, LABEL_POD_HASH, PORT
from olm_rollout.pods import reason_of

_HOPELESS = ("ImagePullBackOff", "CrashLoopBackOff", "InvalidImageName", "CreateContainerError")


def created_at(pod: KubeObject) -> datetime:
    """When a pod was made."""
    return datetime.fromisoformat(metadata(pod)["creationTimestamp"])


def is_going(pod: KubeObject) -> bool:
    """Whether a pod is being deleted."""
    return bool(metadata(pod).get("deletionTimestamp"))


def is_condemned(pod: KubeObject) -> bool:
    """Whether a pod will not serve any more: it goes, is evicted, or has ended."""
    return is_going(pod) or has_ended(pod) or is_true(pod, "DisruptionTarget")


def has_ended(pod: KubeObject) -> bool:
    """Whether a pod ran, or could not, and will not again."""
    return (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")


def is_ready(pod: KubeObject) -> bool:
    """Whether a pod gets requests."""
    return not is_condemned(pod) and is_true(pod, "Ready")


def failure_of(pod: KubeObject) -> str:
    """Why an update pod will not become ready; empty while it may."""
    status = pod.get("status") or {}
    if status.get("phase") == "Failed":
        return str(status.get("message") or status.get("reason") or "the pod failed")
    reason = reason_of([pod])
    return reason if reason.startswith(_HOPELESS) else ""


def image_id(pod: KubeObject, container: str) -> str:
    """The image that a container runs, by digest; empty while it does not run."""
    status = pod.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for each in status.get(field) or ():
            if each.get("name") == container:
                return str(each.get("imageID") or "")
    return ""


def address_of(pod: KubeObject) -> str:
    """host:port of the server in a ready pod; empty for any other."""
    host = (pod.get("status") or {}).get("podIP") if is_ready(pod) else ""
    return "" if not host else f"[{host}]:{PORT}" if ":" in host else f"{host}:{PORT}"


def is_as_wanted(pod: KubeObject, wanted: KubeObject) -> bool:
    """Whether a pod is what would be made now.

    The label shows a change of ours, the images of somebody else's: little else of a pod can be
    edited.
    """
    labels = (LABEL_POD_HASH, LABEL_CONFIG_MAP_VERSION)
    same = all(labels_of(pod).get(label) == labels_of(wanted).get(label) for label in labels)
    return same and _images(pod["spec"]) == _images(wanted["spec"])


def serving_pod(pods: Iterable[KubeObject], wanted: KubeObject) -> KubeObject | None:
    """The pod that serves, of those that are as wanted: a ready one, and of several the newest."""
    live = [pod for pod in pods if not is_condemned(pod) and is_as_wanted(pod, wanted)]
    return max(live, key=lambda pod: (is_ready(pod), created_at(pod), name_of(pod)), default=None)


def _images(spec: dict[str, Any]) -> dict[str, str]:
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    return {each["name"]: each["image"] for each in containers}
