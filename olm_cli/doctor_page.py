"""The verdicts as a page for people: what is wrong first, what is well in a line for each check."""

from collections.abc import Iterator, Sequence

import click

from olm_client.diagnosis.findings import Check, Finding, Remedy, Severity, Verdict
from olm_runtime.cli.display import wrapped

_INDENT = "         "
_ORDER = list(Severity)


def page_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Findings, worst first; then what is well, by groups; then the sum."""
    for verdict, finding in _findings(verdicts):
        yield from _finding_lines(verdict.check, finding)
        yield ""
    yield from _well_lines(verdicts)
    yield ""
    yield _sum(verdicts)


def _findings(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, Finding]]:
    found = [(verdict, finding) for verdict in verdicts for finding in verdict.findings]
    return sorted(found, key=lambda pair: _ORDER.index(pair[1].severity))


def _finding_lines(check: Check, finding: Finding) -> Iterator[str]:
    severity = click.style(f"{finding.severity.value:7}", fg=finding.severity.colour, bold=True)
    first, *rest = wrapped(finding.message, _INDENT)
    yield f"{severity}  {click.style(first, bold=True)}"
    yield from rest
    if finding.why:
        yield from _paragraph("why", finding.why)
    for number, remedy in enumerate(finding.remedies):
        yield from _remedy_lines("do" if number == 0 else "or", remedy)
    yield f"{_INDENT}see  {check.docs}"


def _paragraph(title: str, text: str) -> Iterator[str]:
    indent = f"{_INDENT}     "
    first, *rest = wrapped(text, indent)
    yield f"{_INDENT}{title:3}  {first}"
    yield from (line if line.startswith(" ") else f"{indent}{line}" for line in rest)


def _remedy_lines(title: str, remedy: Remedy) -> Iterator[str]:
    loses = f" ({remedy.loses})" if remedy.loses else ""
    yield from _paragraph(title, f"{remedy.effect}{loses}")
    # Commands are never wrapped: they are to be copied.
    yield from (f"{_INDENT}     {click.style(f'$ {each}', fg='cyan')}" for each in remedy.commands)


def _well_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    width = max((len(verdict.check.name) for verdict in verdicts), default=0)
    for group in dict.fromkeys(verdict.check.group for verdict in verdicts):
        yield click.style(group, bold=True)
        for verdict in (each for each in verdicts if each.check.group == group):
            severity = verdict.severity
            mark = click.style(f"{severity.value:7}", fg=severity.colour)
            text, *rest = wrapped(_line(verdict), " " * (13 + width))
            yield f"  {mark}  {verdict.check.name:{width}}  {text}"
            yield from rest


def _line(verdict: Verdict) -> str:
    if not verdict.findings:
        return verdict.well
    return _counted({each: _count(verdict, each) for each in Severity})


def _count(verdict: Verdict, severity: Severity) -> int:
    return sum(finding.severity is severity for finding in verdict.findings)


def _counted(counts: dict[Severity, int]) -> str:
    words = {
        Severity.ERROR: ("error", "errors"),
        Severity.WARNING: ("warning", "warnings"),
        Severity.UNKNOWN: ("thing that could not be seen", "things that could not be seen"),
    }
    return ", ".join(
        f"{counts[each]} {one if counts[each] == 1 else many}"
        for each, (one, many) in words.items()
        if counts.get(each)
    )


def _sum(verdicts: Sequence[Verdict]) -> str:
    counts = {each: sum(_count(verdict, each) for verdict in verdicts) for each in Severity}
    found = _counted(counts)
    worst = min((v.severity for v in verdicts), key=_ORDER.index, default=Severity.OK)
    checks = "1 check" if len(verdicts) == 1 else f"{len(verdicts)} checks"
    text = f"{checks}: {found or 'nothing is wrong'}"
    return click.style(text, fg=worst.colour, bold=True)
