"""The objects of a file of manifests, as operator-controller reads them.

All documents, lists taken apart, metadata checked. Errors name the file, in the words of the
programs that read them.
"""

from collections.abc import Iterator
from typing import Any

from api.objects import KubeObject, name_of
from olm_content.bundle.files import BundleError
from olm_content.formats import go_json
from olm_content.formats.kube_yaml import BAD_SEPARATOR, YamlError, json_texts, load_all
from olm_content.kube_types import go_types
from olm_content.kube_types.go_scalars import go_kind, json_kind
from olm_content.kube_types.json_problems import json_problem
from olm_runtime.errors import bounded

META = "ObjectMeta"


def objects(path: str, data: bytes) -> Iterator[KubeObject]:
    """The objects in a file. Raises BundleError."""
    try:
        documents = list(load_all(data))
    except YamlError as error:
        raise _not_yaml(path, error) from error
    for index, document in enumerate(documents):
        try:
            yield from _flattened(path, document)
        except _MissingKindError as error:
            texts = json_texts(data)
            shown = texts[index] if index < len(texts) else go_json.dumps(document, sort_keys=True)
            problem = f"Object 'Kind' is missing in '{shown}'"
            raise _undecodable(path, problem) from error


class _MissingKindError(Exception):
    """A document that does not say what it is."""


def unparsable(path: str, problem: str, *, hint: str = "") -> BundleError:
    """The error of a file whose objects cannot be used."""
    return BundleError(f'error parsing objects in "{path}": {bounded(problem)}', hint=hint)


def _undecodable(path: str, problem: str, *, hint: str = "") -> BundleError:
    return unparsable(path, f'unable to decode "{path}": {problem}', hint=hint)


def _not_yaml(path: str, error: YamlError) -> BundleError:
    converting = (
        "" if error.message.startswith(BAD_SEPARATOR) else "error converting YAML to JSON: "
    )
    hint = f"look at line {error.line} of {path}" if error.line else ""
    return unparsable(path, f"error parsing {path}: {converting}{error.go_message}", hint=hint)


def _flattened(path: str, document: Any) -> Iterator[KubeObject]:
    """The object, or the items of a list; lists within lists are refused, as by kubectl."""
    if not isinstance(document, dict):
        found = json_kind(document)
        raise _undecodable(
            path, f"json: cannot unmarshal {found} into Go value of type unstructured.detector"
        )
    items = _items(path, document) if "items" in document else None
    if not kind_of(document):
        raise _MissingKindError
    _check_metadata(path, document)
    if items is None:
        yield document
    else:
        yield from (_checked_item(path, item) for item in items)


def kind_of(obj: KubeObject) -> str:
    """The kind, empty if there is none; an apiVersion of three parts hides it."""
    kind, version = obj.get("kind"), obj.get("apiVersion")
    hidden = isinstance(version, str) and version.count("/") > 1
    return kind if isinstance(kind, str) and not hidden else ""


def _check_metadata(path: str, obj: KubeObject) -> None:
    """Documents of all kinds are refused when their metadata has wrong types: labels are text."""
    version, meta = obj.get("apiVersion"), obj.get("metadata")
    if version is not None and not isinstance(version, str):
        raise _wrong_field(path, obj, version, "TypeMeta.apiVersion", "string")
    if meta is None:
        return
    if not isinstance(meta, dict):
        raise _wrong_field(path, obj, meta, "metadata", "v1.ObjectMeta")
    try:
        go_types.read(META, meta)
    except go_types.ShapeError as error:
        wrong = _first_wrong(meta) or error
        hint = f"{obj['kind']} {name_of(obj)}: metadata.{wrong}"
        problem = json_problem(len(wrong.path), META, meta, wrong, within="metadata")
        raise _undecodable(path, problem, hint=hint) from error


def _first_wrong(meta: dict[str, Any]) -> go_types.ShapeError | None:
    """The fault that Go's JSON reader meets first: what was YAML comes to it sorted by name."""
    for name in sorted(meta):
        try:
            go_types.read(META, {name: meta[name]})
        except go_types.ShapeError as error:
            return error
    return None


def _wrong_field(path: str, obj: KubeObject, value: Any, field: str, go_type: str) -> BundleError:
    found = json_kind(value)
    return _undecodable(
        path,
        f"json: cannot unmarshal {found} into Go struct field metadataOnlyObject.{field} of type "
        f"{go_type}",
        hint=f"in an object of kind {obj['kind']}",
    )


def _items(path: str, listed: KubeObject) -> list[KubeObject]:
    """The items of a list; those that do not say what they are take their kind from it."""
    items = [] if listed["items"] is None else listed["items"]
    if not isinstance(items, list):
        found = json_kind(items)
        raise _undecodable(
            path,
            f"json: cannot unmarshal {found} into Go struct field decodeList.items of type "
            "[]json.RawMessage",
        )
    for item in items:
        if item is not None and not isinstance(item, dict):
            found = json_kind(item)
            go_type = "map[string]interface {}"
            raise _undecodable(
                path, f"json: cannot unmarshal {found} into Go value of type {go_type}"
            )
    inherited = {
        "kind": _text(listed.get("kind")).removesuffix("List"),
        "apiVersion": _text(listed.get("apiVersion")),
    }
    return [
        item if item and (_text(item.get("kind")) or _text(item.get("apiVersion")))
        else {**(item or {}), **inherited}
        for item in items
    ]  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _checked_item(path: str, item: KubeObject) -> KubeObject:
    """An item of a list, if it is no list itself and says what it is."""
    hint = f"an item of a list, of kind {kind_of(item) or 'unknown'}"
    if isinstance(item.get("items"), list):
        raise unparsable(
            path,
            "*unstructured.Unstructured is not a list: no Items field in this object",
            hint=hint,
        )
    lacks = 'unable to get type info from the object "*unstructured.Unstructured": Object'
    if not kind_of(item):
        raise unparsable(
            path, f"{lacks} 'Kind' is missing in 'object has no kind field '", hint=hint
        )
    if not _text(item.get("apiVersion")).rpartition("/")[2]:
        raise unparsable(
            path, f"{lacks} 'apiVersion' is missing in 'object has no apiVersion field'", hint=hint
        )
    meta = item.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        raise unparsable(path, f"cannot restore struct from: {go_kind(meta)}", hint=hint)
    return item
