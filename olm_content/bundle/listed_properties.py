"""The annotation that lists properties of a bundle, with those of properties.yaml added."""

import json
from collections.abc import Mapping
from typing import Any

from olm_content.bundle.files import PROPERTIES_FILE, BundleError
from olm_content.bundle.go_metadata import (
    MetadataError,
    field_of,
    first_document,
    is_folder,
    spelled,
    wrong_json,
)
from olm_content.formats import go_json
from olm_content.formats.go_text import quote_single
from olm_content.kube_types.go_scalars import json_kind
from olm_content.names import ANNOTATION_PROPERTIES


def with_properties(annotations: dict[str, str], files: Mapping[str, bytes]) -> dict[str, str]:
    """The CSV's annotations with those of properties.yaml added to the one that lists properties.

    Raises BundleError.
    """
    listed = _annotated_properties(annotations.get(ANNOTATION_PROPERTIES))
    if is_folder(files, PROPERTIES_FILE):
        raise BundleError(
            f"failed to read properties.yaml file: read {PROPERTIES_FILE}: is a directory"
        )
    data = files.get(PROPERTIES_FILE)
    if not data:
        return annotations
    try:
        added = _listed_properties(first_document(data, "source.RegistryV1Properties"))
    except MetadataError as error:
        raise BundleError(f"failed to unmarshal {PROPERTIES_FILE}: {error}") from error
    both = [*listed, *added]
    text = f"[{','.join(both)}]" if both else "null"
    return {**annotations, ANNOTATION_PROPERTIES: text}


def _listed_properties(content: dict[str, Any]) -> list[str]:
    """What properties.yaml lists; a type that YAML takes for a number or boolean is spelled out."""
    items = field_of(content, "properties")
    if items is None:
        return []
    where = "RegistryV1Properties.properties"
    if not isinstance(items, list):
        raise wrong_json(items, where, "[]property.Property")
    properties = []
    for item in items:
        if item is not None and not isinstance(item, dict):
            raise wrong_json(item, where, "property.Property")
        kind = field_of(item or {}, "type")
        if isinstance(kind, list | dict):
            raise wrong_json(kind, "Property.properties.type", "string")
        shown = "" if kind is None else spelled(kind)
        value = go_json.dumps(field_of(item or {}, "value"), sort_keys=True)
        properties.append(_property(shown, value))
    return properties


def _annotated_properties(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        items = _json_list(text)
        texts = go_json.elements(text) if items else []
        return [_annotated_property(*each) for each in zip(items, texts, strict=True)]
    except (MetadataError, RecursionError) as error:
        raise BundleError(
            f"failed to unmarshal csv.metadata.annotations['{ANNOTATION_PROPERTIES}']: {error}"
        ) from error


def _json_list(text: str) -> list[Any]:
    if not text.strip():
        raise MetadataError("unexpected end of JSON input")
    try:
        items = json.loads(text)
    except json.JSONDecodeError as error:
        raise MetadataError(_go_json_problem(text, error)) from error
    if items is None:
        return []
    if not isinstance(items, list):
        kind = json_kind(items)
        raise MetadataError(
            f"json: cannot unmarshal {kind} into Go value of type []property.Property"
        )
    return items


_PLACES = {
    "Extra data": "after top-level value",
    "Expecting property name enclosed in double quotes": (
        "looking for beginning of object key string"
    ),
    "Expecting ':' delimiter": "after object key",
}


def _go_json_problem(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].lstrip()
    if not rest:
        return "unexpected end of JSON input"
    for literal in ("true", "false", "null"):
        said = next((i for i, each in enumerate(literal) if rest[i : i + 1] != each), 0)
        if said:
            found = quote_single(rest[said : said + 1] or " ")
            return f"invalid character {found} in literal {literal} (expecting '{literal[said]}')"
    place = _PLACES.get(error.msg, "looking for beginning of value")
    return f"invalid character {quote_single(rest[0])} {place}"


def _annotated_property(item: Any, text: str) -> str:
    """The property as Go writes it again: its value is copied as it stands."""
    if item is not None and not isinstance(item, dict):
        kind = json_kind(item)
        raise MetadataError(
            f"json: cannot unmarshal {kind} into Go value of type property.Property"
        )
    kind = field_of(item or {}, "type")
    if kind is not None and not isinstance(kind, str):
        raise MetadataError(
            f"json: cannot unmarshal {json_kind(kind)} into Go struct field "
            "Property.type of type string"
        )
    value = field_of(go_json.members(text) if item else {}, "value")
    return _property(kind or "", "null" if value is None else go_json.compact(value))


def _property(kind: str, value: str) -> str:
    """A property as Go writes it: type, then the value, which is JSON text."""
    return f'{{"type":{go_json.dumps(kind)},"value":{value}}}'
