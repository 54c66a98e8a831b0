"""What `olm plan` prints, as data and as text. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from olm_client.crds.report import as_json as definitions_facts
from olm_client.crds.report import as_text as definitions_lines
from olm_client.lifecycle.changes import Action, Change, value_text
from olm_client.lifecycle.instances import instances_facts, instances_line
from olm_client.lifecycle.obstacle import obstacle_facts, obstacle_lines
from olm_client.lifecycle.plan import Plan
from olm_client.paint import Paint, plain
from olm_client.rbac.text import facts as rule_facts
from olm_client.rbac.text import why
from olm_content.rights import NeededRule, Purpose
from olm_content.rights.report import line
from operator_controller.apply.revisions import BundleIdentity

SIGNS: Mapping[Action, tuple[str, str | None]] = MappingProxyType(
    {
        Action.CREATE: ("+", "green"),
        Action.CHANGE: ("~", "yellow"),
        Action.REPLACE: ("±", "yellow"),
        Action.DELETE: ("-", "red"),
        Action.REFUSED: ("!", "red"),
        Action.UNKNOWN: ("?", "red"),
    }
)
_COUNTED = {
    Action.CREATE: "created",
    Action.CHANGE: "changed",
    Action.REPLACE: "made anew",
    Action.DELETE: "deleted",
    Action.UNCHANGED: "unchanged",
    Action.REFUSED: "refused",
    Action.UNKNOWN: "unknown",
}


PURPOSES: Mapping[Purpose, str] = MappingProxyType(
    {
        Purpose.OWN: "to own what is installed",
        Purpose.MANAGE: "to manage its objects",
        Purpose.HAND_OUT: "to hand out to the operator",
        Purpose.HAND_OUT_UNHELD: "to hand out what it does not hold",
        Purpose.REPLACE: "until the update is through",
    }
)


def plan_facts(plan: Plan) -> dict[str, Any]:
    """As data."""
    rights = plan.rights
    return {
        "extension": plan.extension,
        "package": plan.package,
        "new": plan.new,
        "goesThrough": not plan.obstacles,
        "obstacles": obstacle_facts(plan.obstacles),
        "spec": [_field(each.path, each.old, each.new) for each in plan.spec],
        "installed": _bundle(plan.installed),
        "bundle": _bundle(plan.bundle),
        "catalog": plan.catalog,
        "objects": change_facts(plan.changes),
        "customResources": [instances_facts(each) for each in plan.instances],
        "definitions": definitions_facts(plan.definitions) if plan.definitions else None,
        "permissions": {
            "missing": rights.missing,
            **({"missingUnknown": rights.unknown} if rights.unknown else {}),
            "needed": rule_facts(rights.added),
            "unneeded": rule_facts(rights.removed),
        },
        "images": {"added": list(plan.images_added), "removed": list(plan.images_removed)},
        **({"notes": list(plan.notes)} if plan.notes else {}),
        **({"deletionsUnknown": plan.deletions_unknown} if plan.deletions_unknown else {}),
    }


def _field(path: str, old: Any, new: Any) -> dict[str, Any]:
    return {"path": path, "old": old, "new": new}


def _bundle(bundle: BundleIdentity | None) -> dict[str, str] | None:
    if bundle is None:
        return None
    return {"name": bundle.name, "version": bundle.version, "image": bundle.image}


def change_facts(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """Changes of objects as data."""
    return [
        {
            "apiVersion": change.key.gvk.api_version,
            "kind": change.key.gvk.kind,
            "namespace": change.key.namespace,
            "name": change.key.name,
            "action": change.action.value,
            "fields": [_field(each.path, each.old, each.new) for each in change.fields],
            **({"message": change.message} if change.message else {}),
            **({"hint": change.hint} if change.hint else {}),
        }
        for change in changes
    ]


def plan_lines(plan: Plan, paint: Paint = plain) -> Iterator[str]:
    """As text, all of it: the step, what changes by kind of change, obstacles, a verdict."""
    yield paint(f"{plan.extension}: {step(plan)}", bold=True)
    yield from (f"note: {note}" for note in plan.notes)
    if plan.spec:
        yield "the spec changes:"
        for each in plan.spec:
            yield f"  {each.path}: {value_text(each.old)} -> {value_text(each.new)}"
    if plan.bundle:
        yield from change_lines(plan.changes, paint)
        yield from map(instances_line, plan.instances)
        yield from _definitions(plan)
        yield from _rights(plan, paint)
        yield from _images(plan.images_added, plan.images_removed, paint)
    if plan.deletions_unknown:
        yield f"what would be deleted is not known: {plan.deletions_unknown}"
    yield from obstacle_lines(plan.obstacles, paint)
    yield verdict(plan, paint)


def step(plan: Plan) -> str:
    """From which bundle to which."""
    source = f" from catalog {plan.catalog}" if plan.catalog else ""
    if plan.bundle is None:
        installed = plan.installed.name if plan.installed else "nothing"
        return f"no bundle can be chosen; {installed} is installed"
    if plan.installed is None:
        return f"{plan.bundle.name}{source} would be installed"
    if plan.installed.name == plan.bundle.name:
        return f"{plan.bundle.name} is installed, and stays"
    return f"{plan.installed.name} -> {plan.bundle.name}{source}"


def change_lines(changes: Sequence[Change], paint: Paint = plain) -> Iterator[str]:
    """A line for each object that does not stay as it is, its fields below, and a count."""
    for change in changes:
        if change.action is Action.UNCHANGED:
            continue
        sign, colour = SIGNS[change.action]
        noted = change.message and change.action is not Action.REFUSED  # else an obstacle has it
        note = f": {change.message}" if noted else ""
        yield paint(f"{sign} {change.key}", fg=colour) + note
        for each in change.fields:
            yield f"    {each.path}: {value_text(each.old)} -> {value_text(each.new)}"
    yield f"objects: {counts_text(changes)}"


def counts_text(changes: Iterable[Change]) -> str:
    """How many objects become what."""
    counts = Counter(change.action for change in changes)
    parts = [f"{counts[action]} {word}" for action, word in _COUNTED.items() if counts[action]]
    return ", ".join(parts) or "none"


def _definitions(plan: Plan) -> Iterator[str]:
    found = plan.definitions
    if found is None or not (found.findings or found.served):
        return
    yield "definitions:"
    yield from (f"  {each}".rstrip() for each in definitions_lines(found))
    if found.findings and not plan.crds_enforced:
        yield "  which is not refused: spec.install.preflight.crdUpgradeSafety"


def _rights(plan: Plan, paint: Paint) -> Iterator[str]:
    rights = plan.rights
    if rights.unknown:
        yield f"whether the account may do this is not known: {rights.unknown}"
    yield from _rules("rights needed in addition", paint("+", fg="green"), rights.added)
    yield from _rules("rights no longer needed", paint("-", fg="red"), rights.removed)


def _rules(title: str, sign: str, rules: Sequence[NeededRule]) -> Iterator[str]:
    for purpose, those in by_purpose(rules).items():
        yield f"{title} {PURPOSES[purpose]}:"
        for needed in those:
            yield f"  {sign} {line(needed.rule)}"
            yield f"      {why(needed)}"


def by_purpose(rules: Iterable[NeededRule]) -> dict[Purpose, list[NeededRule]]:
    """The rules by the first of what they are for, in the order of purposes."""
    found: dict[Purpose, list[NeededRule]] = {}
    for needed in rules:
        found.setdefault(min(reason.purpose for reason in needed.reasons), []).append(needed)
    return dict(sorted(found.items()))


def _images(added: Sequence[str], removed: Sequence[str], paint: Paint) -> Iterator[str]:
    if added or removed:
        yield "images:"
        yield from (f"  {paint('+', fg='green')} {each}" for each in added)
        yield from (f"  {paint('-', fg='red')} {each}" for each in removed)


def verdict(plan: Plan, paint: Paint = plain) -> str:
    """Whether it goes through."""
    if plan.obstacles:
        return paint("operator-controller would not do it", fg="red")
    quiet = {Action.UNCHANGED}
    if all(change.action in quiet for change in plan.changes) and not plan.spec:
        return paint("nothing would change", fg="green")
    return paint("nothing stands in the way", fg="green")
