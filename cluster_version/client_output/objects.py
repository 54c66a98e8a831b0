"""What commands read in a ClusterVersion, in the JSON form of the API."""

from collections.abc import Sequence
from typing import Any

from api.objects import condition
from olm_content.versions import Key, VersionError, parse_version

Json = dict[str, Any]

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
RECOMMENDED = "Recommended"
UNORDERED: Key = (-1, 0, 0, 0, ())
"""Below the keys of all versions."""


def part(object_: Json, *path: str) -> Json:
    """The object at a path; an empty one where there is none."""
    for name in path:
        object_ = object_.get(name) or {}
    return object_


def available_updates(cluster_version: Json) -> Sequence[Json]:
    """The releases that are recommended, the newest first."""
    listed = part(cluster_version, "status").get("availableUpdates") or ()
    return sorted(listed, key=newness, reverse=True)


def not_recommended_updates(cluster_version: Json) -> Sequence[tuple[Json, Json]]:
    """The other releases, the newest first, each with the condition that says why."""
    listed = part(cluster_version, "status").get("conditionalUpdates") or ()
    judged = [(part(each, "release"), condition({"status": each}, RECOMMENDED)) for each in listed]
    found = [(release, why) for release, why in judged if why and why["status"] != TRUE]
    return sorted(found, key=lambda pair: newness(pair[0]), reverse=True)


def newness(release: Json) -> tuple[Key, str]:
    """Orders releases; those without a semantic version are below all, by their text."""
    version = str(release.get("version") or "")
    try:
        return parse_version(version).key, version
    except VersionError:
        return UNORDERED, version


def indented(message: str) -> str:
    """A message of several lines as it stands in a block."""
    return message.replace("\n", "\n  ")


def reason_and_message(found: Json) -> str:
    """Both as two lines, without an end of line."""
    message = indented(found.get("message") or "")
    return f"  Reason: {found.get('reason') or ''}\n  Message: {message}"
