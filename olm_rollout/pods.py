"""Why the pods of a workload do not run, in words that stay the same while the reason does.

A kubelet that tries again and again changes between states every few seconds (`ErrImagePull`,
`ImagePullBackOff`; waiting, running, terminated), and counts. A condition must not.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from api.objects import KubeObject, condition, metadata

MAX_MESSAGE = 200
PULL_REASONS = frozenset({"ErrImagePull", "ImagePullBackOff"})
NORMAL_WAITING = frozenset({"", "ContainerCreating", "PodInitializing"})


def selector_of(workload: KubeObject) -> str:
    """The label selector of a workload's pods as a query; empty where it cannot be written so."""
    selector = (workload.get("spec") or {}).get("selector") or {}
    if selector.get("matchExpressions"):
        return ""
    return ",".join(f"{k}={v}" for k, v in sorted((selector.get("matchLabels") or {}).items()))


def reason_of(pods: Iterable[KubeObject]) -> str:
    """The first reason by name of pods that are not ready, or an empty text.

    `ImagePullBackOff (image registry/x)`, `CrashLoopBackOff (container manager, last exit code 1:
    Error)`, `CreateContainerConfigError (secret "x" not found)`, `Unschedulable (...)`.
    """
    found = {reason for pod in pods for reason in _reasons(pod)}
    return min(found, default="")


def _reasons(pod: KubeObject) -> Sequence[str]:
    if metadata(pod).get("deletionTimestamp"):
        return ()
    scheduled = condition(pod, "PodScheduled") or {}
    if scheduled.get("status") == "False":
        return [_text(scheduled.get("reason") or "Unschedulable", scheduled.get("message"))]
    status = pod.get("status") or {}
    containers = (status.get("initContainerStatuses") or []) + (
        status.get("containerStatuses") or []
    )
    return [reason for container in containers if (reason := _of_container(container))]


def _of_container(container: dict[str, Any]) -> str:
    state = container.get("state") or {}
    waiting = state.get("waiting") or {}
    reason = waiting.get("reason") or ""
    if reason in PULL_REASONS:
        return _text("ImagePullBackOff", f"image {container.get('image')}")
    last = state.get("terminated") or (container.get("lastState") or {}).get("terminated") or {}
    if last.get("exitCode") and not container.get("ready"):
        end = f"last exit code {last['exitCode']}: {last.get('reason') or 'Error'}"
        return _text("CrashLoopBackOff", f"container {container.get('name')}, {end}")
    return "" if reason in NORMAL_WAITING else _text(reason, waiting.get("message"))


def _text(reason: str, detail: str | None) -> str:
    return f"{reason} ({detail[:MAX_MESSAGE]})" if detail else reason
