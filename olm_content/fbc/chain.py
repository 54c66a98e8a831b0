"""What a valid channel has: one head, and a chain of `replaces` that leads over all of it. Pure."""

from olm_content.fbc.model import Channel


class ChainError(ValueError):
    """A channel without one head that leads over all of it."""


def head(channel: Channel) -> str:
    """The entry that no other replaces or skips. Raises ChainError unless there is exactly one."""
    heads = sorted(set(channel.heads))
    if not heads:
        raise ChainError("no channel head found in graph")
    if len(heads) > 1:
        raise ChainError(f"multiple channel heads found in graph: {', '.join(heads)}")
    return heads[0]


def check_chain(channel: Channel) -> None:
    """Whether the replaces chain from the head reaches every entry that nothing skips.

    The last of the chain may replace what is not there. Raises ChainError.
    """
    entries = {entry.name: entry for entry in channel.entries}
    skipped = {skip for entry in channel.entries for skip in entry.skips}
    current = head(channel)
    chain = {current: None}  # a dict, to keep the order
    while current in entries:
        replaced = entries[current].replaces
        if replaced in skipped:
            break
        if replaced in chain:
            names = list(chain)
            cycle = [*names[names.index(replaced) :], replaced]
            raise ChainError(
                f"detected cycle in replaces chain of upgrade graph: {' -> '.join(cycle)}"
            )
        chain[replaced] = None
        current = replaced
    stranded = sorted(entries.keys() - chain.keys() - skipped)
    if stranded:
        raise ChainError(f"channel contains one or more stranded bundles: {', '.join(stranded)}")
