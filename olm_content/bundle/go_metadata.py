"""Files of `metadata/` read as Go programs read them into types.

Names of fields in any case, numbers and booleans taken for text, and the words of Go's JSON reader
in errors.
"""

from collections.abc import Mapping
from typing import Any

from olm_content.formats import go_json
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.kube_types.go_scalars import json_kind


class MetadataError(ValueError):
    """A metadata file that says something else than it should, in the words of Go's reader."""


def is_folder(files: Mapping[str, bytes], path: str) -> bool:
    """Whether there are files below a path."""
    return any(other.startswith(f"{path}/") for other in files)


def first_document(data: bytes, go_type: str) -> dict[str, Any]:
    """The first document of a metadata file; the format has no use for more."""
    try:
        content: Any = next(load_all(data), {})
    except YamlError as error:
        raise MetadataError(f"error converting YAML to JSON: {error.go_message}") from error
    if not isinstance(content, dict):
        kind = json_kind(content)
        raise MetadataError(
            f"{_UNREADABLE}: cannot unmarshal {kind} into Go value of type {go_type}"
        )
    return content


_UNREADABLE = "error unmarshaling JSON: while decoding JSON: json"


def wrong_json(value: Any, field: str, go_type: str) -> MetadataError:
    """The error of a field of a wrong type."""
    kind = json_kind(value)
    return MetadataError(
        f"{_UNREADABLE}: cannot unmarshal {kind} into Go struct field {field} of type {go_type}"
    )


def spelled(value: str | float) -> str:
    """The text of a scalar where text is expected: what else YAML may make of it is spelled out."""
    return value if isinstance(value, str) else go_json.dumps(value)


def field_of(fields: dict[str, Any], name: str) -> Any:
    """A field as Go's JSON reader finds it: in this spelling, else in upper and lower case."""
    if name in fields:
        return fields[name]
    return next((value for key, value in fields.items() if key.lower() == name), None)
