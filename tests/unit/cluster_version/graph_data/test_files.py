from typing import Any

import orjson
import pytest

from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.files import is_read, read_graph_data

PAYLOAD = "registry.test/r@sha256:" + "1" * 64
FILES = {
    "version": b"1.1.0\n",
    "LICENSE": b"as you like",
    "channels/OWNERS": b"- somebody",
    "channels/stable-4.1.yaml": b"name: stable-4.1\nfeeder: {name: fast-4.1}\nversions:\n- 4.1.0\n"
    b"- 4.1.1\n- 4.1.2+arm64\n",
    "blocked-edges/4.1.1.yaml": b"to: 4.1.1\nfrom: ^4[.]1[.]0[+]arm64$\n",
    "releases/4.1/4.1.0.yaml": f"version: 4.1.0\npayload: {PAYLOAD}\n".encode(),
    "releases/4.1/4.1.1.yaml": b"kind: cincinnati-metadata-v0\nversion: 4.1.1\n"
    b"previous: [4.1.0]\nmetadata: {url: https://example.com}\npayload: registry.test/r:tag\n",
    "releases/4.1.2.json": b'{"version": "4.1.2+arm64", "payload": "registry.test/r:t", '
    b'"previous": ["4.1.0"], "architecture": "arm64"}',
    "raw/metadata.json": b'{"4.1.0+amd64": {"url": "https://example.com/0"}}',
}


def graph_of(graphs: UpdateGraphs, channel: str, architecture: str = "amd64") -> dict[str, Any]:
    graph: dict[str, Any] = orjson.loads(graphs.body(channel, architecture))
    return graph


def test_a_folder_makes_graphs() -> None:
    graph = graph_of(read_graph_data(FILES).graphs(), "stable-4.1")
    assert [(each["version"], each["payload"]) for each in graph["nodes"]] == [
        ("4.1.0", PAYLOAD),
        ("4.1.1", "registry.test/r:tag"),
    ]
    assert graph["edges"] == [[0, 1]]
    assert graph["nodes"][0]["metadata"] == {
        "io.openshift.upgrades.graph.release.channels": "stable-4.1",
        "io.openshift.upgrades.graph.release.manifestref": "sha256:" + "1" * 64,
        "url": "https://example.com/0",
    }
    assert graph["nodes"][1]["metadata"]["url"] == "https://example.com"


def test_an_architecture_has_its_own_releases() -> None:
    graphs = read_graph_data(FILES).graphs()
    assert [each["version"] for each in graph_of(graphs, "stable-4.1", "arm64")["nodes"]] == [
        "4.1.2"
    ]
    assert graph_of(graphs, "stable-4.1", "s390x")["nodes"] == []
    assert graph_of(graphs, "stable-4.9", "amd64")["nodes"] == []


def test_metadata_adds_and_removes_edges() -> None:
    prefix = "io.openshift.upgrades.graph."
    raw = (
        f'{{"4.1.1": {{"{prefix}previous.remove": "4.1.0"}}, '
        f'"4.1.0": {{"{prefix}previous.add": "4.1.1, 4.1.9"}}}}'
    )
    graph = read_graph_data({**FILES, "raw/metadata.json": raw.encode()}).graphs()
    assert graph_of(graph, "stable-4.1")["edges"] == [[1, 0]]
    raw = f'{{"4.1.1": {{"{prefix}previous.remove_regex": "^4[.]1[.]0"}}}}'
    graph = read_graph_data({**FILES, "raw/metadata.json": raw.encode()}).graphs()
    assert graph_of(graph, "stable-4.1")["edges"] == []


def test_a_release_for_several_architectures_says_so() -> None:
    release = (
        b'{"version": "4.1.1", "payload": "registry.test/r:m", "metadata": '
        b'{"release.openshift.io/architecture": "multi"}}'
    )
    graphs = read_graph_data({**FILES, "releases/m.json": release}).graphs()
    assert [each["payload"] for each in graph_of(graphs, "stable-4.1", "multi")["nodes"]] == [
        "registry.test/r:m"
    ]


def test_channels_of_one_name_are_one() -> None:
    other = {"channels/more.yaml": b"name: stable-4.1\nversions: [4.2.0]\n"}
    assert read_graph_data({**FILES, **other}).channels == {
        "stable-4.1": {"4.1.0", "4.1.1", "4.1.2+arm64", "4.2.0"}
    }


@pytest.mark.parametrize(
    ("path", "content", "fault"),
    [
        ("version", b"", "there is no file 'version'"),
        ("version", b"one", "version: 'one' is no version"),
        ("version", b"2.0.0", "its schema is 2.0.0"),
        ("channels/a.yaml", b"versions: []", "channels/a.yaml: a channel needs"),
        ("channels/a.yaml", b"name: a\nversions: [4]", "'versions' is no list"),
        ("channels/a.yaml", b"name: a\nversions: ['4']", "channels/a.yaml: '4' is no version"),
        ("channels/a.yaml", b"- a", "channels/a.yaml: it is no object"),
        ("channels/a.yaml", b"a: [", "channels/a.yaml: yaml: line 2: "),
        ("blocked-edges/a.yaml", b"to: 4.1.1\nfrom: (", "blocked-edges/a.yaml: 'from' of"),
        ("releases/a.yaml", b"version: 4.1.1", "releases/a.yaml: a release needs the text 'pay"),
        ("raw/metadata.json", b'{"4.1.1": []}', "raw/metadata.json: the metadata of 4.1.1"),
        (
            "raw/metadata.json",
            b'{"4.1.1": {"io.openshift.upgrades.graph.previous.remove_regex": "("}}',
            "raw/metadata.json: the pattern in the metadata of release 4.1.1",
        ),
    ],
)
def test_what_is_wrong_is_reported_with_its_file(path: str, content: bytes, fault: str) -> None:
    with pytest.raises(GraphDataError) as raised:
        read_graph_data({**FILES, path: content})
    assert fault in raised.value.message


def test_without_a_channel_nothing_is_served() -> None:
    """As while the folder is replaced: clusters would be told that they are in no channel."""
    with pytest.raises(GraphDataError, match="no channel: no file in the folder channels"):
        read_graph_data({path: FILES[path] for path in FILES if not path.startswith("channels/s")})


def test_only_files_of_data_are_read() -> None:
    assert [path for path in FILES if not is_read(path)] == ["LICENSE", "channels/OWNERS"]
