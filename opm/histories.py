"""What is drawn of an update graph: entries, newest first, and the updates between them. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from olm_content.fbc.graph import Graph, GraphChannel, GraphEntry, Update, updates


@dataclass(frozen=True, slots=True)
class Row:
    """An entry: its name, its version where the name does not say it, and remarks.

    marks  what is special about it: `head`, `installed`, `running`, `deprecated`
    note   what it updates, in words
    """

    name: str
    version: str = ""
    marks: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """Rows, newest first, and the updates between them; those of rows that are not there, too."""

    heading: str
    rows: Sequence[Row]
    updates: Sequence[Update]
    deprecated: bool = False


def histories(graph: Graph, *, installed: str = "") -> list[History]:
    """That of each channel; `installed` names a bundle to mark."""
    return [
        history(channel, installed, deprecated=channel.package in graph.deprecated)
        for channel in graph.channels
    ]


def history(channel: GraphChannel, installed: str = "", *, deprecated: bool = False) -> History:
    """That of a channel, of a package that may be deprecated as a whole."""
    return History(
        f"{channel.package}, channel {channel.name}",
        [_row(entry, channel, installed) for entry in channel.newest_first()],
        list(updates(channel)),
        deprecated=channel.deprecated or deprecated,
    )


def listed(names: Collection[str], most: int = 4) -> str:
    """Some names, and how many more there are."""
    first = ", ".join(list(names)[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"


def _row(entry: GraphEntry, channel: GraphChannel, installed: str) -> Row:
    found = {
        "head": entry.name in channel.heads,
        "installed": entry.name == installed,
        "deprecated": entry.deprecated,
    }
    version = str(entry.version)
    return Row(
        entry.name,
        "" if version in entry.name else version,
        tuple(mark for mark, holds in found.items() if holds),
        _steps(entry),
    )


def _steps(entry: GraphEntry) -> str:
    parts = [f"replaces {entry.replaces}"] if entry.replaces else []
    if entry.skips:
        parts.append(f"skips {listed(entry.skips)}")
    if entry.skip_range:
        parts.append(f"skipRange {entry.skip_range}")
    return "; ".join(parts)
