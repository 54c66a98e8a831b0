"""The update graph of a package when bundles are added to an SQLite index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opm.index.graph import (
    REPLACES,
    SEMVER,
    SKIP_PATCH,
    Chain,
    Graph,
    GraphError,
    Member,
    Update,
    by_replaces,
    by_version,
    check_reached,
    dropped,
    entries,
    read_chains,
)

EMPTY = Graph("", {})


def member(version: str, replaces: str = "", *skips: str, channels: str = "a", default: str = "",
           deprecated: bool = False) -> Member:  # fmt: skip
    """A bundle of package p; others are named by their version, too."""
    update = Update(f"p.v{replaces}" if replaces else "", tuple(f"p.v{each}" for each in skips))
    return Member(f"p.v{version}", version, tuple(channels.split(",")), default, update, deprecated)


def channel_lines(graph: Graph) -> dict[str, list[str]]:
    """Each channel from its head on, in words."""
    return {name: _lines(chain) for name, chain in graph.channels.items()}


def _lines(chain: Chain) -> list[str]:
    lines, name = [], chain.head
    while name:
        update = chain.updates.get(name, Update())
        skips = f" skips {' '.join(update.skips)}" if update.skips else ""
        lines.append((name + skips).replace("p.v", ""))
        name = update.replaces
    return lines


@pytest.mark.parametrize(
    ("members", "default", "channels"),
    [
        pytest.param([member("1.0.0")], "a", {"a": ["1.0.0"]}, id="the only channel is default"),
        pytest.param(
            [member("1.1.0", "1.0.0", "1.0.5"), member("1.0.0")],
            "a",
            {"a": ["1.1.0 skips 1.0.5", "1.0.0"]},
            id="the highest version leads, whatever the order",
        ),
        pytest.param(
            [member("1.0.0"), member("1.1.0")], "a", {"a": ["1.1.0"]}, id="others are left out"
        ),
        pytest.param(
            [
                member("1.0.0", channels="a,b", default="a"),
                member("1.1.0", "1.0.0", channels="b", default="b"),
                member("1.2.0", "1.1.0", channels="a"),
            ],
            "b",
            {"a": ["1.2.0", "1.1.0", "1.0.0"], "b": ["1.1.0", "1.0.0"]},
            id="the highest version that names a default channel decides",
        ),
        pytest.param(
            [member("1.0.0+1"), member("1.0.0+2", "1.0.0+1"), member("1.0.0")],
            "a",
            {"a": ["1.0.0+2", "1.0.0+1"]},
            id="build metadata decides between equal versions",
        ),
        pytest.param(
            [member("1.0.0"), member("1.1.0", "1.0.0", deprecated=True), member("1.2.0", "1.1.0")],
            "a",
            {"a": ["1.2.0", "1.1.0"]},
            id="below a deprecated bundle nothing counts",
        ),
        pytest.param(
            [
                member("1.0.0", channels="a", default="a", deprecated=True),
                member("1.1.0", channels="b", default="b"),
            ],
            "b",
            {"b": ["1.1.0"]},
            id="a channel that a deprecated bundle leads is gone",
        ),
    ],
)
def test_by_what_bundles_replace(
    members: list[Member], default: str, channels: dict[str, list[str]]
) -> None:
    graph = by_replaces("p", members)
    assert (graph.default_channel, channel_lines(graph)) == (default, channels)


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ([member("1.0.0", channels="a,b")], "unable to determine default channel among .*: a, b"),
        ([member("1.0.0", default="z")], "unable to determine default channel"),
        ([member("1.1.0", "1.0.0")], "p.v1.1.0, replaces nonexistent bundle p.v1.0.0"),
        ([member("1.0.0", "1.1.0"), member("1.1.0", "1.0.0")], "Cycle detected"),
        ([member("1.0.0"), Member("q", "1.0.0", ("a",))], "more than one bundle with maximum"),
        (
            [member("1.0.0"), Member("q", "1.0.0", ("a",)), member("2.0.0", channels="b")],
            "more than one potential channel head for a",
        ),
        ([member("1.0")], "error parsing bundle p.v1.0 version 1.0: No Major.Minor.Patch"),
        ([member("1.0.0", deprecated=True)], "no default channel specified for p"),
    ],
)
def test_bundles_of_which_no_graph_can_be_made(members: list[Member], fault: str) -> None:
    with pytest.raises(GraphError, match=fault):
        by_replaces("p", members)


def put(mode: str, *steps: str) -> Graph:
    """Versions put in; what is in one step is added by one command, then written and read."""
    graph = EMPTY
    versions: dict[str, str] = {}
    for step in steps:
        added = [member(version) for version in step.split()]
        versions |= {each.name: each.version for each in added}
        graph = by_version("p", graph, added, versions, mode)
        check_reached(graph, added)
        graph = Graph(graph.default_channel, read_chains(entries("p", graph, 7), versions))
    return graph


@pytest.mark.parametrize(
    ("mode", "steps", "channel"),
    [
        (SEMVER, ("1.1.0 1.0.0", "1.0.1"), ["1.1.0", "1.0.1", "1.0.0"]),
        (SEMVER, ("1.0.0", "2.0.0", "1.2.0-rc.1"), ["2.0.0", "1.2.0-rc.1", "1.0.0"]),
        (SKIP_PATCH, ("1.0.0 1.1.0 1.1.1",), ["1.1.1 skips 1.1.0", "1.0.0"]),
        (SKIP_PATCH, ("1.0.0", "1.0.1", "1.0.2"), ["1.0.2 skips 1.0.0", "1.0.1"]),
        (SKIP_PATCH, ("1.0.0", "1.0.1", "1.1.0"), ["1.1.0", "1.0.1", "1.0.0"]),
        (SKIP_PATCH, ("1.0.1 1.1.0", "1.0.2"), ["1.1.0", "1.0.2", "1.0.1"]),
    ],
)
def test_by_version(mode: str, steps: tuple[str, ...], channel: list[str]) -> None:
    assert channel_lines(put(mode, *steps)) == {"a": channel}


def test_what_a_bundle_skips_stays_when_another_is_put_below_it() -> None:
    before = by_replaces("p", [member("1.0.0"), member("1.2.0", "1.0.0", "1.1.9")])
    versions = {each: each.removeprefix("p.v") for each in ("p.v1.0.0", "p.v1.1.0", "p.v1.2.0")}
    read = Graph("a", read_chains(entries("p", before, 1), versions))
    graph = by_version("p", read, [member("1.1.0")], versions, SEMVER)
    assert channel_lines(graph) == {"a": ["1.2.0 skips 1.1.9", "1.1.0", "1.0.0"]}


def test_a_channel_that_is_not_in_order_of_versions_takes_no_version_in() -> None:
    members = [member("2.0.0", "1.0.0"), member("1.0.0", "1.5.0"), member("1.5.0")]
    versions = {each.name: each.version for each in members}
    with pytest.raises(GraphError, match=r"p\.v2\.0\.0, p\.v1\.0\.0, p\.v1\.5\.0 are not in"):
        by_version("p", by_replaces("p", members), [member("1.2.0")], versions, SEMVER)


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ([member("1.0.0"), member("1.0.0+2")], r"Bundle version 1.0.0\+2 already added to index"),
        ([member("1.0.0", channels="a,b")], "the default channel is missing"),
        ([member("1.0.0", default="z")], 'the default channel "z" does not exist'),
        ([Member("p", "", ("a",))], "bundle p of package p has no version"),
    ],
)
def test_bundles_that_cannot_be_put_in(added: list[Member], fault: str) -> None:
    versions = {each.name: each.version for each in added}
    with pytest.raises(GraphError, match=fault):
        by_version("p", EMPTY, added, versions, SEMVER)


def test_a_new_bundle_that_nothing_updates_is_refused_and_an_old_one_reported() -> None:
    old, new = by_replaces("p", [member("1.0.0")]), [member("1.0.0"), member("1.1.0")]
    graph = by_replaces("p", new)
    assert dropped(old, graph) == {"a": ["p.v1.0.0"]}
    with pytest.raises(GraphError, match=r"nothing in channel a, which .* leads, updates"):
        check_reached(graph, new)


VERSIONS = st.builds("{}.{}.{}".format, *[st.integers(0, 2)] * 3)


@given(
    st.lists(VERSIONS, unique=True, min_size=1, max_size=9), st.sampled_from([SEMVER, SKIP_PATCH])
)
def test_every_bundle_has_a_way_to_the_head(versions: list[str], mode: str) -> None:
    """One command a bundle, in any order: none is lost, and rows say what the graph says."""
    chain = put(mode, *versions).channels["a"]
    updated = {name for each in chain.updates.values() for name in (each.replaces, *each.skips)}
    assert updated | {chain.head} == {f"p.v{each}" for each in versions} | {""}
    highest = max(versions, key=lambda each: [int(part) for part in each.split(".")])
    assert chain.head == f"p.v{highest}"


def test_rows_of_a_channel() -> None:
    graph = by_replaces("p", [member("1.0.0"), member("1.1.0", "1.0.0", "1.0.5")])
    rows = {row.number: row for row in entries("p", graph, 11)}
    assert sorted(rows) == [11, 12, 13, 14]
    heads = [row for row in rows.values() if row.depth == 0]
    assert [row.bundle for row in heads] == ["p.v1.1.0"]
    steps = {(r.bundle, rows[r.replaces].bundle) for r in rows.values() if r.replaces}
    assert steps == {("p.v1.1.0", "p.v1.0.0"), ("p.v1.1.0", "p.v1.0.5")}


def test_modes_are_upstreams() -> None:
    assert (REPLACES, SEMVER, SKIP_PATCH) == ("replaces", "semver", "semver-skippatch")
