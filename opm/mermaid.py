"""The update graph as a Mermaid diagram, as upstream's tool draws it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from olm_content.fbc.graph import Graph, GraphChannel, GraphEntry
from olm_content.formats.go_text import quote

_HEAD = (
    "graph LR",
    "  classDef deprecated fill:#E8960F",
    "  classDef skipped stroke:#FF0000,stroke-width:4px",
    "  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px",
)
_LINK_STYLE = "stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;"


@dataclass(slots=True)
class _Drawing:
    """What is known of the whole diagram while its channels are drawn one after the other.

    With `v0`, entries that a newer one skips and links that lead to them are marked: OLM Classic
    does not go there.
    """

    v0: bool
    links: int = 0
    skipped_links: list[int] = field(default_factory=list)
    classes: dict[str, list[str]] = field(default_factory=dict)

    def channel(self, channel: GraphChannel) -> Iterator[str]:
        """The lines of one channel."""
        prefix = f"{channel.package}-{channel.name}"
        yield f"    %% channel {quote(channel.name)}"
        yield f"    subgraph {prefix}[{quote(channel.name)}]"
        skipped: set[str] = set()
        for entry in channel.newest_first():
            node = f"{prefix}-{entry.name}[{quote(entry.name)}]"
            yield f"      {node}"
            self._classify(f"{prefix}-{entry.name}", entry, skipped)
            for source, label in _edges(entry, channel):
                yield f"      {prefix}-{source}[{quote(source)}]-- {label} --> {node}"
                self._mark(entry, source if label == "skip" else "", skipped)
        yield "    end"

    def _classify(self, node: str, entry: GraphEntry, skipped: set[str]) -> None:
        name = "deprecated" * entry.deprecated + "skipped" * (entry.name in skipped)
        if name:
            self.classes.setdefault(name, []).append(node)

    def _mark(self, entry: GraphEntry, skip: str, skipped: set[str]) -> None:
        if self.v0:
            if (skip or entry.name) in skipped:
                self.skipped_links.append(self.links)
            elif skip:
                skipped.add(skip)
        self.links += 1


def _edges(entry: GraphEntry, channel: GraphChannel) -> Iterator[tuple[str, str]]:
    """The updates that lead to an entry: from which, and how."""
    for skip in entry.skips:
        yield skip, "skip"
    accepted = entry.accepted
    if accepted is not None:
        for other in channel.entries:
            if accepted.matches(other.version):
                yield other.name, f'"skipRange({entry.skip_range})"'
    if entry.replaces:
        yield entry.replaces, "replace"


def mermaid(graph: Graph, *, v0: bool = False) -> str:
    """The diagram's text."""
    drawing = _Drawing(v0)
    packages: dict[str, list[str]] = {}
    for channel in graph.channels:
        packages.setdefault(channel.package, []).extend(drawing.channel(channel))
    lines = [*_HEAD]
    for package in sorted(packages):
        title = (f"  %% package {quote(package)}", f"  subgraph {quote(package)}")
        lines += [*title, *packages[package], "  end"]
    lines += [f"style {name} fill:#989695" for name in sorted(graph.deprecated & packages.keys())]
    for channel in graph.channels:
        if channel.deprecated:
            lines.append(f"style {channel.package}-{channel.name} fill:#DCD0FF")
    for name, nodes in sorted(drawing.classes.items()):
        lines.append(f"class {','.join(sorted(nodes))} {name}")
    if drawing.skipped_links:
        lines.append(f"linkStyle {','.join(map(str, drawing.skipped_links))} {_LINK_STYLE}")
    return "\n".join(lines) + "\n"
