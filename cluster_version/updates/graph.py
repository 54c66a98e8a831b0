"""The answer of an update service: releases, and how clusters get from one to another.

Source of the rules: upstream's notes, sections 3.2 and 3.3.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from cluster_version.payload.release import MULTI, Release, described
from cluster_version.updates.errors import RetrievalError
from olm_content.formats.go_text import quote
from olm_content.versions import Version, VersionError, parse_version

INVALID = "ResponseInvalid"
ALWAYS, PROMQL = "Always", "PromQL"

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """How to find out whether a risk applies; `query` is empty for one that always does."""

    query: str = ""


@dataclass(frozen=True, slots=True)
class Risk:
    """Why an update may not be recommended; the first rule that can be evaluated decides."""

    name: str
    message: str
    url: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class ConditionalUpdate:
    """An update that is recommended where none of its risks applies."""

    release: Release
    risks: tuple[Risk, ...]


@dataclass(frozen=True, slots=True)
class Updates:
    """What leads on from the release of a cluster.

    current  that release, with what the graph knows of it
    """

    current: Release
    available: tuple[Release, ...] = ()
    conditional: tuple[ConditionalUpdate, ...] = ()


@dataclass(frozen=True, slots=True)
class _Node:
    version: Version
    image: str
    metadata: Json

    def release(self, what: str) -> Release:
        """Raises RetrievalError; `what` says which node it is."""
        found, problems = described(str(self.version), self.image, self.metadata)
        if problems:
            problem = "\n".join(problems)
            raise RetrievalError(INVALID, f"invalid {what} node: {problem}")
        return found


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes, edges between their places, and conditional edges between versions."""

    nodes: Sequence[_Node]
    edges: Sequence[tuple[int, int]] = ()
    conditional: Sequence[tuple[Sequence[tuple[str, str]], tuple[Risk, ...]]] = field(default=())


def read_graph(body: bytes) -> Graph:
    """The graph in the body of an answer. Raises RetrievalError."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise RetrievalError(INVALID, str(error)) from error
    try:
        return Graph(
            [_node(each) for each in document.get("nodes") or ()],
            [_edge(each) for each in document.get("edges") or ()],
            [_conditional(each) for each in document.get("conditionalEdges") or ()],
        )
    except VersionError as error:
        raise RetrievalError(INVALID, error.message) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"it is no update graph: {error}"
        raise RetrievalError(INVALID, problem) from error


def _node(raw: Json) -> _Node:
    metadata = raw.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise TypeError("metadata of a node is no object")
    return _Node(parse_version(raw.get("version") or ""), str(raw.get("payload") or ""), metadata)


def _edge(raw: Sequence[Any]) -> tuple[int, int]:
    if len(raw) != 2:
        raise RetrievalError(INVALID, f"expected 2 fields, found {len(raw)}")
    start, end = raw
    if not (type(start) is int and type(end) is int):
        raise TypeError("the ends of an edge are numbers of nodes")
    return start, end


def _conditional(raw: Json) -> tuple[list[tuple[str, str]], tuple[Risk, ...]]:
    edges = [(str(each["from"]), str(each["to"])) for each in raw.get("edges") or ()]
    return edges, tuple(read_risk(each) for each in raw.get("risks") or ())


def read_risk(raw: Json) -> Risk:
    """A risk with those of its rules that can be understood. Raises AttributeError, KeyError."""
    name, message, url = (str(raw.get(key) or "") for key in ("name", "message", "url"))
    return Risk(name, message, url, tuple(_rules(raw.get("matchingRules") or ())))


def _rules(raw: Sequence[Json]) -> Iterator[Rule]:
    for rule in raw:
        query = (rule.get("promql") or {}).get("promql") or ""
        if rule.get("type") == ALWAYS and rule.get("promql") is None:
            yield Rule()
        elif rule.get("type") == PROMQL and query:
            yield Rule(query)


def updates_of(
    graph: Graph, version: Version, channel: str, *, desired: str, current: str
) -> Updates:
    """What a graph offers to a cluster of a version; `desired` and `current` are architectures.

    Raises RetrievalError.
    """
    places = (place for place, node in enumerate(graph.nodes) if node.version.key == version.key)
    own = next(places, None)
    if own is None:
        problem = f"currently reconciling cluster version {version} not found in the"
        raise RetrievalError("VersionNotFound", f"{problem} {quote(channel)} channel")
    running = graph.nodes[own].release("current")
    if desired == MULTI != current:
        return Updates(running, (running,))
    available = [
        _target(graph, end).release("recommended update")
        for start, end in graph.edges
        if start == own
    ]
    conditional = list(_conditional_updates(graph, str(version)))
    images = Counter(each.release.image for each in conditional)
    return Updates(
        running,
        tuple(each for each in available if each.image not in images),
        tuple(_usable(conditional)),
    )


def _target(graph: Graph, place: int) -> _Node:
    if not 0 <= place < len(graph.nodes):
        raise RetrievalError(INVALID, f"an edge leads to node {place}, which there is not")
    return graph.nodes[place]


def _conditional_updates(graph: Graph, version: str) -> Iterator[ConditionalUpdate]:
    by_version: dict[str, _Node] = {}
    for node in graph.nodes:
        by_version.setdefault(str(node.version), node)
    for edges, risks in graph.conditional:
        for start, end in edges:
            if start != version:
                continue
            if end not in by_version:
                raise RetrievalError(INVALID, f"no node for conditional update {end}")
            yield ConditionalUpdate(by_version[end].release("conditional update"), risks)


def _usable(updates: Sequence[ConditionalUpdate]) -> Iterator[ConditionalUpdate]:
    """Those whose risks can all be evaluated, unless there are several ways to one target."""
    understood = [each for each in updates if all(risk.rules for risk in each.risks)]
    images = Counter(each.release.image for each in understood)
    return (each for each in understood if images[each.release.image] == 1)


def with_risks(updates: Updates, risks: Mapping[Risk, Sequence[str]]) -> Updates:
    """Updates with risks of the cluster's own, each for some versions.

    An update that was available becomes a conditional one.
    """

    def of(release: Release) -> tuple[Risk, ...]:
        return tuple(risk for risk, versions in risks.items() if release.version in versions)

    conditional = [
        replace(each, risks=(*each.risks, *of(each.release))) for each in updates.conditional
    ]
    conditional += (ConditionalUpdate(each, of(each)) for each in updates.available if of(each))
    available = tuple(each for each in updates.available if not of(each))
    return replace(updates, available=available, conditional=tuple(conditional))


def with_cluster_id(updates: Updates, cluster_id: str) -> Updates:
    """Updates whose queries ask for one cluster, where a metrics store has several."""

    def narrowed(risk: Risk) -> Risk:
        rules = (Rule(rule.query.replace('_id=""', f'_id="{cluster_id}"')) for rule in risk.rules)
        return replace(risk, rules=tuple(rules))

    conditional = (
        replace(each, risks=tuple(map(narrowed, each.risks))) for each in updates.conditional
    )
    return replace(updates, conditional=tuple(conditional))
