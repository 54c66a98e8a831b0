from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_version.graph_data.blocked_edges import BlockedEdge, blocked_edge
from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.updates.graph import read_graph, updates_of
from olm_content.versions import parse_version

RULES = [{"type": "PromQL", "promql": {"promql": "up"}}]


def release(version: str, *previous: str, architecture: str = "amd64") -> GraphRelease:
    return GraphRelease(version, architecture, f"example.com/r@{version}", previous)


RELEASES = [
    release("4.1.0"),
    release("4.1.1", "4.1.0"),
    release("4.1.2", "4.1.0", "4.1.1"),
    release("4.1.2", "4.1.0", architecture="arm64"),
]
CHANNELS = {"stable-4.1": ["4.1.0", "4.1.1", "4.1.2+amd64"], "fast-4.1": ["4.1.0"]}


def risky(target: str, origins: str, name: str = "Broken") -> BlockedEdge:
    texts = {"url": "https://example.com/1", "name": name, "message": "It breaks."}
    return blocked_edge({"to": target, "from": origins, "matchingRules": RULES, **texts})


def graph_of(graphs: UpdateGraphs, channel: str, architecture: str = "amd64") -> dict[str, Any]:
    graph: dict[str, Any] = orjson.loads(graphs.body(channel, architecture))
    return graph


def answer(*blocked: BlockedEdge, architecture: str = "amd64") -> dict[str, Any]:
    return graph_of(UpdateGraphs(RELEASES, CHANNELS, blocked), "stable-4.1", architecture)


def test_a_channel_has_the_edges_between_its_releases() -> None:
    graph = answer()
    assert [each["version"] for each in graph["nodes"]] == ["4.1.0", "4.1.1", "4.1.2"]
    assert graph["edges"] == [[0, 1], [0, 2], [1, 2]]
    channels = graph["nodes"][0]["metadata"]["io.openshift.upgrades.graph.release.channels"]
    assert channels == "fast-4.1,stable-4.1"
    assert answer(architecture="arm64")["nodes"] == []


def test_a_blocked_edge_without_a_risk_is_removed() -> None:
    gone = blocked_edge({"to": "4.1.2", "from": r"^4\.1\.0[+]amd64$"})
    assert answer(gone)["edges"] == [[0, 1], [1, 2]]
    elsewhere = blocked_edge({"to": "4.1.2+arm64", "from": ".*"})
    assert answer(elsewhere) == answer()


def test_our_operator_sees_available_and_conditional_updates() -> None:
    graph = answer(risky("4.1.2", "^4[.]1[.]0"), risky("4.1.2", ".*", "Slow"))
    read = read_graph(orjson.dumps(graph))
    version = parse_version("4.1.0")
    updates = updates_of(read, version, "stable-4.1", desired="amd64", current="amd64")
    assert [each.version for each in updates.available] == ["4.1.1"]
    (conditional,) = updates.conditional
    assert conditional.release.version == "4.1.2"
    assert [each.name for each in conditional.risks] == ["Broken", "Slow"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"to": "4.1.2", "from": "("},
        {"to": "x", "from": ""},
        {"to": "4.1.2", "from": "", "name": "N"},
        {"to": "4.1.2", "from": "", "matchingRules": [{"type": "Always"}]},
    ],
)
def test_bad_blocked_edges_are_reported(document: dict[str, Any]) -> None:
    with pytest.raises(GraphDataError):
        blocked_edge(document)


RISK = {"to": "4.1.2", "from": "", "name": "N", "url": "https://example.com", "message": "M"}


@pytest.mark.parametrize(
    ("rule", "is_taken"),
    [
        ({"type": "Always"}, True),
        ({"type": "Always", "promql": {"promql": "up"}}, False),
        ({"type": "PromQL", "promql": {"promql": "up"}}, True),
        ({"type": "PromQL", "promql": {"promql": ""}}, False),
        ({"type": "PromQL"}, False),
        ({"type": "Later"}, True),
        ({}, False),
        ("Always", False),
    ],
)
def test_rules_that_no_cluster_understands_are_reported(rule: Any, is_taken: bool) -> None:
    if is_taken:
        assert blocked_edge({**RISK, "matchingRules": [rule]}).risk
        return
    with pytest.raises(GraphDataError, match="needs matchingRules"):
        blocked_edge({**RISK, "matchingRules": [rule]})


def test_what_a_risk_lacks_is_reported() -> None:
    with pytest.raises(GraphDataError, match=r"needs url, message$"):
        blocked_edge({"to": "4.1.2", "from": "", "name": "N", "url": ""})


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans())),
)
def test_an_edge_is_open_conditional_or_gone(
    pairs: list[tuple[int, int]], blocks: list[tuple[int, int, bool]]
) -> None:
    names = [f"4.1.{number}" for number in range(6)]
    before = [[names[start] for start, end in pairs if end == own] for own in range(6)]
    releases = [release(name, *before[own]) for own, name in enumerate(names)]
    blocked = [
        risky(names[end], f"^4[.]1[.]{start}[+]")
        if is_risk
        else blocked_edge({"to": names[end], "from": f"^4[.]1[.]{start}[+]"})
        for start, end, is_risk in blocks
    ]
    graph = graph_of(UpdateGraphs(releases, {"c": names}, blocked), "c")
    wanted = {pair for pair in pairs if pair[0] != pair[1]}
    removed = {(start, end) for start, end, is_risk in blocks if not is_risk}
    risks = {(start, end) for start, end, is_risk in blocks if is_risk}
    assert {tuple(each) for each in graph["edges"]} == wanted - removed - risks
    conditional = [
        (names.index(each["from"]), names.index(each["to"]))
        for group in graph["conditionalEdges"]
        for each in group["edges"]
    ]
    assert len(conditional) == len(set(conditional))
    assert set(conditional) == wanted & risks - removed
