"""What `olm crd check` prints: a table for people, JSON or YAML for programs."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from api.objects import KubeObject
from olm_content.crds import Finding
from olm_content.crds.stored import Examined

Definitions = dict[str, KubeObject]
"""By name, in the API's shapes."""


class ServedChange(NamedTuple):
    """A version that clients can use no longer, or newly."""

    crd: str
    version: str
    served: bool


class Comparison(NamedTuple):
    """What became of the definitions of OLD in NEW; the lists of text hold names."""

    findings: tuple[Finding, ...]
    compared: list[str]
    added: list[str]
    removed: list[str]
    served: tuple[ServedChange, ...] = ()
    stored: tuple[Examined, ...] = ()


def as_json(found: Comparison) -> dict[str, Any]:
    """The fields are those of the classes, in the spelling of JSON."""
    return {
        "safe": not found.findings,
        "findings": [
            {
                "crd": finding.crd,
                "validator": finding.validator.value,
                "version": finding.version,
                "field": finding.field,
                "problem": finding.problem,
                "message": finding.line,
            }
            for finding in found.findings
        ],
        "compared": found.compared,
        "added": found.added,
        "removed": found.removed,
        "servedVersions": [
            {"crd": change.crd, "version": change.version, "served": change.served}
            for change in found.served
        ],
        "storedObjects": [_stored_as_json(examined) for examined in found.stored],
    }


def _stored_as_json(examined: Examined) -> dict[str, Any]:
    return {
        "crd": examined.crd,
        "version": examined.version,
        "checked": examined.checked,
        "total": examined.total,
        "invalid": examined.invalid,
        "losingFields": examined.losing,
        "stopped": examined.stopped,
        "examples": [
            {
                "name": example.name,
                "field": example.fault.field,
                "reason": example.fault.reason,
                "detail": example.fault.detail,
            }
            for example in examined.examples
        ],
    }


def as_text(found: Comparison) -> Iterator[str]:
    """A table for each unsafe definition, then what else there is to know, a line each."""
    unsafe = list(dict.fromkeys(finding.crd for finding in found.findings))
    for name in unsafe:
        rows = [
            (finding.version or "-", finding.field or "-", finding.problem)
            for finding in found.findings
            if finding.crd == name
        ]
        yield f"{name}: unsafe"
        yield from _table([("VERSION", "FIELD", "PROBLEM"), *rows])
        yield ""
    for examined in found.stored:
        yield from _stored(examined)
    for change in found.served:
        state = "newly served" if change.served else "no longer served"
        yield f"{change.crd}: version {change.version} is {state}"
    for name in found.added:
        yield f"{name}: new, nothing to compare"
    for name in found.removed:
        yield f"{name}: not in NEW; an update removes it, unless objects are stored of it"
    yield f"{len(found.compared)} compared, {len(unsafe)} unsafe"


def _stored(examined: Examined) -> Iterator[str]:
    yield examined.line
    for example in examined.examples:
        if example.fault.detail:
            yield f"  {example.name}: {example.fault.field}: {example.fault.detail}"


def _table(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    rows = list(rows)
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for row in rows:
        yield f"  {row[0]:{first}}  {row[1]:{second}}  {row[2]}"
