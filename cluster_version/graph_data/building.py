"""The graphs of all channels and architectures, in the Cincinnati protocol.

Source of the rules: upstream's notes, sections 3.1, 3.2 and 4.3.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from cluster_version.graph_data.blocked_edges import BlockedEdge
from cluster_version.graph_data.releases import (
    PREFIX,
    GraphRelease,
    edges_of,
    removed_edges_of,
    removed_origins,
)
from olm_content.versions import parse_version

CHANNELS = f"{PREFIX}release.channels"
SCHEMA = 1

Risks = tuple[int, ...]
Channels = Mapping[str, Collection[str]]


class UpdateGraphs:
    """Made once of all that there is, asked often: an edge is looked at once, not by channel."""

    def __init__(
        self, releases: Iterable[GraphRelease], channels: Channels, blocked: Sequence[BlockedEdge]
    ) -> None:
        """A channel lists versions, with `+<architecture>` where only that one is in it.

        Of two releases of one version and architecture the last counts.
        """
        by_architecture: dict[str, dict[str, GraphRelease]] = {}
        for each in releases:
            by_architecture.setdefault(each.architecture, {})[each.version] = each
        names = _names_by_version(channels)
        self._channels = frozenset(channels)
        self._of = {
            architecture: _Architecture.of(found.values(), names, blocked, architecture)
            for architecture, found in by_architecture.items()
        }

    @property
    def releases(self) -> int:
        """How many there are, whether they are in a channel or not."""
        return sum(len(each.nodes) for each in self._of.values())

    def has(self, channel: str, architecture: str) -> bool:
        """Whether there is such a channel, and a release of the architecture."""
        return channel in self._channels and architecture in self._of

    def body(self, channel: str, architecture: str) -> bytes:
        """The answer for a channel and an architecture; empty where there are none such.

        It is put together of texts: objects would take several times as long.
        """
        found = self._of.get(architecture, _NONE)
        places = [place for place, names in enumerate(found.channels) if channel in names]
        numbers = {place: str(number) for number, place in enumerate(places)}
        nodes = ",".join(found.nodes[place] for place in places)
        edges, conditional = _edges(found, numbers), _conditional_edges(found, numbers)
        text = (
            f'{{"version":{SCHEMA},"nodes":[{nodes}],"edges":[{edges}],'
            f'"conditionalEdges":[{conditional}]}}'
        )
        return text.encode()


@dataclass(frozen=True, slots=True)
class _Architecture:
    """The releases of an architecture in order of version, by their places.

    nodes        as JSON, as are versions and risks
    channels     the names of those that a release is in
    onward       the places that a release leads to, in order
    conditional  the places that lead to a release, by the numbers of their risks
    """

    nodes: Sequence[str] = ()
    versions: Sequence[str] = ()
    channels: Sequence[Collection[str]] = ()
    onward: Sequence[Sequence[int]] = ()
    conditional: Sequence[Mapping[Risks, Sequence[int]]] = ()
    risks: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        releases: Iterable[GraphRelease],
        names: Mapping[str, Collection[str]],
        blocked: Sequence[BlockedEdge],
        architecture: str,
    ) -> "_Architecture":
        ordered = sorted(releases, key=lambda each: parse_version(each.version).key)
        places = {each.version: place for place, each in enumerate(ordered)}
        every = [*blocked, *_blocked_by_metadata(ordered)]
        judge = _Judge(every, architecture)
        onward: list[list[int]] = [[] for _ in ordered]
        conditional: list[dict[Risks, list[int]]] = [{} for _ in ordered]
        for start, end in _pairs(ordered, places):
            risks = judge.risks(ordered[start].version, ordered[end].version)
            if risks:
                conditional[end].setdefault(risks, []).append(start)
            elif risks is not None:
                onward[start].append(end)
        of_release = [_channels_of(each, names) for each in ordered]
        nodes = [_node(each, found) for each, found in zip(ordered, of_release, strict=True)]
        return cls(
            list(map(_json, nodes)),
            [_json(each.version) for each in ordered],
            list(map(frozenset, of_release)),
            onward,
            conditional,
            [_json(each.risk) for each in every],
        )


_NONE = _Architecture()


def _edges(found: _Architecture, numbers: Mapping[int, str]) -> str:
    rows = []
    for start, number in numbers.items():
        ends = [numbers[end] for end in found.onward[start] if end in numbers]
        if ends:
            rows.append(f"[{number},{f'],[{number},'.join(ends)}]")
    return ",".join(rows)


def _conditional_edges(found: _Architecture, numbers: Mapping[int, str]) -> str:
    origins = {place: f'{{"from":{found.versions[place]},"to":' for place in numbers}
    groups = []
    for end in numbers:
        target = f"{found.versions[end]}}}"
        for risks, starts in found.conditional[end].items():
            pairs = ",".join([origins[start] + target for start in starts if start in origins])
            if pairs:
                texts = ",".join(found.risks[each] for each in risks)
                groups.append(f'{{"edges":[{pairs}],"risks":[{texts}]}}')
    return ",".join(groups)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


class _Judge:
    """Says what blocks an edge of an architecture."""

    def __init__(self, blocked: Sequence[BlockedEdge], architecture: str) -> None:
        self._suffix = f"+{architecture}"
        self._of_target: dict[str, list[tuple[int, BlockedEdge]]] = {}
        for number, each in enumerate(blocked):
            if each.architecture in ("", architecture):
                self._of_target.setdefault(each.to, []).append((number, each))

    def risks(self, origin: str, target: str) -> Risks | None:
        """The numbers of its risks; None for an edge that is not to be."""
        found = self._of_target.get(target, ())
        hit = [pair for pair in found if pair[1].origins.search(origin + self._suffix)]
        if any(each.risk is None for _, each in hit):
            return None
        return tuple(number for number, _ in hit)


def _blocked_by_metadata(releases: Iterable[GraphRelease]) -> list[BlockedEdge]:
    return [
        BlockedEdge(each.version, each.architecture, pattern, None)
        for each in releases
        if (pattern := removed_origins(each)) is not None
    ]


def _pairs(
    releases: Iterable[GraphRelease], places: Mapping[str, int]
) -> Sequence[tuple[int, int]]:
    """The edges by places, each once and in order, none from a release to itself."""
    edges, removed = set(), set()
    for each in releases:
        edges |= edges_of(each)
        removed |= removed_edges_of(each)
    known = (pair for pair in edges - removed if pair[0] in places and pair[1] in places)
    return sorted((places[start], places[end]) for start, end in known if start != end)


def _names_by_version(channels: Channels) -> dict[str, list[str]]:
    """The channels that list a version, as it is written there."""
    names: dict[str, list[str]] = {}
    for name, listed in channels.items():
        for version in listed:
            names.setdefault(version, []).append(name)
    return names


def _channels_of(release: GraphRelease, names: Mapping[str, Collection[str]]) -> list[str]:
    suffixed = f"{release.version}+{release.architecture}"
    return sorted({*names.get(release.version, ()), *names.get(suffixed, ())})


def _node(release: GraphRelease, channels: Collection[str]) -> dict[str, Any]:
    metadata = {**release.metadata, CHANNELS: ",".join(channels)}
    return {"version": release.version, "payload": release.payload, "metadata": metadata}
