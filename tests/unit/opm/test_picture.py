"""Histories of channels: lanes, and the SVG picture made of them."""

from xml.etree import ElementTree as ET

import pytest

from olm_content.fbc.graph import Graph, GraphChannel, GraphEntry, UpdateKind, updates
from olm_content.versions import parse_version
from opm.histories import history
from opm.lanes import Layout, Link, lay_out
from opm.picture import picture, svg

SVG = "{http://www.w3.org/2000/svg}"


def entry(version: str, replaces: str = "", *skips: str, skip_range: str = "") -> GraphEntry:
    return GraphEntry(version, replaces, skips, skip_range, parse_version(version))


def laid(*entries: GraphEntry) -> Layout:
    return lay_out(history(GraphChannel("stable", entries)))


def test_a_chain_is_one_lane() -> None:
    layout = laid(entry("1.0.0"), entry("1.1.0", "1.0.0"), entry("1.2.0", "1.1.0"))
    assert [row.name for row in layout.history.rows] == ["1.2.0", "1.1.0", "1.0.0"]
    assert layout.lanes == (0, 0, 0)
    assert layout.links == (Link(0, 1, 0, UpdateKind.REPLACES), Link(1, 2, 0, UpdateKind.REPLACES))
    assert layout.width == 1


def test_what_is_only_skipped_hangs_on_the_nearest_that_skips_it() -> None:
    layout = laid(
        entry("1.0.0"),
        entry("1.1.0", "1.0.0"),
        entry("1.2.0", "1.0.0", "1.1.0"),
        entry("1.3.0", "1.2.0", "1.1.0"),
    )
    assert Link(1, 2, 1, UpdateKind.SKIPS) in layout.links
    assert not any(link.kind is UpdateKind.SKIPS and link.upper == 0 for link in layout.links)
    assert Link(1, 3, 0, UpdateKind.REPLACES) in layout.links


def test_lanes_of_two_that_replace_the_same_end_there() -> None:
    layout = laid(entry("1.0.0"), entry("1.1.0", "1.0.0"), entry("2.0.0", "1.0.0"))
    assert layout.lanes == (0, 1, 0)
    assert set(layout.links) == {
        Link(0, 2, 0, UpdateKind.REPLACES),
        Link(1, 2, 1, UpdateKind.REPLACES),
    }


def test_a_range_is_drawn_only_to_what_nothing_else_leads_on_from() -> None:
    channel = GraphChannel(
        "s", (entry("1.0.0"), entry("1.1.0", "1.0.0"), entry("2.0.0", skip_range="<2.0.0"))
    )
    assert [u.older for u in updates(channel) if u.kind is UpdateKind.RANGE] == ["1.1.0", "1.0.0"]
    ranges = [link for link in lay_out(history(channel)).links if link.kind is UpdateKind.RANGE]
    assert ranges == [Link(0, 1, 0, UpdateKind.RANGE)]


@pytest.mark.parametrize(
    "entries",
    [
        (entry("1.0.0", "0.9.0"),),
        (entry("1.0.0", "2.0.0"), entry("2.0.0", "1.0.0")),
        (entry("1.0.0", "1.0.0"),),
        (entry("1.0.0", "", "1.0.0", skip_range="<9.0.0"),),
        (),
    ],
    ids=["replaces what is absent", "cycle", "replaces itself", "skips itself", "empty"],
)
def test_graphs_that_are_none_are_drawn_too(entries: tuple[GraphEntry, ...]) -> None:
    layout = laid(*entries)
    assert len(layout.lanes) == len(entries)
    assert all(link.upper < link.lower for link in layout.links)
    ET.fromstring(svg([layout.history], title="none"))


def test_heads() -> None:
    entries = (entry("1.0.0"), entry("1.1.0", "1.0.0"), entry("1.2.0", "", "1.1.0"), entry("0.1.0"))
    assert GraphChannel("s", entries).newest_heads() == ["1.2.0", "0.1.0"]


def test_the_picture_has_every_entry_link_and_mark() -> None:
    old = GraphEntry("op<&>.v1", version=parse_version("1.0.0"), deprecated=True)
    new = GraphEntry("op.v2", "op<&>.v1", (), ">=1.0.0 <2.0.0", parse_version("2.0.0"))
    channels = (
        GraphChannel("a", (old, new), "op"),
        GraphChannel("b", (old,), "op", deprecated=True),
    )
    drawn = Graph(channels)
    root = ET.fromstring(picture(drawn, installed="op<&>.v1"))
    dots = [d for d in root.iter(f"{SVG}circle") if d.find(f"{SVG}title") is not None]
    assert [dot.get("class") for dot in dots] == [
        "entry head",
        "entry installed deprecated",
        "entry head installed deprecated",
    ]
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "op, channel a" in texts
    assert "op, channel b (deprecated)" in texts
    assert "op.v2 head; replaces op<&>.v1; skipRange >=1.0.0 <2.0.0" in texts
    height = float(root.get("height") or 0)
    assert max(float(dot.get("cy") or 0) for dot in dots) < height
