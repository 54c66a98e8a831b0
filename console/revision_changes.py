"""What is other between the objects of two revisions. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from api.objects import KubeObject, ObjectKey, key_of
from olm_client.lifecycle.changes import FieldChange, field_changes

MAX_FIELDS = 100
"""Of an object; definitions change by hundreds."""
MAX_OBJECTS = 300
MAX_VALUE = 1000


@dataclass(frozen=True, slots=True)
class Changed:
    """An object that came, went or changed; fields as path, old and new text, empty for none."""

    key: ObjectKey
    action: str
    fields: Sequence[tuple[str, str, str]] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which objects are other, and how many are the same."""

    changed: Sequence[Changed]
    same: int
    left_out: int


def compare(old: Iterable[KubeObject], new: Iterable[KubeObject]) -> Comparison:
    """By kind, namespace and name; values of Secrets are not shown."""
    before, after = ({key_of(each): each for each in objects} for objects in (old, new))
    changed = [Changed(key, "removed") for key in before if key not in after]
    changed += [Changed(key, "added") for key in after if key not in before]
    same = 0
    for key in before.keys() & after.keys():
        fields = field_changes(before[key], after[key])
        if fields:
            shown = [_texts(each) for each in fields[:MAX_FIELDS]]
            changed.append(Changed(key, "changed", shown, len(fields) - len(shown)))
        else:
            same += 1
    ordered = sorted(changed, key=lambda each: (each.action != "changed", each.key))
    return Comparison(ordered[:MAX_OBJECTS], same, max(0, len(ordered) - MAX_OBJECTS))


def _texts(change: FieldChange) -> tuple[str, str, str]:
    return change.path[:MAX_VALUE], _text(change.old), _text(change.new)


def _text(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
