"""What decisions read in a ClusterVersion, in the JSON form of the API."""

from collections.abc import Sequence
from typing import Any

from api.objects import KubeObject

Json = dict[str, Any]
COMPLETED = "Completed"


def spec_of(cluster_version: KubeObject) -> Json:
    """The spec, empty if there is none."""
    return cluster_version.get("spec") or {}


def status_of(cluster_version: KubeObject) -> Json:
    """The status, empty if there is none."""
    return cluster_version.get("status") or {}


def desired_of(cluster_version: KubeObject) -> Json:
    """The release that the operator works towards, empty before it is known."""
    return status_of(cluster_version).get("desired") or {}


def current_version(cluster_version: KubeObject) -> str:
    """The version that the operator works towards, or the empty string."""
    return str(desired_of(cluster_version).get("version") or "")


def history_of(cluster_version: KubeObject) -> Sequence[Json]:
    """The releases that a cluster has had, the newest first."""
    return status_of(cluster_version).get("history") or ()


def completed_version(cluster_version: KubeObject) -> str:
    """The version that was reached last, else the one that is being installed; else empty."""
    history = history_of(cluster_version)
    completed = (entry for entry in history if entry.get("state") == COMPLETED)
    return str(next(completed, history[-1] if history else {}).get("version") or "")


def has_overrides(cluster_version: KubeObject) -> bool:
    """Whether somebody else manages objects of the release."""
    return any(each.get("unmanaged") for each in spec_of(cluster_version).get("overrides") or ())
