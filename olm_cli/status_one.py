"""The state of one extension: what `olm status EXTENSION` prints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from olm_cli.table import table
from olm_client.lifecycle.overview import Phase
from olm_client.short_hashes import short_names
from olm_runtime.cli.display import wrapped
from olm_runtime.controller.kstatus import RECONCILING, STALLED

_COLOURS = {"True": "green", "False": "red"}
_WARNINGS = {"True": "yellow"}
"""Of conditions that are bad when True."""


def lines_of(facts: Mapping[str, Any], *, wide: bool = False) -> Iterator[str]:
    """The answer as text."""
    phase = Phase(facts["phase"])
    yield click.style(f"{facts['name']}: {facts['asksFor']}", bold=True)
    yield f"phase      {click.style(phase.value, fg=phase.colour)}"
    yield f"installed  {facts['bundle'] or 'nothing'}"
    yield f"as         {_account(facts)}"
    for revision in facts["revisions"]:
        yield f"revision   {revision['name']}: {revision['bundle']}, {revision['state']}"
    yield ""
    yield from _conditions(facts["conditions"], facts["hint"])
    yield ""
    yield from _object_lines(facts, wide=wide)
    if facts["hint"]:
        yield ""
        yield from (f"hint: {hint}" for hint in facts["hint"].splitlines())


def _account(facts: Mapping[str, Any]) -> str:
    if not facts["serviceAccount"]:
        return f"operator-controller itself, in namespace {facts['namespace']}"
    return f"service account {facts['namespace']}/{facts['serviceAccount']}"


def _conditions(conditions: Sequence[Mapping[str, Any]], hint: str) -> Iterator[str]:
    """A paragraph for each, without the hint that is shown at the end."""
    if not conditions:
        yield "no conditions yet"
        return
    shown = [found for found in conditions if found["type"] not in (RECONCILING, STALLED)]
    width = max(len(found["type"]) for found in shown)  # those two repeat what others say
    hints = {f"hint: {line}" for line in hint.splitlines()}
    for found in shown:
        message = "\n".join(line for line in found["message"].splitlines() if line not in hints)
        text = f"{found['reason']}: {message}" if message else found["reason"]
        first, *rest = wrapped(text, " " * (width + 10))
        colours = _WARNINGS if found["type"].endswith("Deprecated") else _COLOURS
        value = click.style(f"{found['status']:8}", fg=colours.get(found["status"]))
        yield f"{found['type']:{width}}  {value}{first}"
        yield from rest


def _object_lines(facts: Mapping[str, Any], *, wide: bool) -> Iterator[str]:
    objects = facts["objects"]
    if "objectsUnknown" in facts:
        yield f"objects: {facts['objectsUnknown']}"
    elif not objects:
        yield "no objects"
    else:
        names = [obj["name"] for obj in objects]
        shown = names if wide else short_names(names)
        rows = [_row(obj, name) for obj, name in zip(objects, shown, strict=True)]
        yield from table(("OBJECT", "STATE", ""), rows, wide=wide)


def _row(obj: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    place = f"{obj['namespace']}/" if obj["namespace"] else ""
    colour = "green" if obj["state"] == "Ready" else "red"
    state = click.style(obj["state"], fg=colour)
    return f"{obj['kind']} {place}{name}", state, " ".join(obj["message"].split())
