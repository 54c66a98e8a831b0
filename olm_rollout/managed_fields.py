"""Who has which field of an object, by `metadata.managedFields`."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from api.objects import KubeObject, metadata

Entry = Mapping[str, Any]
"""One of `managedFields`: a manager, how it wrote, and the fields that it has."""
Field = tuple[str, ...]
"""The steps of `fieldsV1` that lead to a field: `f:spec`, `k:{"name":"x"}`, `f:image`."""

MAX_FIELDS = 5
"""Fields of an object that a message names before it only counts the rest."""

NOT_CONTENT = (
    ("f:metadata", "f:finalizers"),
    ("f:metadata", "f:ownerReferences"),
)
"""What is not lost where an object is made anew: it is deleted only without these."""


class Held(NamedTuple):
    """A field as people write it, and its manager; that is empty where nobody has it."""

    manager: str
    field: str


def entries_of(live: KubeObject) -> list[dict[str, Any]]:
    """The entries of an object."""
    return list(metadata(live).get("managedFields") or ())


def is_of(entry: Entry, manager: str) -> bool:
    """Whether an entry is of what a field manager applies."""
    return entry.get("manager") == manager and not entry.get("subresource")


def fields_of(entry: Entry) -> frozenset[Field]:
    """The fields of an entry, each map and item before what is in it."""
    return frozenset(_walk(entry.get("fieldsV1") or {}, ()))


def applied_fields(live: KubeObject, manager: str) -> frozenset[Field]:
    """The fields that a field manager has applied."""
    return frozenset(f for e in entries_of(live) if is_of(e, manager) for f in fields_of(e))


def taken_fields(before: KubeObject, after: KubeObject, manager: str) -> frozenset[Held]:
    """Fields that a field manager has after applying and had not before, and who had them."""
    others = [
        (str(e.get("manager")), fields_of(e)) for e in entries_of(before) if not is_of(e, manager)
    ]
    gained = applied_fields(after, manager) - applied_fields(before, manager)
    whole = (f for f in gained if not any(f[:length] in gained for length in range(len(f))))
    return frozenset(Held(_holder(field, others), field_text(field)) for field in whole)


def written_by_others(live: KubeObject, manager: str) -> frozenset[Held]:
    """What others than a field manager wrote: it would be lost if the object were made anew."""
    ours = applied_fields(live, manager)
    found = set()
    for entry in entries_of(live):
        if is_of(entry, manager) or entry.get("subresource"):
            continue
        fields = fields_of(entry)
        for field in fields - ours:
            is_map = any(f[: len(field)] == field and f != field for f in fields)
            if not is_map and field[:2] not in NOT_CONTENT:
                found.add(Held(str(entry.get("manager")), field_text(field)))
    return frozenset(found)


def field_text(field: Field) -> str:
    """A field as people write it: `spec.template.spec.containers[manager].image`."""
    text = ""
    for step in field:
        kind, _, name = step.partition(":")
        if kind == "f":
            text = f"{text}.{name}" if text else name
        else:
            text += f"[{_item_text(kind, name)}]"
    return text


def _item_text(kind: str, text: str) -> str:
    if kind != "k":
        return text
    return "/".join(str(value) for value in orjson.loads(text).values())


def _walk(fields: Mapping[str, Any], path: Field) -> Iterator[Field]:
    for step, below in fields.items():
        if step == ".":
            yield path
        elif below:
            yield from _walk(below, (*path, step))
        else:
            yield (*path, step)


def _holder(field: Field, others: list[tuple[str, frozenset[Field]]]) -> str:
    """Who has a field, a part of it, or something that it is a part of."""
    for manager, fields in others:
        if any(f[: len(field)] == field or field[: len(f)] == f for f in fields):
            return manager
    return ""
