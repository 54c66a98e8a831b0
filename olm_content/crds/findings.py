"""What the check says: one finding per prohibited change, in the documents' words."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from olm_content.bounded_lines import MAX_MESSAGE_BYTES, joined
from olm_content.formats.go_text import quote


class Validator(StrEnum):
    """Who found it, worst first; the names are the documents', but for those of `going`."""

    OBJECT_REMOVED = "NoStoredObjectRemoved"
    SCOPE = "NoScopeChange"
    STORED_VERSION = "NoStoredVersionRemoved"
    STORED_VERSION_UNSERVED = "NoStoredVersionUnserved"
    FIELD_REMOVED = "NoExistingFieldRemoved"
    CHANGE = "ChangeValidator"
    SERVED_VERSION = "ServedVersionValidator"


SEVERITY: Mapping[Validator, int] = MappingProxyType(
    {validator: rank for rank, validator in enumerate(Validator)}
)


PAIR = " -> "
"""Between the names of two served versions."""


class Finding(NamedTuple):
    """One change that is not safe.

    `version` is a version's name, `older -> newer` for a pair of served versions, or empty;
    `field` is the path of a schema node (`^` is the root) or empty; `problem` is what is wrong
    there.
    """

    crd: str
    validator: Validator
    problem: str
    version: str = ""
    field: str = ""

    @property
    def message(self) -> str:
        """Where and what, in the words of the validator (documents, 1.18)."""
        match self.validator:
            case Validator.FIELD_REMOVED:
                return f"crd/{self.crd} version/{self.version} field/{self.field} {self.problem}"
            case Validator.CHANGE:
                where = f"version {quote(self.version)}"
            case Validator.SERVED_VERSION:
                older, _, newer = self.version.partition(PAIR)
                where = f"version upgrade {quote(older)} to {quote(newer)}"
            case _:
                return self.problem
        return f"{where}, field {quote(self.field)}: {self.problem}"

    @property
    def line(self) -> str:
        """The finding as conditions and logs show it (documents, 1.18)."""
        return (
            f"validating upgrade for CRD {quote(self.crd)} failed: "
            f"CustomResourceDefinition {self.crd} failed upgrade safety validation. "
            f'"{self.validator}" validation failed: {self.message}'
        )

    @property
    def order(self) -> tuple[int, str, str, str, str]:
        """Sort key: worst first, then by what it is about."""
        return SEVERITY[self.validator], self.crd, self.version, self.field, self.problem


SWITCH_OFF = (
    "stored objects may break or be deleted, and so may their clients; to update all the same, set "
    "spec.install.preflight.crdUpgradeSafety.enforcement to None"
)
"""What to do about a refusal that nobody can follow."""


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same order whatever order they were found in."""
    return tuple(sorted(findings, key=lambda finding: finding.order))


def report(findings: Iterable[Finding], limit: int = MAX_MESSAGE_BYTES) -> str:
    """All findings of any number of definitions as one bounded message; empty when there are none.

    What does not fit is counted in the last line.
    """
    ordered = worst_first(findings)
    lines = (finding.line for finding in ordered)
    return joined(lines, count=len(ordered), what="findings", limit=limit)
