"""What `olm resolve` prints: the choice and its reasons, as text and as data."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from olm_content.versions import parse_bundle_version
from operator_controller.resolve import (
    Cause,
    Findings,
    Reason,
    Request,
    Resolution,
    ResolutionError,
)
from operator_controller.resolve.change import Change, NoChange
from operator_controller.resolve.change_text import sentence as sentence_of_advice
from operator_controller.resolve.deprecation import concerning
from operator_controller.resolve.explain import note_text, sentence, summary

Outcome = Resolution | ResolutionError


def facts(outcome: Outcome) -> dict[str, Any]:
    """The choice, or the error, as a batch answers it."""
    if isinstance(outcome, ResolutionError):
        return {"error": outcome.message}
    return {
        "bundle": outcome.bundle,
        "version": str(outcome.version),
        "image": outcome.image,
        "catalog": outcome.catalog,
    }


def explanation(
    outcome: Outcome, request: Request, advice: Change | NoChange | None
) -> dict[str, Any]:
    """The findings as data, each with its sentence, and what to change if nothing was chosen."""
    findings = outcome.findings
    return {
        "explanation": {
            "considered": findings.considered,
            "summary": summary(findings),
            "causes": [
                {
                    "catalog": cause.catalog,
                    "bundle": cause.bundle,
                    "version": cause.version,
                    "reason": cause.reason.value,
                    "message": sentence(cause, request),
                }
                for cause in findings.causes
            ],
            "notes": [
                {"kind": note.kind.value, "catalog": note.catalog, "message": note_text(note)}
                for note in findings.notes
            ],
            **({"advice": suggestion(advice)} if advice else {}),
        }
    }


def suggestion(advice: Change | NoChange) -> dict[str, Any]:
    """What to change as data: a merge patch and what it gives, or why nothing helps."""
    message = {"message": sentence_of_advice(advice)}
    if isinstance(advice, NoChange):
        return {"reason": advice.value, **message}
    gives = {"bundle": advice.bundle, "version": advice.version, "catalog": advice.catalog}
    return {"patch": advice.patch(), "gives": gives, **message}


def lines(outcome: Outcome, request: Request, *, explain: bool) -> Iterator[str]:
    """The lines of text. The error itself is printed by the shell."""
    if isinstance(outcome, Resolution):
        yield f"{outcome.bundle}"
        yield f"  version  {outcome.version}"
        yield f"  image    {outcome.image}"
        yield f"  catalog  {outcome.catalog}"
        messages = concerning(
            outcome.deprecations, channels=request.desired.channels, bundle=outcome.bundle
        )
        yield from (f"deprecated: {message}" for message in messages.all)
    yield from (f"note: {note_text(note)}" for note in outcome.findings.notes)
    if explain:
        yield from reasons(outcome.findings, request)


def reasons(findings: Findings, request: Request) -> Iterator[str]:
    """The reason of each bundle, catalog by catalog, after how many there are of each."""
    yield summary(findings)
    width = max((len(cause.bundle) for cause in findings.causes), default=0)
    in_order = _in_reading_order(findings.causes)
    for catalog, causes in groupby(in_order, key=lambda cause: cause.catalog):
        yield f"in catalog {catalog}"
        for cause in causes:
            yield _line(cause, request, width)


def _in_reading_order(causes: Iterable[Cause]) -> list[Cause]:
    """Catalog by catalog, the chosen bundle first, then the highest version."""
    falling = sorted(causes, key=_precedence, reverse=True)
    return sorted(falling, key=lambda cause: (cause.catalog, cause.reason is not Reason.CHOSEN))


def _precedence(cause: Cause) -> tuple[object, ...]:
    return (True, parse_bundle_version(cause.version).key) if cause.version else (False,)


def _line(cause: Cause, request: Request, width: int) -> str:
    return f"  {cause.bundle.ljust(width)}  {sentence(cause, request)}".rstrip()
