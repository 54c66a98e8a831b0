"""What of a release is for a cluster: family d."""

from collections.abc import Callable, Mapping
from typing import Any

from cluster_version.payload.capabilities import (
    ClusterCapabilities,
    cluster_capabilities,
    implicit_after,
)
from cluster_version.payload.contents import load
from cluster_version.payload.inclusion import Capabilities, Filters, left_out
from cluster_version.payload.manifests import Manifest, ManifestError, parse_manifests
from cluster_version.payload.release import Release, ReleaseError, described

Json = dict[str, Any]


def _include(given: Json) -> Json:
    status = given["capabilities"]
    known = Capabilities(
        (status or {}).get("knownCapabilities") or (),
        (status or {}).get("enabledCapabilities") or (),
    )
    filters = Filters(
        exclude=given["exclude"],
        feature_set=given["featureSet"],
        profile=given["profile"],
        feature_gates=given["enabledFeatureGates"] or () if given["featureGatesKnown"] else None,
        major_version=given["majorVersion"],
        capabilities=None if status is None else known,
        overrides=given["overrides"] or (),
        any_capability=given["allowUnknownCapabilities"],
    )
    reason = left_out(given["manifest"], filters)
    return {"included": False, "why": reason} if reason else {"included": True}


def _parse(given: Json) -> Json:
    try:
        found = list(parse_manifests("", given["text"].encode()))
    except ManifestError as error:
        return {"error": error.message, "manifests": None}
    return {"error": None, "manifests": _named(found)}


def _named(manifests: list[Manifest] | tuple[Manifest, ...]) -> list[Json] | None:
    named = []
    for manifest in manifests:
        identity = manifest.identity
        place = {"namespace": identity.namespace} if identity.namespace else {}
        version = {"apiVersion": manifest.object["apiVersion"], "kind": identity.kind}
        named.append({**version, "name": identity.name, **place})
    return named or None


def _capabilities(given: Json) -> Json:
    before = (*(given["priorEnabled"] or ()), *(given["alwaysEnable"] or ()))
    found = cluster_capabilities(given["spec"], before, given["enabledFeatureGates"] or ())
    return {
        "known": sorted(found.known),
        "enabled": sorted(found.enabled),
        "implicitlyEnabled": sorted(found.implicit) or None,
    }


def _implicit(given: Json) -> Json:
    sets = (frozenset(given[key] or ()) for key in ("known", "enabled", "implicit"))
    found = implicit_after(
        ClusterCapabilities(*sets),
        [Manifest("", each) for each in given["currentManifests"] or ()],
        [Manifest("", each) for each in given["updateManifests"] or ()],
    )
    return {"implicitlyEnabled": sorted(found) or None}


def _load(given: Json) -> Json:
    files = {path: text.encode() for path, text in given["files"].items()}
    filters = Filters(
        exclude=given["exclude"],
        feature_set=given["featureSet"],
        profile=given["profile"],
        feature_gates=given["enabledFeatureGates"] or (),
    )
    image = given["releaseImage"]
    try:
        payload = load(files, image, filters, machine="amd64", folder="<dir>")
    except ReleaseError as error:
        found = {"error": error.message}
        return found | ({"reason": error.reason} if error.reason else {})
    return {
        "release": release_of(payload.release),
        "architecture": payload.architecture,
        "manifests": _named(payload.manifests),
        "versionHash": payload.hash,
    }


def release_of(release: Release) -> Json:
    more = {
        "url": release.url,
        "channels": list(release.channels),
        "architecture": release.architecture,
    }
    named = {"version": release.version, "image": release.image}
    return named | {key: value for key, value in more.items() if value}


def _metadata(given: Json) -> Json:
    release, problems = described("", "", given["metadata"] or {})
    return {"error": "\n".join(problems) or None, "release": release_of(release)}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "include": _include,
    "parse": _parse,
    "capabilities": _capabilities,
    "implicit": _implicit,
    "load": _load,
    "metadata": _metadata,
}
