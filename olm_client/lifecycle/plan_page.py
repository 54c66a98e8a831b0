"""What `olm plan` prints unless --details asks for all: a page. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from olm_client.lifecycle.changes import Change, value_text
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.plan_text import PURPOSES, SIGNS, by_purpose, counts_text, step, verdict
from olm_client.lifecycle.removal import instances_line
from olm_client.paint import Paint, plain
from olm_client.short_hashes import short_names
from olm_content.rights import NeededRule
from olm_runtime.plurals import counted

WIDTH = 90
"""Characters of a list of names."""
SHOWN = 3
"""Lines of a part whose rest is counted."""
NAMED = 2
"""Objects of a kind that are named; more are counted."""
DETAILS = "all of it: the same command with --details"
"""The last line, once for all plans."""


def page_lines(plan: Plan, paint: Paint = plain) -> Iterator[str]:
    """The step, what changes in numbers and names, what is in the way, and the verdict."""
    yield from body_lines(plan, paint)
    yield from obstacle_lines(plan.obstacles, paint)
    yield verdict(plan, paint)


def body_lines(plan: Plan, paint: Paint = plain) -> Iterator[str]:
    """The step, and what changes in numbers and names."""
    yield paint(f"{plan.extension}: {step(plan)}", bold=True)
    yield from (f"note: {note}" for note in plan.notes)
    fields = [f"{f.path}: {value_text(f.old)} -> {value_text(f.new)}" for f in plan.spec]
    yield from _part("spec", fields)
    if plan.bundle:
        yield from object_lines(plan.changes, paint)
        yield from _part("custom resources", [*map(instances_line, plan.instances)])
        yield from _part("definitions", [*_definitions(plan)])
        yield from _rights(plan, paint)
        images = [
            *(f"{paint('+', fg='green')} {image}" for image in plan.images_added),
            *(f"{paint('-', fg='red')} {image}" for image in plan.images_removed),
        ]
        yield from _part("images", images)
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


def _rights(plan: Plan, paint: Paint) -> Iterator[str]:
    rights = plan.rights
    if rights.unknown:
        yield f"whether the account may do this is not known: {rights.unknown}"
    for title, sign, colour, rules in (
        ("rights needed in addition", "+", "green", rights.added),
        ("rights no longer needed", "-", "red", rights.removed),
    ):
        if rules:
            yield f"{title}:"
        for purpose, those in by_purpose(rules).items():
            resources = dict.fromkeys(
                text for needed in those for text in (*_resources(needed), *needed.rule.urls)
            )
            head = f"{PURPOSES[purpose]}, {counted(len(those), 'rule')}"
            yield f"  {paint(sign, fg=colour)} {head}: {_bounded(resources)}"


def _resources(needed: NeededRule) -> Iterator[str]:
    group = f".{needed.rule.group}" if needed.rule.group else ""
    return (f"{resource}{group}" for resource in sorted(needed.rule.resources))


def obstacle_lines(obstacles: Sequence[Obstacle], paint: Paint = plain) -> Iterator[str]:
    """The first things that are in the way, each with what to do, and how many more there are."""
    for each in obstacles[:SHOWN]:
        first, *rest = each.message.splitlines() or [""]
        yield paint("in the way: ", fg="red") + first
        yield from _rest(rest)
        yield from (f"  hint: {hint}" for hint in each.hint.splitlines())
    if len(obstacles) > SHOWN:
        more = counted(len(obstacles) - SHOWN, "thing more is", "things more are")
        yield paint(f"{more} in the way", fg="red")


def _part(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from _rest([f"  {line}" for line in lines])


def _rest(lines: Sequence[str]) -> Iterator[str]:
    """The first of some lines, and how many more there are."""
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"


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
