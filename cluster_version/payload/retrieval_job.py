"""The Job that fetches a release image where pods run, and what has become of it.

It runs the image itself, so that the container runtime pulls it, and copies what the release holds
to a volume that the operator reads. Source of the rules: the documents, section 6, step 4, and
upstream's notes, section 5.3. Beyond these, images without a shell are run, too.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from api.objects import GVK, KubeObject
from cluster_version.payload.release_folders import BEING_COPIED, OPERATOR_FOLDER, RELEASE_FOLDER

JOB, POD = GVK("batch", "v1", "Job"), GVK("", "v1", "Pod")
APP_LABEL, APP = "k8s-app", "retrieve-openshift-release"
DEADLINE_SECONDS = 120

_MOUNT = "/etc/cvo/updatepayloads"
_ASIDE = f"{_MOUNT}/{BEING_COPIED}"
_LONGEST_NAME = 63
_HASH_LENGTH = 8
_NOT_STARTED = frozenset(
    {"StartError", "ContainerCannotRun", "RunContainerError", "CreateContainerError"}
)
"""Why a container does not run, in the words of several container runtimes."""
_NO_PROGRAM = re.compile(r"executable file .*not found|no such file or directory", re.IGNORECASE)


class Means(Enum):
    """What copies a release, from its image. In the order in which they are tried."""

    SHELL = auto()
    """`sh`, `cp` and the like, which images of upstream's have."""
    OWN = auto()
    """Our program, which images on top of our own have, and these need no shell."""


@dataclass(frozen=True, slots=True)
class RetrievalPlace:
    """Where Jobs run.

    volume           the source of the volume, as a pod has it
    node             the node that it has to be on; empty for any
    service_account  of the pods, which run privileged where the volume is a folder of the node
    priority_class   of the pods; empty for that of the cluster
    """

    namespace: str
    volume: Mapping[str, Any]
    node: str = ""
    service_account: str = "update-payload"
    priority_class: str = "openshift-user-critical"


def folder_of(image: str) -> str:
    """The name of the folder of an image on the volume."""
    digest = hashlib.md5(image.encode(), usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def job_name(version: str, image: str) -> str:
    """`version-<version>-<hash>`: the same for the same image."""
    digest = hashlib.sha256(image.encode()).hexdigest()[:_HASH_LENGTH]
    said = re.sub(r"[^a-z0-9.]+", "-", version.lower()).strip("-.")
    room = _LONGEST_NAME - len(f"version--{digest}")
    return "-".join(filter(None, ("version", said[:room].strip("-."), digest)))


def retrieval_job(
    version: str, image: str, place: RetrievalPlace, means: Means = Means.SHELL
) -> KubeObject:
    """The Job for an image. What it makes is in its folder whole or not at all."""
    steps = _steps(folder_of(image), means)
    *before, last = (_container(name, image, command) for name, command in steps.items())
    labels = {APP_LABEL: APP}
    metadata = {
        "name": job_name(version, image),
        "namespace": place.namespace,
        "labels": labels,
    }
    pod = {
        "restartPolicy": "OnFailure",
        "serviceAccountName": place.service_account,
        "initContainers": before,
        "containers": [last],
        "volumes": [{"name": "payloads", **place.volume}],
        "tolerations": [
            {"key": f"node-role.kubernetes.io/{role}", "operator": "Exists"}
            for role in ("control-plane", "master")
        ],
        **({"nodeName": place.node} if place.node else {}),
        **({"priorityClassName": place.priority_class} if place.priority_class else {}),
    }
    spec = {
        "activeDeadlineSeconds": DEADLINE_SECONDS,
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}


def _steps(folder: str, means: Means) -> Mapping[str, list[str]]:
    """Commands by name, one after the other."""
    if means is Means.OWN:
        return {"copy-release": ["copy-release", "--", _MOUNT, folder]}  # it may begin with "-"
    return {
        "empty-the-volume": ["sh", "-c", f"rm -fR {_MOUNT}/* {_ASIDE}"],
        "make-a-folder": ["mkdir", _ASIDE],
        "copy-operator-manifests": ["cp", "-r", f"/{OPERATOR_FOLDER}", _ASIDE],
        "copy-release-manifests": ["cp", "-r", f"/{RELEASE_FOLDER}", _ASIDE],
        "rename-the-folder": ["mv", _ASIDE, f"{_MOUNT}/{folder}"],
    }


def _container(name: str, image: str, command: list[str]) -> KubeObject:
    return {
        "name": name,
        "image": image,
        "command": command,
        "securityContext": {
            "privileged": True,
            "readOnlyRootFilesystem": True,
            "runAsUser": 0,  # the folder is root's, and the image may name another user
            "runAsNonRoot": False,
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
        "volumeMounts": [{"name": "payloads", "mountPath": _MOUNT}],
    }


def is_done(job: KubeObject) -> bool:
    """Whether a Job has succeeded."""
    return bool((job.get("status") or {}).get("succeeded")) or "Complete" in _true_conditions(job)


def lacks_programs(pods: Iterable[KubeObject]) -> bool:
    """Whether the image of a Job has no program of a name that the Job runs."""
    states = (state for pod in pods for state in _states(pod))
    details = (each for state in states for each in (state.get("waiting"), state.get("terminated")))
    return any(
        each.get("reason") in _NOT_STARTED and _NO_PROGRAM.search(each.get("message") or "")
        for each in details
        if each
    )


def failure(job: KubeObject, pods: Iterable[KubeObject]) -> str | None:
    """Why a Job has failed, or never will succeed; None if neither."""
    messages = [message for pod in pods for message in _messages(pod)]
    hopeless = next((message for is_hopeless, message in messages if is_hopeless), None)
    if hopeless is not None:
        return hopeless
    failed = _true_conditions(job).get("Failed")
    if failed is None:
        return None
    reasons = [message for _, message in messages if message]
    return ": ".join(filter(None, (failed.get("message") or "it has failed", *reasons[-1:])))


def _true_conditions(job: KubeObject) -> dict[str, Mapping[str, Any]]:
    conditions = (job.get("status") or {}).get("conditions") or ()
    return {each["type"]: each for each in conditions if each["status"] == "True"}


def _messages(pod: KubeObject) -> list[tuple[bool, str]]:
    """What the containers of a pod say, and whether it means that they never will run."""
    return [each for each in map(_message, _states(pod)) if each[1]]


def _states(pod: KubeObject) -> Iterator[Mapping[str, Any]]:
    """Of the containers of a pod, the last one and the present one of each."""
    status = pod.get("status") or {}
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(key) or ():
            yield from (container.get("lastState") or {}, container.get("state") or {})


def _message(state: Mapping[str, Any]) -> tuple[bool, str]:
    waiting = state.get("waiting") or {}
    message = str(waiting.get("message") or "")
    reason = waiting.get("reason")
    is_unknown = reason == "ErrImagePull" and "manifest unknown" in message
    if reason == "SignatureValidationFailed" or is_unknown:
        return True, message or str(reason)
    ended = state.get("terminated") or {}
    if ended.get("exitCode"):
        message = str(ended.get("message") or ended.get("reason") or "").strip()
    return False, message
