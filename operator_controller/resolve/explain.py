"""Findings as text. Decides nothing."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from olm_content.fbc.model import Edge
from olm_runtime.plurals import counted
from operator_controller.resolve.findings import (
    Cause,
    Findings,
    Note,
    NoteKind,
    Reason,
    Rival,
)
from operator_controller.resolve.request import Request

MAX_NAMED = 3
"""Names of a list that are printed; the rest is counted."""


def sentence(cause: Cause, request: Request) -> str:
    """The reason for one bundle or catalog: a clause without its name and without a full stop."""
    return _SENTENCES[cause.reason].format_map(_facts(cause, request))


def note_text(note: Note) -> str:
    """A note as one clause."""
    return _NOTE_TEXTS[note.kind](note)


def summary(findings: Findings) -> str:
    """How many bundles were considered, and how many of each reason, on one line."""
    if not findings.considered:
        return "no bundle of the package was found in the catalogs considered"
    bundles = counted(findings.considered, "bundle")
    parts = (f"{count} {_TALLY[reason]}" for reason, count in findings.tally().items())
    return f"considered {bundles}: {', '.join(parts)}"


_SENTENCES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.CHOSEN: "chosen",
        Reason.NOT_IN_CHANNEL: "it is in {channels}, not in {wanted_channels}",
        Reason.VERSION_UNREADABLE: "its version cannot be read: {detail}",
        Reason.OUT_OF_RANGE: "its version is not in the range {range}",
        Reason.PRERELEASE_EXCLUDED: (
            "it is a prerelease, and the range {range} names none; "
            "a range that does, such as >=1.0.0-0, takes prereleases too"
        ),
        Reason.NOT_A_SUCCESSOR: "it is no successor of {installed}: {edges}",
        Reason.LOWER_VERSION: "{rival} {rival_is_ahead}",
        Reason.DEPRECATED_BEHIND: "it is deprecated, and {rival} is not",
        Reason.LOWER_PRIORITY: "catalog {rival_catalog} has a higher priority",
        Reason.AMBIGUOUS: (
            "another catalog offers the package just as well; select one of them with "
            "spec.source.catalog.selector, or give the catalogs different priorities"
        ),
        Reason.UNSUPPORTED_DEPENDENCY: (
            "it would be chosen, but its dependency ({detail}) is not supported"
        ),
        Reason.CATALOG_NOT_SELECTED: "the selector does not select it",
        Reason.CATALOG_UNAVAILABLE: "its content is not known: {detail}",
        Reason.PACKAGE_ABSENT: "it does not have the package {package}",
    }
)


def _facts(cause: Cause, request: Request) -> dict[str, str]:
    """The values that the sentences may use."""
    rival = cause.rival or Rival("", "another bundle", "")
    same = rival.version == cause.version
    return {
        "channels": _some(cause.channels) or "no channel",
        "detail": cause.detail,
        "edges": _edges(cause.edges),
        "installed": request.installed.name if request.installed else "what is installed",
        "package": request.desired.package_name,
        "range": request.desired.version,
        "rival": rival.bundle,
        "rival_catalog": rival.catalog,
        "rival_is_ahead": "has the same version and comes first"
        if same
        else f"has the higher version {rival.version}",
        "wanted_channels": " or ".join(request.desired.channels),
    }


def _edges(edges: Sequence[Edge]) -> str:
    """What a bundle does follow, channel by channel."""
    if not edges:
        return "no channel that counts has it"
    return "; ".join(map(_edge, edges[:MAX_NAMED])) + _more(len(edges))


def _edge(edge: Edge) -> str:
    entry = edge.entry
    facts = [
        f"replaces {entry.replaces}" if entry.replaces else "",
        f"skips {_some(entry.skips)}" if entry.skips else "",
        f"skips the range {entry.skip_range}" if entry.skip_range else "",
    ]
    text = " and ".join(filter(None, facts)) or "follows nothing"
    return f"in channel {edge.channel} it {text}"


_NOTE_TEXTS: Mapping[NoteKind, Callable[[Note], str]] = MappingProxyType(
    {
        NoteKind.UNREADABLE_SKIP_RANGE: lambda note: (
            f"the skipRange of {note.bundle} in channel {note.channel} of catalog {note.catalog} "
            f"cannot be read and counts for nothing: {note.detail}"
        ),
        NoteKind.PRERELEASE_WITHOUT_RANGE: lambda note: (
            f"{note.bundle} is a prerelease; no version range is given, and only a range keeps "
            "prereleases out, such as >=0"
        ),
        NoteKind.INCOMPLETE_VIEW: lambda note: (
            f"catalog {note.catalog} could not be asked ({note.detail}); "
            "what it offers may change the choice"
        ),
    }
)

_TALLY: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.CHOSEN: "chosen",
        Reason.NOT_IN_CHANNEL: "not in the channels",
        Reason.VERSION_UNREADABLE: "without readable version",
        Reason.OUT_OF_RANGE: "out of range",
        Reason.PRERELEASE_EXCLUDED: "excluded as prerelease",
        Reason.NOT_A_SUCCESSOR: "no successor of what is installed",
        Reason.LOWER_VERSION: "of lower version",
        Reason.DEPRECATED_BEHIND: "deprecated",
        Reason.LOWER_PRIORITY: "in a catalog of lower priority",
        Reason.AMBIGUOUS: "ambiguous",
        Reason.UNSUPPORTED_DEPENDENCY: "with an unsupported dependency",
    }
)


def _some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    return ", ".join(names[:MAX_NAMED]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - MAX_NAMED} more" if count > MAX_NAMED else ""
