"""What the files of a bundle's metadata folder say: the package's name, and properties.

Upstream reads them into Go types, and that shows: field names in any case, numbers and booleans
taken for text, and the words of Go's JSON reader in errors.
"""

import json
from collections.abc import Mapping
from typing import Any

from olm_content.formats import go_json
from olm_content.formats.go_text import quote_single
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.kube_types.go_scalars import json_kind
from olm_content.names import ANNOTATION_PROPERTIES, LABEL_BUNDLE_PACKAGE
from olm_runtime.errors import TransientError

ANNOTATIONS_FILE = "metadata/annotations.yaml"
PROPERTIES_FILE = "metadata/properties.yaml"


class BundleError(TransientError):
    """The files are no registry+v1 bundle that can be installed.

    Tried again, as the next version of the package may be picked instead.
    """


def read_package_name(files: Mapping[str, bytes]) -> str:
    """The package that annotations.yaml names, empty if none. Raises BundleError."""
    problem = _missing(files, ANNOTATIONS_FILE)
    if problem:
        hint = "a registry+v1 bundle has the folders manifests/ and metadata/"
        raise BundleError(problem, hint=hint)
    try:
        content = _metadata(files[ANNOTATIONS_FILE], "registry.AnnotationsFile")
        annotations = field_of(content, "annotations")
        if annotations is None:
            return ""
        if not isinstance(annotations, dict):
            raise _wrong_json(annotations, "AnnotationsFile.annotations", "registry.Annotations")
        return _plain_text(field_of(annotations, LABEL_BUNDLE_PACKAGE))
    except _MetadataError as error:
        raise BundleError(str(error), hint=f"correct {ANNOTATIONS_FILE}") from error


class _MetadataError(ValueError):
    """A metadata file that says something else than it should, in the words of Go's reader."""


def _missing(files: Mapping[str, bytes], path: str) -> str:
    """Why there is no such file, in the words of the operating system; empty if there is one."""
    if _is_folder(files, path):
        return f"read {path}: is a directory"
    return "" if path in files else f"open {path}: no such file or directory"


def _is_folder(files: Mapping[str, bytes], path: str) -> bool:
    return any(other.startswith(f"{path}/") for other in files)


def _metadata(data: bytes, go_type: str) -> dict[str, Any]:
    """The first document of a metadata file; the format has no use for more."""
    try:
        content: Any = next(load_all(data), {})
    except YamlError as error:
        raise _MetadataError(f"error converting YAML to JSON: {error.go_message}") from error
    if not isinstance(content, dict):
        kind = json_kind(content)
        raise _MetadataError(
            f"{_UNREADABLE}: cannot unmarshal {kind} into Go value of type {go_type}"
        )
    return content


_UNREADABLE = "error unmarshaling JSON: while decoding JSON: json"


def _wrong_json(value: Any, field: str, go_type: str) -> _MetadataError:
    kind = json_kind(value)
    return _MetadataError(
        f"{_UNREADABLE}: cannot unmarshal {kind} into Go struct field {field} of type {go_type}"
    )


def _plain_text(value: Any) -> str:
    """Text where text is wanted: what else YAML may make of it is spelled out."""
    if isinstance(value, list | dict):
        raise _wrong_json(value, f"Annotations.annotations.{LABEL_BUNDLE_PACKAGE}", "string")
    return "" if value is None else _spelled(value)


def _spelled(value: str | float) -> str:
    return value if isinstance(value, str) else go_json.dumps(value)


def with_properties(annotations: dict[str, str], files: Mapping[str, bytes]) -> dict[str, str]:
    """The CSV's annotations with those of properties.yaml added to the one that lists properties.

    Raises BundleError.
    """
    listed = _annotated_properties(annotations.get(ANNOTATION_PROPERTIES))
    if _is_folder(files, PROPERTIES_FILE):
        raise BundleError(
            f"failed to read properties.yaml file: read {PROPERTIES_FILE}: is a directory"
        )
    data = files.get(PROPERTIES_FILE)
    if not data:
        return annotations
    try:
        added = _listed_properties(_metadata(data, "source.RegistryV1Properties"))
    except _MetadataError as error:
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
        raise _wrong_json(items, where, "[]property.Property")
    properties = []
    for item in items:
        if item is not None and not isinstance(item, dict):
            raise _wrong_json(item, where, "property.Property")
        kind = field_of(item or {}, "type")
        if isinstance(kind, list | dict):
            raise _wrong_json(kind, "Property.properties.type", "string")
        shown = "" if kind is None else _spelled(kind)
        value = go_json.dumps(field_of(item or {}, "value"), sort_keys=True)
        properties.append(_property(shown, value))
    return properties


def field_of(fields: dict[str, Any], name: str) -> Any:
    """A field as Go's JSON reader finds it: in this spelling, else in upper and lower case."""
    if name in fields:
        return fields[name]
    return next((value for key, value in fields.items() if key.lower() == name), None)


def _annotated_properties(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        items = _json_list(text)
        texts = go_json.elements(text) if items else []
        return [_annotated_property(*each) for each in zip(items, texts, strict=True)]
    except (_MetadataError, RecursionError) as error:
        raise BundleError(
            f"failed to unmarshal csv.metadata.annotations['{ANNOTATION_PROPERTIES}']: {error}"
        ) from error


def _json_list(text: str) -> list[Any]:
    if not text.strip():
        raise _MetadataError("unexpected end of JSON input")
    try:
        items = json.loads(text)
    except json.JSONDecodeError as error:
        raise _MetadataError(_go_json_problem(text, error)) from error
    if items is None:
        return []
    if not isinstance(items, list):
        kind = json_kind(items)
        raise _MetadataError(
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
        raise _MetadataError(
            f"json: cannot unmarshal {kind} into Go value of type property.Property"
        )
    kind = field_of(item or {}, "type")
    if kind is not None and not isinstance(kind, str):
        raise _MetadataError(
            f"json: cannot unmarshal {json_kind(kind)} into Go struct field "
            "Property.type of type string"
        )
    value = field_of(go_json.members(text) if item else {}, "value")
    return _property(kind or "", "null" if value is None else go_json.compact(value))


def _property(kind: str, value: str) -> str:
    """A property as Go writes it: type, then the value, which is JSON text."""
    return f'{{"type":{go_json.dumps(kind)},"value":{value}}}'
