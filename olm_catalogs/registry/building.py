"""From the records of a catalog to its index and the messages of its bundles. Pure."""

import re
from collections.abc import Iterable, Mapping

from olm_catalogs.registry.bundles import Served, served
from olm_catalogs.registry.index import Channel, Package, ServedEntry
from olm_catalogs.validate.faults import Fault, Group
from olm_content.fbc.chain import head
from olm_content.fbc.records import Record, channel_of, deprecations_of
from olm_content.names import BUNDLE, CHANNEL, PACKAGE
from olm_runtime.errors import TerminalError

META_WORD = re.compile(r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$")
"""What schema and package of other records than OLM's may be named."""

Built = tuple[Package, list[Served]]
"""A package, and the messages of its bundles by their number."""


def refuse(faults: Iterable[Fault]) -> None:
    """Raises TerminalError with all faults, if there are any."""
    texts = [str(fault) for fault in sorted(faults, key=lambda fault: fault.place)]
    if texts:
        raise TerminalError(
            "\n".join(("the catalog cannot be served:", *texts)),
            hint="correct what `opm validate` tells of it",
        )


def check_meta(each: Record) -> None:
    """Raises TerminalError for a record of another schema that nobody could ask for."""
    for what, word in (("schema", each.schema), ("package", each.package)):
        if word and not META_WORD.match(word):
            raise TerminalError(f'{each.place}: {what} "{word}" must match {META_WORD.pattern}')


def build(group: Group, *, first: int) -> Built:
    """The package, and its bundles' messages, numbered from `first`. Raises TerminalError."""
    package = group.packages[0]
    deprecated = _deprecations(group)
    bundles = [served(each, package, deprecated.get((BUNDLE, each.name))) for each in group.bundles]
    numbers = {each.name: number for number, each in enumerate(group.bundles)}
    channels = {}
    for each in sorted(group.channels, key=lambda each: each.name):
        channel, listed = channel_of(each), {}
        for entry in sorted(channel.entries, key=lambda entry: entry.name):
            number = numbers[entry.name]
            listed[entry.name] = ServedEntry(
                entry.name,
                entry.replaces,
                entry.skips,
                entry.skip_range,
                group.name,
                channel.name,
                first + number,
                bundles[number].provides,
            )
        deprecation = deprecated.get((CHANNEL, channel.name))
        channels[channel.name] = Channel(channel.name, head(channel), listed, deprecation)
    default = package.value["defaultChannel"]
    return Package(group.name, default, channels, deprecated.get((PACKAGE, ""))), bundles


def _deprecations(group: Group) -> Mapping[tuple[str, str], str]:
    """The message by schema and name of what is deprecated."""
    return {
        (each.schema, each.name): each.message
        for blob in group.deprecations
        for each in deprecations_of(blob)
    }
