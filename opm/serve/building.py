"""From the records of a catalog to its index and what is told of its bundles. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_content.fbc.catalog import Record
from olm_content.names import BUNDLE, CHANNEL, PACKAGE
from olm_runtime.errors import TerminalError
from opm.serve.bundles import Served, served
from opm.serve.index import Channel, Entry, Package
from opm.validate import check
from opm.validate.channels import head
from opm.validate.faults import Group, entries, groups

META_WORD = re.compile(r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$")
"""What schema and package of other records than OLM's may be named."""

Built = tuple[Package, list[Served]]
"""A package, and what is told of its bundles by their number."""


def refuse_faults(records: Iterable[Record]) -> None:
    """Raises TerminalError for a catalog that `opm validate` would refuse, with every fault."""
    faults = [str(fault) for fault in check(records) if not fault.warning]
    if faults:
        raise TerminalError(
            "\n".join(("the catalog cannot be served:", *faults)),
            hint="correct what `opm validate` tells of it",
        )


def build(records: Iterable[Record]) -> Iterator[Built]:
    """The packages by name; bundles are numbered on from one to the next. Raises TerminalError."""
    first = 0
    for group in groups(records):
        package, told = _package(group, first)
        first += len(told)
        yield package, told


def check_meta(each: Record) -> None:
    """Raises TerminalError for a record of another schema that nobody could ask for."""
    for what, word in (("schema", each.schema), ("package", each.package)):
        if word and not META_WORD.match(word):
            raise TerminalError(f'{each.place}: {what} "{word}" must match {META_WORD.pattern}')


def _package(group: Group, first: int) -> Built:
    package = group.packages[0]
    gone = _deprecations(group)
    told = [served(each, package, gone.get((BUNDLE, each.name))) for each in group.bundles]
    numbers = {each.name: number for number, each in enumerate(group.bundles)}
    channels = {}
    for channel in sorted(group.channels, key=lambda each: each.name):
        listed = {}
        for entry in sorted(entries(channel), key=lambda each: each["name"]):
            number = numbers[entry["name"]]
            provides = told[number].provides
            listed[entry["name"]] = Entry(
                group.name,
                channel.name,
                entry["name"],
                first + number,
                entry.get("replaces", ""),
                tuple(entry.get("skips", ())),
                entry.get("skipRange", ""),
                provides,
            )
        leader = head({entry["name"]: entry for entry in entries(channel)})
        channels[channel.name] = Channel(
            channel.name, leader, listed, gone.get((CHANNEL, channel.name))
        )
    default = package.value["defaultChannel"]
    return Package(group.name, default, channels, gone.get((PACKAGE, ""))), told


def _deprecations(group: Group) -> Mapping[tuple[str, str], str]:
    """The message by schema and name of what is deprecated."""
    return {
        _reference(entry): entry["message"]
        for blob in group.deprecations
        for entry in blob.value["entries"] or ()
    }


def _reference(entry: Mapping[str, Any]) -> tuple[str, str]:
    reference = entry["reference"]
    return reference["schema"], reference.get("name", "")
