"""Releases as the update service knows them, from what release images and files say.

Source of the rules: upstream's notes, sections 4.3 and 5.4; for `raw/metadata.json` upstream's
description of its graph data.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cluster_version.graph_data.errors import GraphDataError
from olm_content.versions import VersionError, parse_version

PREFIX = "io.openshift.upgrades.graph."
MANIFEST = f"{PREFIX}release.manifestref"
DEFAULT_ARCHITECTURE = "amd64"
MULTI = "multi"
"""The architecture of a release for several; its metadata says so."""
_ARCHITECTURE = "release.openshift.io/architecture"

Json = Mapping[str, Any]
Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class GraphRelease:
    """A release of one architecture; `previous` and `next` are versions, all without suffix."""

    version: str
    architecture: str
    payload: str
    previous: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def releases_of(
    document: Json, *, payload: str, architectures: Iterable[str]
) -> list[GraphRelease]:
    """The release of a document `release-metadata`, for each architecture. Raises GraphDataError.

    One whose metadata says that it is for several together is of none of them: clusters that ask
    for `multi` get it.
    """
    version = document.get("version")
    if not isinstance(version, str):
        raise GraphDataError("a release needs the text 'version'")
    check_version(version)
    said = document.get("metadata") or {}
    if not isinstance(said, Mapping):
        raise GraphDataError(f"the metadata of release {version} is no object")
    metadata = {str(key): value for key, value in said.items() if isinstance(value, str)}
    _, at, digest = payload.partition("@")
    release = GraphRelease(
        version.partition("+")[0],
        "",
        payload,
        _versions(document, "previous"),
        _versions(document, "next"),
        {**metadata, MANIFEST: digest} if at else metadata,
    )
    removed_origins(release)
    names = [MULTI] if metadata.get(_ARCHITECTURE) == MULTI else architectures
    return [replace(release, architecture=each) for each in names]


def release_of_file(document: Json) -> GraphRelease:
    """A file of `releases`: a `release-metadata` with the payload. Raises GraphDataError."""
    payload = document.get("payload")
    if not (isinstance(payload, str) and payload):
        raise GraphDataError("a release needs the text 'payload', a pull spec by digest")
    architecture = str(document.get("architecture") or DEFAULT_ARCHITECTURE)
    [release] = releases_of(document, payload=payload, architectures=[architecture])
    return release


def check_version(text: str) -> None:
    """Raises GraphDataError for what is no version."""
    try:
        parse_version(text)
    except VersionError as error:
        raise GraphDataError(f"{text!r} is no version: {error.message}") from error


def _versions(document: Json, key: str) -> tuple[str, ...]:
    found = document.get(key) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise GraphDataError(f"'{key}' is no list of versions")
    return tuple(each.partition("+")[0] for each in found)


def with_more(release: GraphRelease, more: Mapping[str, str]) -> GraphRelease:
    """A release with metadata of `raw/metadata.json`: what it has already is followed by a comma
    and the new value.
    """
    metadata = dict(release.metadata)
    for key, value in more.items():
        metadata[key] = f"{metadata[key]},{value}" if key in metadata else value
    return replace(release, metadata=metadata)


def edges_of(release: GraphRelease) -> set[Edge]:
    """The edges that a release names, as versions from and to."""
    return {
        *_edges(release, "previous", (*release.previous, *_listed(release, "previous.add"))),
        *_edges(release, "next", (*release.next, *_listed(release, "next.add"))),
    }


def removed_edges_of(release: GraphRelease) -> set[Edge]:
    """The edges that there are not, whoever names them."""
    return {
        *_edges(release, "previous", _listed(release, "previous.remove")),
        *_edges(release, "next", _listed(release, "next.remove")),
    }


def removed_origins(release: GraphRelease) -> re.Pattern[str] | None:
    """The pattern of versions from which there is no update to a release. Raises GraphDataError."""
    pattern = release.metadata.get(f"{PREFIX}previous.remove_regex")
    try:
        return re.compile(pattern) if pattern else None
    except re.error as error:
        problem = f"the pattern in the metadata of release {release.version}: {error}"
        raise GraphDataError(problem) from error


def _edges(release: GraphRelease, side: str, others: Iterable[str]) -> Iterator[Edge]:
    own = release.version
    return ((each, own) if side == "previous" else (own, each) for each in others)


def _listed(release: GraphRelease, key: str) -> tuple[str, ...]:
    words = map(str.strip, release.metadata.get(PREFIX + key, "").split(","))
    return tuple(each.partition("+")[0] for each in words if each)
