"""The graph of an update service as a history that can be drawn. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cluster_version.updates.graph import Graph
from olm_content.fbc.graph import Update, UpdateKind
from olm_runtime.errors import TerminalError
from opm.histories import History, Row, listed

LEGEND = MappingProxyType(
    {UpdateKind.REPLACES: "update", UpdateKind.SKIPS: "leap", UpdateKind.RANGE: "with risks"}
)
"""What the lines mean. A leap passes a release over from which there is an update as well."""


@dataclass(frozen=True, slots=True)
class Way:
    """From a release to a newer one or back; `risks` are the names of what may speak against it."""

    older: str
    newer: str
    risks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ways:
    """Releases with their images by version, newest first, and the ways between them."""

    releases: Mapping[str, str]
    ways: Sequence[Way]

    def onwards(self, version: str) -> "Ways":
        """What a release leads to, in any number of steps.

        Raises TerminalError if the graph does not have it.
        """
        if version not in self.releases:
            known = listed(list(self.releases), most=8) or "none"
            raise TerminalError(f"the graph has no release {version}", hint=f"releases: {known}")
        ahead: dict[str, list[str]] = defaultdict(list)
        for way in self.ways:
            ahead[way.older].append(way.newer)
        reached, waiting = {version}, [version]
        while waiting:
            new = set(ahead[waiting.pop()]) - reached
            reached |= new
            waiting += new
        return Ways(
            {each: image for each, image in self.releases.items() if each in reached},
            [way for way in self.ways if reached.issuperset((way.older, way.newer))],
        )


def ways_of(graph: Graph) -> Ways:
    """The ways of a graph; what leads from or to a release that it does not have is left out."""
    nodes = sorted(graph.nodes, key=lambda node: node.version.key, reverse=True)
    releases = {str(node.version): node.image for node in nodes}
    place = {version: number for number, version in enumerate(releases)}
    found = {(way.older, way.newer): way for way in (*_plain(graph), *_risky(graph))}
    known = (way for ends, way in found.items() if place.keys() >= set(ends))
    return Ways(releases, sorted(known, key=lambda way: (place[way.newer], place[way.older])))


def _plain(graph: Graph) -> Iterator[Way]:
    places = range(len(graph.nodes))
    for start, end in graph.edges:
        if start in places and end in places:
            yield Way(str(graph.nodes[start].version), str(graph.nodes[end].version))


def _risky(graph: Graph) -> Iterator[Way]:
    for ends, risks in graph.conditional:
        names = tuple(risk.name for risk in risks)
        yield from (Way(older, newer, names) for older, newer in ends)


def release_history(found: Ways, heading: str, running: str) -> History:
    """What is drawn; `running` is the version of the cluster."""
    leading = {way.older for way in found.ways}
    towards: dict[str, list[Way]] = defaultdict(list)
    for way in found.ways:
        towards[way.newer].append(way)
    rows = []
    for version in found.releases:
        marks = {"head": version not in leading, "running": version == running}
        shown = tuple(mark for mark, holds in marks.items() if holds)
        rows.append(Row(version, marks=shown, note=_note(towards[version])))
    return History(heading, rows, [*_drawn(towards.values())])


def _drawn(towards: Iterable[Sequence[Way]]) -> Iterator[Update]:
    """The shortest way without risks to each release is its update, the others are leaps."""
    for ways in towards:
        kind = UpdateKind.REPLACES
        for way in ways:
            if way.risks:
                yield Update(way.older, way.newer, UpdateKind.RANGE)
            else:
                yield Update(way.older, way.newer, kind)
                kind = UpdateKind.SKIPS


def _note(ways: Sequence[Way]) -> str:
    by_risks: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for way in sorted(ways, key=lambda way: bool(way.risks)):
        by_risks[way.risks].append(way.older)
    return "; ".join(
        f"from {listed(older)}" + (f" with {listed(risks)}" if risks else "")
        for risks, older in by_risks.items()
    )


def facts(found: Ways, running: str) -> dict[str, Any]:
    """As data."""
    return {
        "releases": [
            {"version": version, "image": image, "running": version == running}
            for version, image in found.releases.items()
        ],
        "updates": [
            {"from": way.older, "to": way.newer, "risks": list(way.risks)} for way in found.ways
        ],
    }
