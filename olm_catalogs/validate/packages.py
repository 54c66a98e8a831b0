"""Rules of packages and of what their deprecations refer to."""

import re
from collections.abc import Iterator

from olm_catalogs.validate.faults import Fault, Group, bundle_names
from olm_content import names
from olm_content.fbc.model import Deprecation
from olm_content.fbc.records import Record, deprecations_of
from olm_content.formats.go_text import quote

MAX_NAME_LENGTH = 63
_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def check_package(group: Group) -> Iterator[Fault]:
    """The faults of the package's own blob: that there is one, its name, its default channel."""
    if not group.name:
        for each in [*group.packages, *group.channels, *group.bundles, *group.deprecations]:
            missing = "name" if each.schema == names.PACKAGE else "package"
            yield Fault(each.place, f'{each.schema} "{each.name}"', f"{missing} must be set")
        return
    if not group.packages:
        for each in [*group.channels, *group.bundles, *group.deprecations]:
            subject = f'{each.schema} "{each.name}"' if each.name else each.schema
            yield Fault(each.place, subject, f"unknown package {quote(group.name)}")
        return
    for duplicate in group.packages[1:]:
        yield Fault(duplicate.place, group.subject, "duplicate package")
    package = group.packages[0]
    for message in _faults(package, group):
        yield Fault(package.place, group.subject, message)


def _faults(package: Record, group: Group) -> Iterator[str]:
    if len(group.name) > MAX_NAME_LENGTH or not _DNS_LABEL.fullmatch(group.name):
        yield (
            "invalid package name: it must be a DNS label: at most 63 lower-case letters, digits "
            "and hyphens, with a letter or digit at both ends"
        )
    default = package.value["defaultChannel"]
    if not default:
        yield "default channel must be set"
    elif group.channels and default not in {channel.name for channel in group.channels}:
        yield f"default channel {quote(default)} not found in channels list"


def check_deprecations(group: Group) -> Iterator[Fault]:
    """The faults of the package's deprecations."""
    for duplicate in group.deprecations[1:]:
        message = "expected a maximum of one deprecation per package"
        yield Fault(duplicate.place, group.subject, message)
    for each in group.deprecations:
        seen: set[tuple[str, str]] = set()
        for index, entry in enumerate(deprecations_of(each)):
            key = (entry.schema, entry.name)
            for message in _entry_faults(entry, group):
                yield Fault(each.place, f"{group.subject}, deprecation entry [{index}]", message)
            if key in seen:
                message = f"duplicate entry for {key[0]} {quote(key[1])}"
                yield Fault(each.place, group.subject, message)
            seen.add(key)


def _entry_faults(entry: Deprecation, group: Group) -> Iterator[str]:
    name = entry.name
    if not entry.message:
        yield "message must be set"
    match entry.schema:
        case names.PACKAGE:
            if name:
                yield f"a deprecated package must not be named, found name {quote(name)}"
        case names.CHANNEL:
            if name not in {channel.name for channel in group.channels}:
                yield f"cannot deprecate channel {quote(name)}: channel not found"
        case names.BUNDLE:
            if name not in bundle_names(group):
                yield f"cannot deprecate bundle {quote(name)}: bundle not found"
        case "":
            yield "schema must be set"
        case _:
            yield f"cannot deprecate an object of schema {quote(entry.schema)}"
