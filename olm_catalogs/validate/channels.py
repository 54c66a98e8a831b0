"""Rules of channels: their entries, and that one head leads over all of them."""

from collections.abc import Iterator

from olm_catalogs.validate.faults import Fault, Group, bundle_names
from olm_content.fbc.chain import ChainError, check_chain
from olm_content.fbc.model import Channel, Entry
from olm_content.fbc.records import Record, channel_of
from olm_content.ranges import RangeError, parse_skip_range


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
    listed = channel_of(channel)
    if not listed.entries:
        yield "channel must contain at least one bundle"
        return
    by_name: dict[str, Entry] = {}
    for entry in listed.entries:
        if entry.name in by_name:
            yield f'duplicate entry "{entry.name}"'
        by_name[entry.name] = entry
        yield from _entry_faults(entry)
    missing = sorted(by_name.keys() - bundle_names(group))
    if missing:
        yield f"no olm.bundle blobs found for channel entries {', '.join(missing)}"
    try:
        check_chain(Channel(channel.name, tuple(by_name.values())))
    except ChainError as error:
        yield str(error)


def _entry_faults(entry: Entry) -> Iterator[str]:
    for index, skip in enumerate(entry.skips):
        if not skip:
            yield f'entry "{entry.name}": skips[{index}] is empty'
    if entry.skip_range:
        try:
            parse_skip_range(entry.skip_range)
        except RangeError as error:
            yield f'entry "{entry.name}": invalid skipRange "{entry.skip_range}": {error.message}'
