"""What an API server makes of a stored object before it validates it: pruned, then defaulted.

By Kubernetes' rules for structural schemas. Only `properties`, `additionalProperties` and `items`
lead down; what is under `allOf` and its like is for validation alone.
"""

import copy
from collections.abc import Iterator
from typing import Any

from api.objects import KubeObject
from olm_content.crds.schema import Schema, text_of

PRESERVE_UNKNOWN = "x-kubernetes-preserve-unknown-fields"
EMBEDDED_RESOURCE = "x-kubernetes-embedded-resource"
LIST_TYPE = "x-kubernetes-list-type"
LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

OF_EVERY_OBJECT = frozenset({"apiVersion", "kind", "metadata"})


def as_read(obj: KubeObject, schema: Schema) -> tuple[KubeObject, list[str]]:
    """The object as it is read under a schema, and the paths of the fields that it loses."""
    lost: list[str] = []
    root = {**schema, EMBEDDED_RESOURCE: True}
    return _defaulted(_pruned(obj, root, "", lost, keep=False), root), lost


def duplicates(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Paths of the lists that are sets or maps by their schema and hold something twice."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from duplicates(item, _child(schema, name) or {}, _field(path, name))
    elif isinstance(value, list):
        items = schema.get("items") or {}
        identities = list(_identities(value, schema))
        if len(set(identities)) < len(identities):
            yield path
        for index, item in enumerate(value):
            yield from duplicates(item, items, f"{path}[{index}]")


def _identities(values: list[Any], schema: Schema) -> Iterator[str]:
    if schema.get(LIST_TYPE) == "set":
        yield from map(text_of, values)
    elif schema.get(LIST_TYPE) == "map":
        keys = schema.get(LIST_MAP_KEYS) or ()
        for item in values:
            yield text_of([item.get(key) if isinstance(item, dict) else None for key in keys])


def _pruned(value: Any, schema: Schema, path: str, lost: list[str], *, keep: bool) -> Any:
    """`keep`: unknown fields stay, as `x-kubernetes-preserve-unknown-fields` says of this node."""
    keep = keep or bool(schema.get(PRESERVE_UNKNOWN))
    if isinstance(value, list):
        if keep and not schema.get("items"):
            return value
        items = schema.get("items") or {}
        return [
            _pruned(item, items, f"{path}[{index}]", lost, keep=keep)
            for index, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    always = OF_EVERY_OBJECT if schema.get(EMBEDDED_RESOURCE) else ()
    result = {}
    for name, item in value.items():
        child = _child(schema, name)
        if name in always or (child is None and keep):
            result[name] = item
        elif child is None:
            lost.append(_field(path, name))
        else:
            result[name] = _pruned(item, child, _field(path, name), lost, keep=False)
    return result


def _defaulted(value: Any, schema: Schema) -> Any:
    if isinstance(value, list):
        items = schema.get("items") or {}
        return [_defaulted(_without_null(item, items), items) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, item in value.items():
        child = _child(schema, name) or {}
        given = _without_null(item, child)
        if given is not None or child.get("nullable") or not child:
            result[name] = _defaulted(given, child)
    for name, child in (schema.get("properties") or {}).items():
        if name not in value and "default" in child:
            result[name] = _defaulted(copy.deepcopy(child["default"]), child)
    return result


def _without_null(value: Any, schema: Schema) -> Any:
    """The default in place of a null that may not be there."""
    if value is not None or schema.get("nullable") or "default" not in schema:
        return value
    return copy.deepcopy(schema["default"])


def _child(schema: Schema, name: str) -> Schema | None:
    properties = schema.get("properties") or {}
    if name in properties:
        return properties[name] or {}
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        return others
    return {} if others else None


def _field(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
