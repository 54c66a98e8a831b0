"""What a node's annotations and conditions say of its update and of its availability."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cluster_version.client_output.durations import moment
from cluster_version.client_output.objects import FALSE, TRUE, Json, part

PREFIX = "machineconfiguration.openshift.io/"
CURRENT, DESIRED = f"{PREFIX}currentConfig", f"{PREFIX}desiredConfig"
STATE, REASON = f"{PREFIX}state", f"{PREFIX}reason"
_CURRENT_IMAGE, _DESIRED_IMAGE = f"{PREFIX}currentImage", f"{PREFIX}desiredImage"
_DESIRED_DRAIN, _APPLIED_DRAIN = f"{PREFIX}desiredDrain", f"{PREFIX}lastAppliedDrain"
DONE = "Done"
_FAILED = ("Degraded", "Unreconcilable")
_AT_WORK = "Machine Config Daemon is processing the node"
_CORDONED = "Node is marked unschedulable"


@dataclass(frozen=True)
class Trouble:
    """Why a node is unavailable; a harmless reason goes away by itself."""

    reason: str
    message: str
    description: str
    since: datetime | None = None
    harmless: bool = False


_CONDITIONS = {
    "Ready": (TRUE, "Not ready", "is not ready", timedelta(minutes=5)),
    "DiskPressure": (FALSE, "Disk pressure", "has disk pressure", timedelta(minutes=1)),
    "NetworkUnavailable": (
        FALSE,
        "Network unavailable",
        "has unavailable network",
        timedelta(minutes=1),
    ),
}
"""For each type the good status, what a bad one is called, and how long it is harmless."""


def annotations(node: Json) -> Json:
    """The annotations of an object."""
    return part(node, "metadata", "annotations")


def troubles(node: Json, now: datetime) -> Sequence[Trouble]:
    """Why the node is unavailable; nothing if it is available."""
    found = [*_bad_conditions(node, now)]
    if part(node, "spec").get("unschedulable"):
        found.append(Trouble(_CORDONED, _CORDONED, _CORDONED, harmless=True))
    if not found and not _done(node) and annotations(node).get(STATE) not in _FAILED:
        found.append(Trouble(_AT_WORK, _AT_WORK, _AT_WORK, harmless=True))
    return () if annotations(node).get(_DESIRED_IMAGE) else found


def _bad_conditions(node: Json, now: datetime) -> Iterator[Trouble]:
    name = node["metadata"]["name"]
    for each in part(node, "status").get("conditions") or ():
        good, reason, words, patience = _CONDITIONS.get(
            each["type"], (each["status"], "", "", timedelta())
        )
        if each["status"] == good:
            continue
        since = moment(each.get("lastTransitionTime"))
        yield Trouble(
            reason=reason,
            message=f"Node {name} {words}",
            description=f"Node has a {each['type']}!={good} condition with Reason "
            f"{_quoted(reason)} and message {_quoted(each.get('message') or '')}",
            since=since,
            harmless=bool(since and now - since < patience),
        )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _done(node: Json) -> bool:
    """Whether the node has what it is to have."""
    noted = annotations(node)
    images = noted.get(_CURRENT_IMAGE), noted.get(_DESIRED_IMAGE)
    return (
        bool(noted.get(CURRENT))
        and noted.get(CURRENT) == noted.get(DESIRED)
        and (images == (None, None) or (bool(images[0]) and images[0] == images[1]))
        and noted.get(STATE) == DONE
    )


def degraded(node: Json) -> bool:
    """Whether the update of the node failed."""
    noted = annotations(node)
    return bool(noted.get(DESIRED)) and noted.get(STATE) in _FAILED


def draining(node: Json) -> bool:
    """Whether a node that is updated is drained, or is about to be."""
    noted = annotations(node)
    desired, applied = noted.get(_DESIRED_DRAIN), noted.get(_APPLIED_DRAIN)
    if not desired or not applied:
        return False
    asked = desired != applied and desired.split("-")[0] == "drain"
    return bool(asked or noted.get(STATE) == DONE)
