"""What a check finds, and what a person can do about it. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from api.objects import ObjectKey
from olm_client.diagnosis.facts import Fact, Lack, Snapshot

PAGE = "docs/reference/olm-doctor.md"


class Severity(StrEnum):
    """How bad a finding is, worst first."""

    ERROR = "error"
    WARNING = "warning"
    UNKNOWN = "unknown"
    OK = "ok"

    @property
    def colour(self) -> str:
        """For terminals."""
        return _COLOURS[self]


_COLOURS = {
    Severity.ERROR: "red",
    Severity.WARNING: "yellow",
    Severity.UNKNOWN: "magenta",
    Severity.OK: "green",
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way to mend it: commands that are run one after the other, and what they do.

    `loses` says what is lost for good; empty if nothing is.
    """

    effect: str
    commands: tuple[str, ...]
    loses: str = ""

    def facts(self) -> dict[str, Any]:
        """As data."""
        loses = {"loses": self.loses} if self.loses else {}
        return {"effect": self.effect, "commands": [*self.commands], **loses}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be, or could not be looked at.

    `subject`: the object, if it is one. `why`: what leads to it. `remedies`: any one of them.
    """

    severity: Severity
    message: str
    subject: ObjectKey | None = None
    why: str = ""
    remedies: tuple[Remedy, ...] = ()

    def facts(self, check: "Check") -> dict[str, Any]:
        """As data."""
        key = self.subject
        about = key and {
            "apiVersion": key.gvk.api_version,
            "kind": key.gvk.kind,
            "namespace": key.namespace,
            "name": key.name,
        }
        return {
            "check": check.name,
            "severity": self.severity.value,
            "object": about,
            "message": self.message,
            "why": self.why,
            "remedies": [each.facts() for each in self.remedies],
            "docs": check.docs,
        }


Look = Callable[[Snapshot], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Check:
    """A check: which facts it needs, which it merely uses, and what it finds in them.

    `well` says in a line what is as it should be, where nothing is found. Without all that it
    `needs` it is not made; without what it `uses` it is made, and says that it saw less.
    """

    name: str
    group: str
    summary: str
    look: Look
    well: Callable[[Snapshot], str]
    needs: tuple[Fact, ...] = ()
    uses: tuple[Fact, ...] = ()

    @property
    def docs(self) -> str:
        """The section of the page that is about it."""
        return f"{PAGE}#{self.name}"

    @property
    def reads(self) -> tuple[Fact, ...]:
        """All facts that it looks at."""
        return (*self.needs, *self.uses)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found; `well` is empty unless nothing was."""

    check: Check
    findings: Sequence[Finding] = field(default_factory=tuple)
    well: str = ""

    @property
    def severity(self) -> Severity:
        """The worst that was found."""
        order = list(Severity)
        return min((each.severity for each in self.findings), key=order.index, default=Severity.OK)

    def facts(self) -> dict[str, Any]:
        """As data, without the findings."""
        return {
            "name": self.check.name,
            "group": self.check.group,
            "severity": self.severity.value,
            **({"message": self.well} if self.well else {}),
        }


def examine(checks: Iterable[Check], snapshot: Snapshot) -> list[Verdict]:
    """The verdicts, in the order of the checks."""
    return [_verdict(check, snapshot) for check in checks]


def _verdict(check: Check, snapshot: Snapshot) -> Verdict:
    unknown = [_unknown(lack) for fact in check.reads for lack in snapshot.lacks.get(fact, ())]
    seen = not any(snapshot.lacks.get(fact) for fact in check.needs)
    found = [*(check.look(snapshot) if seen else ()), *dict.fromkeys(unknown)]
    return Verdict(check, found, "" if found else check.well(snapshot))


def _unknown(lack: Lack) -> Finding:
    return Finding(Severity.UNKNOWN, lack.message, why=lack.why)


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0: nothing is wrong. 1: there are errors. 2: there are none, but not all could be seen."""
    found = {finding.severity for verdict in verdicts for finding in verdict.findings}
    if Severity.ERROR in found:
        return 1
    return 2 if Severity.UNKNOWN in found else 0
