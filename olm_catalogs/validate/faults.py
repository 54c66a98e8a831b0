"""A fault of a catalog, and what belongs to one package, where most of them are looked for."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from olm_content.fbc.records import Place, Record
from olm_content.names import BUNDLE, CHANNEL, PACKAGE, SCHEMAS


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong and where. `subject` names package, channel or bundle; empty for a file."""

    place: Place
    subject: str
    message: str
    warning: bool = False

    def __str__(self) -> str:
        kind = "warning: " if self.warning else ""
        return ": ".join(
            part for part in (str(self.place), kind + self.subject, self.message) if part
        )

    def to_json(self) -> dict[str, Any]:
        """For `-o json`: file, line, subject, message, severity."""
        return {
            "file": self.place.path,
            "line": self.place.line,
            "subject": self.subject,
            "message": self.message,
            "severity": "warning" if self.warning else "error",
        }


@dataclass(slots=True)
class Group:
    """All records of one package, in the order they are read; duplicates included."""

    name: str
    packages: list[Record] = field(default_factory=list)
    channels: list[Record] = field(default_factory=list)
    bundles: list[Record] = field(default_factory=list)
    deprecations: list[Record] = field(default_factory=list)

    @property
    def place(self) -> Place:
        """Where the package is declared; else where anything of it is."""
        everything = (self.packages, self.channels, self.bundles, self.deprecations)
        return next((records[0].place for records in everything if records), Place())

    @property
    def subject(self) -> str:
        """The package as faults name it."""
        return f'package "{self.name}"'

    def add(self, each: Record) -> None:
        """Takes a record of the package."""
        lists = {PACKAGE: self.packages, CHANNEL: self.channels, BUNDLE: self.bundles}
        lists.get(each.schema, self.deprecations).append(each)


def groups(records: Iterable[Record]) -> list[Group]:
    """The packages that records of OLM's schemas speak of, by name."""
    found: dict[str, Group] = {}
    for each in records:
        if each.schema in SCHEMAS:
            found.setdefault(each.package, Group(each.package)).add(each)
    return [found[name] for name in sorted(found)]


def bundle_names(group: Group) -> frozenset[str]:
    """The names of the package's bundles."""
    return frozenset(bundle.name for bundle in group.bundles)
