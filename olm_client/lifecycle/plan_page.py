"""What `olm plan` prints unless --details asks for all: a page. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from olm_client.lifecycle.changes import Change, value_text
from olm_client.lifecycle.instances import instances_line
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.plan_text import PURPOSES, SIGNS, by_purpose, counts_text, step, verdict
from olm_client.paint import Paint, plain
from olm_client.short_hashes import short_names
from olm_content.rights import NeededRule, Purpose
from olm_runtime.plurals import counted

WIDTH = 90
"""Characters of a list of names."""
ROWS, COLUMNS = 24, 80
"""Of a terminal, as they are where nobody made it larger."""
AROUND = 3
"""Rows for the verdict, for where to find the rest, and for the next command."""
BOUNDS = (3, 2, 1)
"""Lines of a part whose rest is counted: as many as fit. The last has a part in a line."""
NAMED = 2
"""Objects of a kind that are named; more are counted."""
DETAILS = "all of it: the same command with --details"
"""The last line, once for all plans."""


def page_lines(plan: Plan, paint: Paint = plain) -> Iterator[str]:
    """The step, what changes in numbers and names, what is in the way, and the verdict."""
    yield from summary_lines(plan, plan.obstacles, paint)
    yield verdict(plan, paint)


def summary_lines(plan: Plan, obstacles: Sequence[Obstacle], paint: Paint = plain) -> Iterator[str]:
    """The same without the verdict: as much of each part as fits onto a screen."""

    def made(shown: int, paint: Paint) -> Iterator[str]:
        yield from _body_lines(plan, paint, shown)
        yield from _obstacle_lines(obstacles, paint, shown)

    fitting = (shown for shown in BOUNDS if _rows(made(shown, plain)) <= ROWS - AROUND)
    return made(next(fitting, BOUNDS[-1]), paint)


def _rows(lines: Iterable[str]) -> int:
    return sum(max(1, ceil(len(line) / COLUMNS)) for line in lines)


def _body_lines(plan: Plan, paint: Paint, shown: int) -> Iterator[str]:
    yield paint(f"{plan.extension}: {step(plan)}", bold=True)
    if shown == 1:
        yield from _part("note", plan.notes, shown)
    else:
        yield from (f"note: {note}" for note in plan.notes)
    fields = [f"{f.path}: {value_text(f.old)} -> {value_text(f.new)}" for f in plan.spec]
    yield from _part("spec", fields, shown)
    if plan.bundle:
        yield from object_lines(plan.changes, paint)
        yield from _part("custom resources", [*map(instances_line, plan.instances)], shown)
        yield from _part("definitions", [*_definitions(plan)], shown)
        yield from _rights(plan, paint, shown)
        images = [
            *(f"{paint('+', fg='green')} {image}" for image in plan.images_added),
            *(f"{paint('-', fg='red')} {image}" for image in plan.images_removed),
        ]
        yield from _part("images", images, shown)
    if plan.deletions_unknown:
        yield f"what would be deleted is not known: {plan.deletions_unknown}"


def object_lines(changes: Sequence[Change], paint: Paint = plain) -> Iterator[str]:
    """How many objects become what; for each action which kinds, and by name where few."""
    yield f"objects: {counts_text(changes)}"
    for action, (sign, colour) in SIGNS.items():
        of_action = [each for each in changes if each.action is action]
        if of_action:
            yield f"  {paint(sign, fg=colour)} {_bounded(_kinds(of_action))}"


def _kinds(changes: Sequence[Change]) -> Iterator[str]:
    by_kind: dict[str, list[Change]] = {}
    for each in changes:
        by_kind.setdefault(each.key.gvk.kind, []).append(each)
    for kind, found in by_kind.items():
        if len(found) > NAMED:
            yield f"{len(found)} {kind}s"
            continue
        fields = sum(len(each.fields) for each in found)
        noted = f" ({counted(fields, 'field')})" if fields else ""
        yield f"{kind} {', '.join(short_names([each.key.name for each in found]))}{noted}"


def _definitions(plan: Plan) -> Iterator[str]:
    found = plan.definitions
    if found is None:
        return
    unsafe = Counter(finding.crd for finding in found.findings)
    switched_off = "" if plan.crds_enforced else ", which is not refused"
    for name, number in unsafe.items():
        yield f"{name}: unsafe, {counted(number, 'finding')}{switched_off}"
    for change in found.served:
        state = "newly served" if change.served else "no longer served"
        yield f"{change.crd}: version {change.version} is {state}"


def _rights(plan: Plan, paint: Paint, shown: int) -> Iterator[str]:
    rights = plan.rights
    if rights.unknown:
        yield f"whether the account may do this is not known: {rights.unknown}"
    for title, sign, colour, rules in (
        ("rights needed in addition", "+", "green", rights.added),
        ("rights no longer needed", "-", "red", rights.removed),
    ):
        grouped = by_purpose(rules).items()
        if shown == 1 and rules:
            parts = (f"{len(those)} {PURPOSES[purpose]}" for purpose, those in grouped)
            yield f"{title}: {counted(len(rules), 'rule')}, {', '.join(parts)}"
        elif rules:
            yield f"{title}:"
            yield from (f"  {paint(sign, fg=colour)} {_group(*each)}" for each in grouped)


def _group(purpose: Purpose, rules: Sequence[NeededRule]) -> str:
    resources = dict.fromkeys(
        text for needed in rules for text in (*_resources(needed), *needed.rule.urls)
    )
    return f"{PURPOSES[purpose]}, {counted(len(rules), 'rule')}: {_bounded(resources)}"


def _resources(needed: NeededRule) -> Iterator[str]:
    group = f".{needed.rule.group}" if needed.rule.group else ""
    return (f"{resource}{group}" for resource in sorted(needed.rule.resources))


def _obstacle_lines(obstacles: Sequence[Obstacle], paint: Paint, shown: int) -> Iterator[str]:
    """The first things that are in the way, each with what to do, and how many more there are."""
    for each in obstacles[:shown]:
        first, *rest = each.message.splitlines() or [""]
        yield paint("in the way: ", fg="red") + first
        yield from _rest(rest, shown)
        yield from (f"  hint: {hint}" for hint in each.hint.splitlines()[:shown])
    if len(obstacles) > shown:
        more = counted(len(obstacles) - shown, "thing more is", "things more are")
        yield paint(f"{more} in the way", fg="red")


def _part(title: str, lines: Sequence[str], shown: int) -> Iterator[str]:
    if shown == 1 and lines:
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield f"{title}: {lines[0]}{more}"
    elif lines:
        yield f"{title}:"
        yield from _rest([f"  {line}" for line in lines], shown)


def _rest(lines: Sequence[str], shown: int) -> Iterator[str]:
    """The first of some lines, and how many more there are."""
    yield from lines[:shown]
    if len(lines) > shown:
        yield f"  and {len(lines) - shown} more"


def _bounded(texts: Iterable[str]) -> str:
    """As many as a line takes, and how many more."""
    every = list(texts)
    shown, length = 0, 0
    for text in every:
        length += len(text) + 2
        if shown and length > WIDTH:
            break
        shown += 1
    more = f" and {len(every) - shown} more" if shown < len(every) else ""
    return ", ".join(every[:shown]) + more
