"""The graph of one channel and architecture, in the Cincinnati protocol.

Source of the rules: upstream's notes, sections 3.1, 3.2 and 4.3.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from olm_content.versions import VersionError, parse_version
from olm_runtime.errors import TerminalError

CHANNELS = "io.openshift.upgrades.graph.release.channels"
SCHEMA = 1

Json = Mapping[str, Any]
Risks = tuple[int, ...]


class GraphDataError(TerminalError):
    """Graph data that cannot be understood."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="GraphDataInvalid")


@dataclass(frozen=True, slots=True)
class GraphRelease:
    """A release of one architecture; `previous` and `next` are versions, all without suffix."""

    version: str
    architecture: str
    payload: str
    previous: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BlockedEdge:
    """Edges to a version that are blocked; with a risk they become conditional.

    architecture  the only one it is about, or "" for every one
    origins       what versions with `+<architecture>` are searched for
    """

    to: str
    architecture: str
    origins: re.Pattern[str]
    risk: Json | None


def blocked_edge(document: Json) -> BlockedEdge:
    """A file of `blocked-edges`. Raises GraphDataError."""
    target, origins = document.get("to"), document.get("from")
    if not (isinstance(target, str) and isinstance(origins, str)):
        raise GraphDataError("a blocked edge needs the texts 'to' and 'from'")
    version, _, architecture = target.partition("+")
    try:
        pattern = re.compile(origins)
        parse_version(version)
    except (re.error, VersionError) as error:
        raise GraphDataError(f"the blocked edge to {target}: {error}") from error
    rules = document.get("matchingRules")
    if not document.get("name") and not rules:
        return BlockedEdge(version, architecture, pattern, None)
    if not (document.get("name") and rules):
        raise GraphDataError(f"the blocked edge to {target} needs both name and matchingRules")
    texts = {key: str(document.get(key) or "") for key in ("url", "name", "message")}
    return BlockedEdge(version, architecture, pattern, {**texts, "matchingRules": rules})


def graph_of(
    releases: Iterable[GraphRelease],
    channels: Mapping[str, Collection[str]],
    blocked: Sequence[BlockedEdge],
    channel: str,
    architecture: str,
) -> dict[str, Any]:
    """The answer for a channel and an architecture.

    A channel lists versions, with `+<architecture>` where only that one is in it. One that there
    is not has an empty graph.
    """
    listed = channels.get(channel, ())
    chosen = {
        each.version: each
        for each in releases
        if each.architecture == architecture and _is_in(each, listed)
    }
    ordered = sorted(chosen.values(), key=lambda each: parse_version(each.version).key)
    places = {each.version: place for place, each in enumerate(ordered)}
    of_target: dict[str, list[int]] = {}
    for number, each in enumerate(blocked):
        if each.architecture in ("", architecture):
            of_target.setdefault(each.to, []).append(number)

    edges: list[list[int]] = []
    groups: dict[Risks, list[dict[str, str]]] = {}
    for start, end in sorted(_pairs(ordered, places)):
        origin, target = ordered[start].version, ordered[end].version
        suffixed = f"{origin}+{architecture}"
        hit = tuple(
            number
            for number in of_target.get(target, ())
            if blocked[number].origins.search(suffixed)
        )
        if not hit:
            edges.append([start, end])
        elif all(blocked[number].risk is not None for number in hit):
            groups.setdefault(hit, []).append({"from": origin, "to": target})
    return {
        "version": SCHEMA,
        "nodes": [_node(each, channels) for each in ordered],
        "edges": edges,
        "conditionalEdges": [
            {"edges": pairs, "risks": [blocked[number].risk for number in hit]}
            for hit, pairs in groups.items()
        ],
    }


def _is_in(release: GraphRelease, listed: Collection[str]) -> bool:
    return release.version in listed or f"{release.version}+{release.architecture}" in listed


def _pairs(releases: Iterable[GraphRelease], places: Mapping[str, int]) -> set[tuple[int, int]]:
    """The edges between releases by their places, each once, none from a release to itself."""
    pairs: set[tuple[int, int]] = set()
    for each in releases:
        own = places[each.version]
        pairs.update((places[before], own) for before in each.previous if before in places)
        pairs.update((own, places[after]) for after in each.next if after in places)
    return {(start, end) for start, end in pairs if start != end}


def _node(release: GraphRelease, channels: Mapping[str, Collection[str]]) -> dict[str, Any]:
    names = sorted(name for name, listed in channels.items() if _is_in(release, listed))
    metadata = {**release.metadata, CHANNELS: ",".join(names)}
    return {"version": release.version, "payload": release.payload, "metadata": metadata}
