"""Graphs of update services as histories."""

import json
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest

from cluster_version.updates.graph import read_graph
from olm_client.catalogs.timeline import timeline
from olm_client.cluster.release_history import LEGEND, Way, Ways, facts, release_history, ways_of
from olm_content.fbc.graph import UpdateKind
from olm_runtime.errors import TerminalError
from opm.picture import svg

VERSIONS = ("1.0.0", "1.0.2", "1.0.10", "1.1.0")
EDGES = ((0, 1), (0, 2), (1, 2), (2, 3))
RISKY = (("1.0.0", "1.1.0"), ("1.0.2", "1.1.0"))


def ways(
    edges: Sequence[tuple[int, int]] = EDGES, risky: Sequence[tuple[str, str]] = RISKY
) -> Ways:
    risk = {"name": "Slow<&>", "url": "", "message": "", "matchingRules": []}
    answer = {
        "nodes": [{"version": version, "payload": f"image-{version}"} for version in VERSIONS],
        "edges": edges,
        "conditionalEdges": [
            {"edges": [{"from": older, "to": newer} for older, newer in risky], "risks": [risk]}
        ],
    }
    return ways_of(read_graph(json.dumps(answer).encode()))


def test_releases_are_newest_first_and_ways_shortest_first() -> None:
    found = ways()
    assert list(found.releases) == ["1.1.0", "1.0.10", "1.0.2", "1.0.0"]
    assert found.ways == [
        Way("1.0.10", "1.1.0"),
        Way("1.0.2", "1.1.0", ("Slow<&>",)),
        Way("1.0.0", "1.1.0", ("Slow<&>",)),
        Way("1.0.2", "1.0.10"),
        Way("1.0.0", "1.0.10"),
        Way("1.0.0", "1.0.2"),
    ]


def test_what_has_a_risk_counts_as_that_only() -> None:
    assert ways(EDGES, [("1.0.10", "1.1.0")]).ways[0] == Way("1.0.10", "1.1.0", ("Slow<&>",))


def test_what_leads_nowhere_is_left_out() -> None:
    assert ways([(0, 9), (-1, 0), (7, 1)], [("1.0.0", "3.0.0"), ("0.9.0", "1.0.0")]).ways == []


def test_lines_tell_the_shortest_way_from_leaps_and_risks() -> None:
    history = release_history(ways(), "channel stable", "1.0.2")
    assert [(step.older, step.newer, step.kind) for step in history.updates][:5] == [
        ("1.0.10", "1.1.0", UpdateKind.REPLACES),
        ("1.0.2", "1.1.0", UpdateKind.RANGE),
        ("1.0.0", "1.1.0", UpdateKind.RANGE),
        ("1.0.2", "1.0.10", UpdateKind.REPLACES),
        ("1.0.0", "1.0.10", UpdateKind.SKIPS),
    ]
    assert list(timeline([history])) == [
        "channel stable",
        "●  1.1.0 [head]  from 1.0.10; from 1.0.2, 1.0.0 with Slow<&>",
        "●  1.0.10  from 1.0.2, 1.0.0",
        "●  1.0.2 [running]  from 1.0.0",
        "●  1.0.0",
    ]


def test_a_release_that_only_a_risk_leads_on_from_is_joined_by_it() -> None:
    history = release_history(ways([(2, 3)], [("1.0.2", "1.0.10")]), "stable", "")
    assert "┊" in "\n".join(timeline([history]))
    root = ET.fromstring(svg([history], title="stable", legend=LEGEND))
    texts = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "1.0.10 from 1.0.2 with Slow<&>" in texts
    assert {"update", "leap", "with risks"} <= set(texts)


def test_what_leads_on_from_a_release_is_cut_out() -> None:
    found = ways([(0, 1), (2, 3)], [("1.0.2", "1.0.10"), ("1.0.0", "1.1.0")]).onwards("1.0.2")
    assert list(found.releases) == ["1.1.0", "1.0.10", "1.0.2"]
    assert {(way.older, way.newer) for way in found.ways} == {
        ("1.0.10", "1.1.0"),
        ("1.0.2", "1.0.10"),
    }
    with pytest.raises(TerminalError, match=r"no release 9\.9\.9") as raised:
        found.onwards("9.9.9")
    assert raised.value.hint == "releases: 1.1.0, 1.0.10, 1.0.2"


def test_a_circle_is_followed_once() -> None:
    assert list(ways([(0, 1), (1, 0)], []).onwards("1.0.0").releases) == ["1.0.2", "1.0.0"]


def test_data() -> None:
    found = facts(ways([(2, 3)], [("1.0.2", "1.0.10")]).onwards("1.0.2"), "1.0.10")
    assert found["releases"][1] == {"version": "1.0.10", "image": "image-1.0.10", "running": True}
    assert found["updates"][1] == {"from": "1.0.2", "to": "1.0.10", "risks": ["Slow<&>"]}
