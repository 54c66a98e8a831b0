"""The order of preference: inside a channel, among channels, among catalogs."""

from collections.abc import Callable, Iterable

from olm_classic.resolve.entries import Entry, SourceKey
from olm_classic.resolve.errors import ResolutionError
from olm_content.formats.go_text import quote

Rank = Callable[[SourceKey], tuple[object, ...]]
"""A key that sorts catalogs, preferred first."""


def by_channel(entries: Iterable[Entry]) -> list[Entry]:
    """The default channel first, then channels by name; inside a channel as `chain`."""
    channels: dict[tuple[bool, str], list[Entry]] = {}
    for entry in entries:
        channels.setdefault((not entry.in_default_channel, entry.channel), []).append(entry)
    return [entry for key in sorted(channels) for entry in chain(channels[key])]


def by_source(entries: Iterable[Entry], rank: Rank) -> list[Entry]:
    """Catalogs by rank; inside each, default channels, then packages and channels by name."""
    channels: dict[tuple[object, ...], list[Entry]] = {}
    for entry in entries:
        place = (not entry.in_default_channel, entry.package, entry.channel)
        channels.setdefault((*rank(entry.source), entry.source, *place), []).append(entry)
    return [entry for key in sorted(channels) for entry in chain(channels[key])]


def chain(channel: list[Entry]) -> list[Entry]:
    """The entries of one channel from its head along `replaces`; skipped ones are left out.

    Raises ResolutionError unless exactly one chain leads through it.
    """
    if not channel or channel[0].source.virtual:
        return sorted(channel, key=lambda entry: entry.name)
    names = {entry.name: entry for entry in sorted(channel, key=lambda entry: entry.id)}
    skipped = {skip for entry in channel for skip in entry.skips if skip in names}
    replaced = {entry.replaces for entry in channel}
    first = channel[0]
    where = f"channel {quote(first.channel)} of package {quote(first.package)}"
    heads = sorted(names.keys() - replaced - skipped)
    if not heads:
        raise ResolutionError(
            f"no channel heads (entries not replaced by another entry) found in {where}"
        )
    chains = [_walk(names, head, skipped, where) for head in heads]
    if len(chains) == 1:
        return chains[0]
    shown = ", ".join(
        f"{each[0].name}...{each[-1].name}" if len(each) > 1 else each[0].name for each in chains
    )
    raise ResolutionError(
        "a unique replacement chain within a channel is required to determine the relative order "
        f"between channel entries, but {len(chains)} replacement chains were found in {where}: "
        f"{shown}"
    )


def _walk(names: dict[str, Entry], head: str, skipped: set[str], where: str) -> list[Entry]:
    found, seen, current = [], set[str](), head
    while current in names:
        if current in seen:
            raise ResolutionError(
                "a cycle exists in the chain of replacement beginning with "
                f"{quote(head)} in {where}"
            )
        seen.add(current)
        if current not in skipped:
            found.append(names[current])
        current = names[current].replaces
    return found
