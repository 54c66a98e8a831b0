"""The files of graph data. Source of the rules: upstream's notes, section 4.3.

`releases` is ours: a folder can be served without a registry.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cluster_version.graph_data.blocked_edges import BlockedEdge, blocked_edge
from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.releases import (
    GraphRelease,
    check_version,
    release_of_file,
    removed_origins,
    with_more,
)
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.versions import parse_version

VERSION, RAW = "version", "raw/metadata.json"
CHANNELS, BLOCKED, RELEASES = "channels", "blocked-edges", "releases"
FOLDERS = (CHANNELS, BLOCKED, RELEASES, "raw")
EXTENSIONS = (".yaml", ".yml", ".json")
_LISTED = tuple(f"{each}/" for each in (CHANNELS, BLOCKED, RELEASES))
MAJOR = 1
"""Of the schema that is understood."""

Json = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GraphData:
    """What the files say.

    channels  versions by the name of a channel
    more      metadata by version, with `+<architecture>` for one of them
    """

    channels: Mapping[str, frozenset[str]]
    blocked: Sequence[BlockedEdge] = ()
    releases: Sequence[GraphRelease] = ()
    more: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def graphs(self, scanned: Iterable[GraphRelease] = ()) -> UpdateGraphs:
        """The graphs of these releases and of those that were found elsewhere. GraphDataError."""
        releases = map(self._with_more, (*self.releases, *scanned))
        return UpdateGraphs(releases, self.channels, self.blocked)

    def _with_more(self, release: GraphRelease) -> GraphRelease:
        for key in (release.version, f"{release.version}+{release.architecture}"):
            if key in self.more:
                release = with_more(release, self.more[key])
        return release


def read_graph_data(files: Mapping[str, bytes]) -> GraphData:
    """The data of files by their paths, with forward slashes. Raises GraphDataError."""
    _check_schema(files)
    channels: dict[str, frozenset[str]] = {}
    for name, versions in _each(files, CHANNELS, _channel):
        channels[name] = channels.get(name, frozenset()) | versions
    if not channels:
        raise GraphDataError(f"there is no channel: no file in the folder {CHANNELS}")
    more: Mapping[str, Mapping[str, str]] = {}
    if RAW in files:
        with _reading(RAW):
            more = _raw(_document(files[RAW]))
    blocked = list(_each(files, BLOCKED, blocked_edge))
    return GraphData(channels, blocked, list(_each(files, RELEASES, release_of_file)), more)


def is_read(path: str) -> bool:
    """Whether a file is one of those that say something."""
    return path in (VERSION, RAW) or (path.startswith(_LISTED) and path.endswith(EXTENSIONS))


def _check_schema(files: Mapping[str, bytes]) -> None:
    text = files.get(VERSION, b"").decode(errors="replace").strip()
    if not text:
        raise GraphDataError(
            "it is no graph data: there is no file 'version'",
            hint="it holds the version of the schema, for instance 1.1.0, beside the folders "
            f"{CHANNELS} and {BLOCKED}",
        )
    with _reading(VERSION):
        check_version(text)
    if (major := parse_version(text).major) != MAJOR:
        raise GraphDataError(f"its schema is {text}; understood is {MAJOR}, not {major}")


def _each(files: Mapping[str, bytes], folder: str, read: Callable[[Json], T]) -> Iterator[T]:
    """What the files of a folder say, in the order of their paths. Raises GraphDataError."""
    for path in sorted(files):
        if path.startswith(f"{folder}/") and is_read(path):
            with _reading(path):
                found = read(_document(files[path]))
            yield found


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Has errors name the file."""
    try:
        yield
    except GraphDataError as error:
        raise GraphDataError(f"{path}: {error.message}", hint=error.hint) from error


def _document(content: bytes) -> Json:
    try:
        document = next(load_all(content), None)
    except YamlError as error:
        raise GraphDataError(error.message) from error
    if not isinstance(document, dict):
        raise GraphDataError("it is no object")
    return document


def _channel(document: Json) -> tuple[str, frozenset[str]]:
    name, versions = document.get("name"), document.get("versions") or []
    if not (isinstance(name, str) and name):
        raise GraphDataError("a channel needs the text 'name'")
    if not isinstance(versions, list) or not all(isinstance(each, str) for each in versions):
        raise GraphDataError("'versions' is no list of versions")
    for each in versions:
        check_version(each)
    return name, frozenset(versions)


def _raw(document: Json) -> Mapping[str, Mapping[str, str]]:
    for version, metadata in document.items():
        check_version(version)
        if not isinstance(metadata, dict) or not all(
            isinstance(value, str) for value in metadata.values()
        ):
            raise GraphDataError(f"the metadata of {version} is no object of texts")
        removed_origins(GraphRelease(version, "", "", metadata=metadata))
    return document
