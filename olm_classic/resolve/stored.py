"""Entries as rows of JSON, for files and between processes. Pure."""

from collections.abc import Sequence
from typing import Any

from olm_classic.resolve.entries import Entry, Property, SourceKey, tolerant_version

Row = list[Any]
"""All of an entry but its source, its default channel and its properties."""


def row_of(entry: Entry) -> Row:
    """The row of an entry."""
    return [
        entry.name,
        entry.package,
        entry.channel,
        entry.replaces,
        list(entry.skips),
        entry.skip_range,
        str(entry.version) if entry.version else "",
        entry.image,
    ]


def entry_of_row(
    row: Sequence[Any], key: SourceKey, default_channel: str, properties: Sequence[Property]
) -> Entry:
    """The entry of a row."""
    name, package, channel, replaces, skips, skip_range, version, image = row
    return Entry(
        name,
        key,
        package,
        channel,
        replaces,
        tuple(skips),
        skip_range,
        tolerant_version(version) if version else None,
        image,
        default_channel,
        tuple(properties),
    )
