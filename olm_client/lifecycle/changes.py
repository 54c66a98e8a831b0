"""What a write would change of an object, from the object and the server's dry run of it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from api.objects import KubeObject, ObjectKey, annotations_of, gvk_of, metadata
from api.olm.v1 import names

LONGEST_VALUE = 80
"""Characters of a value in a text."""

_SERVERS_OWN = frozenset(
    {"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)
_SECRET_FIELDS = ("data", "stringData")
_FILLED_IN_SECRETS = frozenset({"kubernetes.io/tls", "kubernetes.io/service-account-token"})
"""Types of Secrets whose keys come from operator-controller or cert-manager, and Kubernetes."""


class Action(StrEnum):
    """What would be done to an object."""

    CREATE = "create"
    CHANGE = "change"
    REPLACE = "replace"
    DELETE = "delete"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class FieldChange(NamedTuple):
    """A field by its path; None where it is not there."""

    path: str
    old: Any
    new: Any


class Change(NamedTuple):
    """What would become of an object; `message` and `hint` are where something is to be noted."""

    key: ObjectKey
    action: Action
    fields: Sequence[FieldChange] = ()
    message: str = ""
    hint: str = ""


def field_changes(live: KubeObject, result: KubeObject) -> list[FieldChange]:
    """How a dry run's result differs from what is there, without what the server sets itself.

    What others fill in after rendering does not count, and neither does the number of the revision.
    Values of Secrets are not shown.
    """
    found = _differences(_compared(live), _compared(result), "")
    changes = (each for each in found if not _filled_in(result, each))
    if gvk_of(live).kind != "Secret":
        return list(changes)
    return [_without_values(change) for change in changes]


def _compared(obj: KubeObject) -> dict[str, Any]:
    """The parts of an object that are compared; annotations are always present."""
    notes = {k: v for k, v in annotations_of(obj).items() if k != names.ANNOTATION_REVISION}
    meta = {key: value for key, value in metadata(obj).items() if key not in _SERVERS_OWN}
    rest = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    return {"metadata": {**meta, "annotations": notes}, **rest}


def _filled_in(obj: KubeObject, change: FieldChange) -> bool:
    """Whether the object leaves the field to the issuer of its certificate or token."""
    if change.path.endswith(".caBundle"):
        return names.ANNOTATION_INJECT_CA in annotations_of(obj)
    left_open = change.path.partition(".")[0] == "data" and change.new in (None, "")
    return left_open and obj.get("type") in _FILLED_IN_SECRETS


def _without_values(change: FieldChange) -> FieldChange:
    if change.path.partition(".")[0] not in _SECRET_FIELDS:
        return change
    old, new = (None if value is None else "(not shown)" for value in (change.old, change.new))
    return FieldChange(change.path, old, new)


def _differences(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), _joined(path, key))
        return
    if isinstance(old, list) and isinstance(new, list):
        before, after = _keyed(old), _keyed(new)
        if before is not None and after is not None:
            for key in [*before, *(key for key in after if key not in before)]:
                yield from _differences(before.get(key), after.get(key), f"{path}[{key}]")
            return
    yield FieldChange(path, old, new)


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _keyed(items: list[Any]) -> dict[str, Any] | None:
    """Items by their names; None where they have none, or one twice."""
    named = {
        str(item["name"]): item for item in items if isinstance(item, Mapping) and "name" in item
    }
    return named if len(named) == len(items) else None


def without_leftovers(result: KubeObject) -> KubeObject:
    """The result of applying without the fields that only our first POST set.

    operator-controller turns these into applied fields before it applies; then the server removes
    those that are applied no more. One dry run cannot do both, so the second is done here.
    """
    entries = metadata(result).get("managedFields") or ()
    posted = [e for e in entries if _is_ours(e, "Update")]
    if not posted:
        return result
    others = [entry.get("fieldsV1") or {} for entry in entries if entry not in posted]
    cleaned: KubeObject = orjson.loads(orjson.dumps(result))  # a tenth of deepcopy's time
    for entry in posted:
        _remove(cleaned, entry.get("fieldsV1") or {}, others)
    return cleaned


def _is_ours(entry: Mapping[str, Any], operation: str) -> bool:
    ours = entry.get("manager") == names.FIELD_MANAGER and not entry.get("subresource")
    return ours and entry.get("operation") == operation


def _remove(value: Any, fields: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> None:
    """Takes out of a value what is in `fields` and in none of the `others` (`fieldsV1`)."""
    for step, below in fields.items():
        if step == ".":
            continue
        rest = [other[step] for other in others if step in other]
        place = _place(value, step)
        if place is None:
            continue
        if not rest:
            del value[place]
        elif all(rest) and isinstance(value[place], dict | list):  # else it is another's as a whole
            _remove(value[place], below, rest)


def _place(value: Any, step: str) -> Any:
    """Where a step of `fieldsV1` leads in a value: a key, an index, or None if nowhere."""
    kind, _, text = step.partition(":")
    if isinstance(value, dict):
        return text if kind == "f" and text in value else None
    if not isinstance(value, list) or kind not in ("k", "v"):
        return None
    desired = orjson.loads(text)
    for index, item in enumerate(value):
        if kind == "v" and item == desired:
            return index
        if kind == "k" and isinstance(item, dict) and desired.items() <= item.items():
            return index
    return None


def images_of(objects: Iterable[KubeObject]) -> set[str]:
    """The images that workloads run, and those in their RELATED_IMAGE_ variables."""
    return {image for obj in objects for image in _images(obj)}


def _images(obj: KubeObject) -> Iterator[str]:
    pod = (((obj.get("spec") or {}).get("template") or {}).get("spec")) or {}
    for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        if container.get("image"):
            yield container["image"]
        for variable in container.get("env") or ():
            if variable.get("name", "").startswith("RELATED_IMAGE_") and variable.get("value"):
                yield variable["value"]


def value_text(value: Any) -> str:
    """A value in a line of text, cut if it is long."""
    if value is None:
        return "unset"
    text = orjson.dumps(value).decode()
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
