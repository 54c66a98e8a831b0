"""The part of an update graph that is asked for. Pure."""

from dataclasses import replace

from olm_content.fbc.graph import Graph, from_edge
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all


def part_of(whole: Graph, channel: str, oldest: str) -> Graph:
    """One channel, and what leads on from a version. Raises TerminalError for unknown ones."""
    if channel:
        names = [each.name for each in whole.channels]
        if channel not in names:
            hint = suggestion_or_all(channel, names, none="there is none")
            raise TerminalError(f'no channel "{channel}"', hint=hint)
        chosen = tuple(each for each in whole.channels if each.name == channel)
        whole = replace(whole, channels=chosen)
    return from_edge(whole, _entry(whole, oldest)) if oldest else whole


def _entry(whole: Graph, desired: str) -> str:
    """The name of the entry that a version or a name means. Raises TerminalError."""
    entries = [entry for channel in whole.channels for entry in channel.newest_first()]
    for entry in entries:
        if desired in {entry.name, str(entry.version)}:
            return entry.name
    known = ", ".join(dict.fromkeys(str(entry.version) for entry in entries)) or "none"
    raise TerminalError(f'no version "{desired}"', hint=f"versions: {known}")
