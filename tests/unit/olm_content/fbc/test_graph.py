"""Update graphs: what is drawn, from where, and what is marked."""

import orjson
import pytest

from olm_content.fbc.documents import parse
from olm_content.fbc.graph import from_edge, graph, of_package
from olm_content.fbc.records import Record, record
from olm_runtime.errors import TerminalError
from opm.mermaid import mermaid
from tests.unit.olm_catalogs.test_validate import bundle, catalog


def records() -> list[Record]:
    blobs = catalog()
    blobs[1]["entries"][2]["skips"] = ["foo.v1"]
    blobs.append({"schema": "olm.package", "name": "other", "defaultChannel": "a"})
    other = bundle("other.v1", "1.0.0")
    other["package"] = other["properties"][0]["value"]["packageName"] = "other"
    entries = [{"name": "other.v1"}]
    blobs += [
        other,
        {"schema": "olm.channel", "package": "other", "name": "a", "entries": entries},
    ]
    return [record(blob) for blob in parse(b"\n".join(map(orjson.dumps, blobs)), path="x")]


def test_the_diagram() -> None:
    assert mermaid(graph(records()), v0=True).splitlines() == [
        "graph LR",
        "  classDef deprecated fill:#E8960F",
        "  classDef skipped stroke:#FF0000,stroke-width:4px",
        "  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px",
        '  %% package "foo"',
        '  subgraph "foo"',
        '    %% channel "stable"',
        '    subgraph foo-stable["stable"]',
        '      foo-stable-foo.v3["foo.v3"]',
        '      foo-stable-foo.v1["foo.v1"]-- skip --> foo-stable-foo.v3["foo.v3"]',
        '      foo-stable-foo.v1["foo.v1"]-- "skipRange(<3.0.0)" --> foo-stable-foo.v3["foo.v3"]',
        '      foo-stable-foo.v2["foo.v2"]-- "skipRange(<3.0.0)" --> foo-stable-foo.v3["foo.v3"]',
        '      foo-stable-foo.v2["foo.v2"]-- replace --> foo-stable-foo.v3["foo.v3"]',
        '      foo-stable-foo.v2["foo.v2"]',
        '      foo-stable-foo.v1["foo.v1"]-- replace --> foo-stable-foo.v2["foo.v2"]',
        '      foo-stable-foo.v1["foo.v1"]',
        "    end",
        "  end",
        '  %% package "other"',
        '  subgraph "other"',
        '    %% channel "a"',
        '    subgraph other-a["a"]',
        '      other-a-other.v1["other.v1"]',
        "    end",
        "  end",
        "style foo fill:#989695",
        "style foo-stable fill:#DCD0FF",
        "class foo-stable-foo.v1 deprecatedskipped",
    ]


def test_links_that_classic_does_not_take_are_marked() -> None:
    blobs = catalog()[:5]
    blobs[1]["entries"] = [
        {"name": "foo.v1"},
        {"name": "foo.v2", "replaces": "foo.v1"},
        {"name": "foo.v3", "replaces": "foo.v1", "skips": ["foo.v2"]},
    ]
    given = [record(blob) for blob in parse(b"\n".join(map(orjson.dumps, blobs)), path="x")]
    lines = mermaid(graph(given), v0=True).splitlines()
    assert lines[-2] == "class foo-stable-foo.v2 skipped"
    assert lines[-1].startswith("linkStyle 2 stroke:#FF0000")
    assert "linkStyle" not in mermaid(graph(given))


def test_one_package_and_a_minimum_edge() -> None:
    whole = graph(records())
    assert [channel.name for channel in of_package(whole, "other").channels] == ["a"]
    cut = from_edge(whole, "foo.v2")
    assert [entry.name for entry in cut.channels[0].entries] == ["foo.v2", "foo.v3"]
    assert [(e.replaces, e.skips) for e in cut.channels[0].entries] == [("", ()), ("foo.v2", ())]
    with pytest.raises(TerminalError, match=r'unknown minimum edge name: "foo\.v9"'):
        from_edge(whole, "foo.v9")


def test_a_bundle_without_a_version_cannot_be_placed() -> None:
    blobs = catalog()
    blobs[2]["properties"] = []
    given = [record(blob) for blob in parse(b"\n".join(map(orjson.dumps, blobs)), path="x")]
    with pytest.raises(TerminalError, match="must have exactly 1"):
        graph(given)
