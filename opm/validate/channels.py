"""Rules of channels: their entries, and that one head leads over all of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from olm_content.fbc.catalog import Record
from olm_content.ranges import RangeError, parse_skip_range
from opm.validate.faults import Fault, Group, bundle_names, entries

Entries = Mapping[str, Mapping[str, Any]]


class GraphError(ValueError):
    """An update graph without one head that leads over all of it."""


def check_channels(group: Group) -> Iterator[Fault]:
    """The faults of all channels of a package."""
    if not group.channels:
        yield Fault(group.place, group.subject, "package must contain at least one channel")
    seen: set[str] = set()
    for channel in group.channels:
        for message in _faults(channel, group, seen):
            yield Fault(channel.place, f'{group.subject}, channel "{channel.name}"', message)
        seen.add(channel.name)


def _faults(channel: Record, group: Group, seen: set[str]) -> Iterator[str]:
    if not channel.name:
        yield "channel name must not be empty"
    if channel.name in seen:
        yield "duplicate channel"
    if not entries(channel):
        yield "channel must contain at least one bundle"
        return
    by_name: dict[str, Mapping[str, Any]] = {}
    for entry in entries(channel):
        if entry["name"] in by_name:
            yield f'duplicate entry "{entry["name"]}"'
        by_name[entry["name"]] = entry
        yield from _entry_faults(entry)
    missing = sorted(by_name.keys() - bundle_names(group))
    if missing:
        yield f"no olm.bundle blobs found for channel entries {', '.join(missing)}"
    try:
        check_chain(by_name)
    except GraphError as error:
        yield str(error)


def _entry_faults(entry: Mapping[str, Any]) -> Iterator[str]:
    name = entry["name"]
    for index, skip in enumerate(entry.get("skips", ())):
        if not skip:
            yield f'entry "{name}": skips[{index}] is empty'
    skip_range = entry.get("skipRange", "")
    if skip_range:
        try:
            parse_skip_range(skip_range)
        except RangeError as error:
            yield f'entry "{name}": invalid skipRange "{skip_range}": {error.message}'


def head(channel: Entries) -> str:
    """The entry that no other replaces or skips. Raises GraphError unless there is exactly one."""
    taken: set[str] = set()
    for entry in channel.values():
        taken.add(entry.get("replaces", ""))
        taken.update(entry.get("skips", ()))
    heads = sorted(channel.keys() - (taken - {""}))
    if not heads:
        raise GraphError("no channel head found in graph")
    if len(heads) > 1:
        raise GraphError(f"multiple channel heads found in graph: {', '.join(heads)}")
    return heads[0]


def check_chain(channel: Entries) -> None:
    """Whether the replaces chain from the head reaches every entry that nothing skips.

    The last of the chain may replace what is not there. Raises GraphError.
    """
    skipped = {skip for entry in channel.values() for skip in entry.get("skips", ())}
    current = head(channel)
    chain = [current]
    while current in channel:
        replaced = channel[current].get("replaces", "")
        if replaced in skipped:
            break
        if replaced in chain:
            cycle = [*chain[chain.index(replaced) :], replaced]
            raise GraphError(
                f"detected cycle in replaces chain of upgrade graph: {' -> '.join(cycle)}"
            )
        chain.append(replaced)
        current = replaced
    stranded = sorted(channel.keys() - set(chain) - skipped)
    if stranded:
        raise GraphError(f"channel contains one or more stranded bundles: {', '.join(stranded)}")
