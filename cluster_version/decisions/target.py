"""The release that a cluster shall have, and how far it is.

Source of the rules: upstream's notes, section 5.1.
"""

from dataclasses import dataclass

from api.objects import KubeObject
from cluster_version.decisions.objects import (
    COMPLETED,
    current_version,
    history_of,
    spec_of,
    status_of,
)
from cluster_version.payload.release import MULTI
from cluster_version.payload.task_graph import State


@dataclass(frozen=True, slots=True)
class Target:
    """A release; `force` lets it be applied although it could not be verified or was refused."""

    version: str = ""
    image: str = ""
    force: bool = False
    architecture: str = ""


def requested(cluster_version: KubeObject, architecture: str = "") -> Target | None:
    """What `spec.desiredUpdate` asks for; None if nothing, or no release with an image is found.

    architecture  that of the running release; from a single one the way to several leads to the
                  release of the current version for all of them
    """
    desired = spec_of(cluster_version).get("desiredUpdate")
    if not desired:
        return None
    version, force = desired.get("version") or "", bool(desired.get("force"))
    wanted = desired.get("architecture") or ""
    if desired.get("image"):
        return Target(version, desired["image"], force, wanted)
    if wanted == MULTI != architecture:
        version = current_version(cluster_version)
    available = status_of(cluster_version).get("availableUpdates") or ()
    found = (each.get("image") for each in available if each.get("version") == version)
    image = next(filter(None, found), None)
    return Target(version, image, force) if image else None


def state_for(cluster_version: KubeObject, target: Target) -> State:
    """In which state a worker begins with a target."""
    if never_reached_level(cluster_version):
        return State.INITIALIZING
    return State.RECONCILING if reached_level(cluster_version, target) else State.UPDATING


def never_reached_level(cluster_version: KubeObject) -> bool:
    """Whether no release was ever applied completely."""
    return all(entry.get("state") != COMPLETED for entry in history_of(cluster_version))


def reached_level(cluster_version: KubeObject, target: Target) -> bool:
    """Whether the release that was applied last is the target, and is complete."""
    newest = next(iter(history_of(cluster_version)), {})
    return newest.get("state") == COMPLETED and (newest.get("image") or "") == target.image
