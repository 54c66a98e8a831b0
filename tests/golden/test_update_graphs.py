"""Real update graphs come out of the update service as they were, from data made of them.

The service's own way from channels, releases and blocked edges to a graph has no goldens: here
graphs of real channels and risks are taken apart into such data, and put together again.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from cluster_version.graph_data.building import CHANNELS
from cluster_version.graph_data.files import read_graph_data

pytestmark = pytest.mark.corpus

Json = dict[str, Any]
NAMES = (
    "candidate-4.17", "eus-4.16", "fast-4.11", "fast-4.15", "stable-4.12", "stable-4.14",
    "stable-4.16", "stable-4.18", "stable-4.19",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_comes_out_as_it_was(name: str, corpus: Path) -> None:
    real = orjson.loads((corpus / f"goldens/cluster-version/graphs/{name}.json").read_bytes())
    files = {path: orjson.dumps(document) for path, document in data_of(real)}
    files["version"] = b"1.1.0"
    ours = orjson.loads(read_graph_data(files).graphs().body(name, "amd64"))
    by_version = {each["version"]: each for each in real["nodes"]}
    assert {each["version"]: each for each in ours["nodes"]} == by_version
    assert edges_of(ours) == edges_of(real)
    assert risks_of(ours) == risks_of(real)


def data_of(graph: Json) -> Iterator[tuple[str, Json]]:
    """Files of graph data by their paths, as JSON."""
    edges = {*edges_of(graph), *risks_of(graph)}
    channels: dict[str, list[str]] = {}
    for node in graph["nodes"]:
        version, metadata = node["version"], dict(node["metadata"])
        for channel in metadata.pop(CHANNELS).split(","):
            channels.setdefault(channel, []).append(version)
        previous = [start for start, end in edges if end == version]
        release = {"version": version, "payload": node["payload"], "metadata": metadata}
        yield f"releases/{version}.json", release | {"previous": previous}
    for channel, versions in channels.items():
        yield f"channels/{channel}.json", {"name": channel, "versions": versions}
    yield from blocked_edges(graph)


def blocked_edges(graph: Json) -> Iterator[tuple[str, Json]]:
    """One file for each target of a risk."""
    origins: dict[tuple[str, str], list[str]] = {}
    for (start, end), risks in risks_of(graph).items():
        for risk in risks:
            origins.setdefault((end, orjson.dumps(risk).decode()), []).append(start)
    for number, ((end, text), starts) in enumerate(sorted(origins.items())):
        pattern = "|".join(map(re.escape, starts))
        edge = {"to": end, "from": f"^({pattern})[+].*$", **orjson.loads(text)}
        yield f"blocked-edges/{number:04}.json", edge


def edges_of(graph: Json) -> set[tuple[str, str]]:
    versions = [each["version"] for each in graph["nodes"]]
    return {(versions[start], versions[end]) for start, end in graph["edges"]}


def risks_of(graph: Json) -> dict[tuple[str, str], list[Json]]:
    """The risks of conditional edges, by the versions of an edge."""
    return {
        (edge["from"], edge["to"]): sorted(group["risks"], key=orjson.dumps)
        for group in graph["conditionalEdges"]
        for edge in group["edges"]
    }
