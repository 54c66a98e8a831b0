"""Files of a bundle image to a RegistryV1.

Flow: annotations (the package's name), manifests (the CSV, definitions, the rest), properties.
The rules are those of OLM's registry+v1 format; errors name the file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from api.objects import KubeObject, annotations_of, name_of
from olm_content import names
from olm_content.bundle.metadata_files import BundleError, read_package_name, with_properties
from olm_content.bundle.model import (
    ClusterServiceVersion,
    DeploymentTemplate,
    Permission,
    RegistryV1,
    Webhook,
)
from olm_content.formats import go_json
from olm_content.formats.kube_yaml import BAD_SEPARATOR, YamlError, json_texts, load_all
from olm_content.kube_types import go_types
from olm_content.kube_types.go_scalars import go_kind, json_kind
from olm_runtime.errors import bounded

MANIFESTS = "manifests/"
CRD_KIND = "CustomResourceDefinition"
META = "ObjectMeta"


def load(files: Mapping[str, bytes]) -> RegistryV1:
    """The bundle made of `files`, whose paths are relative to the bundle's root.

    Everything outside `manifests/` and `metadata/` is ignored. Raises BundleError.
    """
    package_name = read_package_name(files)
    csv: KubeObject | None = None
    crds: list[KubeObject] = []
    others: list[KubeObject] = []
    for path, obj in manifests(files):
        match obj.get("kind"):
            case names.CSV_KIND:
                csv = typed(path, names.CSV_KIND, obj)
            case "CustomResourceDefinition":
                crds.append(_without_status(typed(path, CRD_KIND, obj)))
            case _:
                others.append(obj)
    if csv is None:
        raise BundleError('no ClusterServiceVersion found in "manifests"')
    annotations = with_properties(annotations_of(csv), files)
    return RegistryV1(
        package_name=package_name,
        csv=_service_version(csv, annotations),
        crds=tuple(crds),
        others=tuple(others),
    )


def manifests(files: Mapping[str, bytes]) -> Iterator[tuple[str, KubeObject]]:
    """Every object with the file it came from, by file name, lists taken apart.

    Raises BundleError naming the file.
    """
    paths = sorted((path for path in files if path.startswith(MANIFESTS)), key=_steps)
    if not paths:
        raise BundleError(f"stat {MANIFESTS[:-1]}: no such file or directory")
    for path in paths:
        name = path.removeprefix(MANIFESTS)
        if "/" in name:
            raise BundleError(
                'subdirectories are not allowed within the "manifests" directory of the bundle '
                f'image filesystem: found "{MANIFESTS}{name.partition("/")[0]}"'
            )
        if name:
            yield from ((path, obj) for obj in _objects(path, files[path]))


def _steps(path: str) -> list[str]:
    return path.split("/")


def _objects(path: str, data: bytes) -> Iterator[KubeObject]:
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


def _unparsable(path: str, problem: str, *, hint: str = "") -> BundleError:
    return BundleError(f'error parsing objects in "{path}": {bounded(problem)}', hint=hint)


def _undecodable(path: str, problem: str, *, hint: str = "") -> BundleError:
    return _unparsable(path, f'unable to decode "{path}": {problem}', hint=hint)


def _not_yaml(path: str, error: YamlError) -> BundleError:
    converting = (
        "" if error.message.startswith(BAD_SEPARATOR) else "error converting YAML to JSON: "
    )
    hint = f"look at line {error.line} of {path}" if error.line else ""
    return _unparsable(path, f"error parsing {path}: {converting}{error.go_message}", hint=hint)


def _flattened(path: str, document: Any) -> Iterator[KubeObject]:
    """The object, or the items of a list; lists within lists are refused, as by kubectl."""
    if not isinstance(document, dict):
        found = json_kind(document)
        raise _undecodable(
            path, f"json: cannot unmarshal {found} into Go value of type unstructured.detector"
        )
    items = _items(path, document) if "items" in document else None
    if not _kind_of(document):
        raise _MissingKindError
    _check_metadata(path, document)
    if items is None:
        yield document
    else:
        yield from (_checked_item(path, item) for item in items)


def _kind_of(obj: KubeObject) -> str:
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
        told = _first_wrong(meta) or error
        hint = f"{obj['kind']} {name_of(obj)}: metadata.{told}"
        problem = go_types.json_problem(len(told.path), META, meta, told, within="metadata")
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
    hint = f"an item of a list, of kind {_kind_of(item) or 'unknown'}"
    if isinstance(item.get("items"), list):
        raise _unparsable(
            path,
            "*unstructured.Unstructured is not a list: no Items field in this object",
            hint=hint,
        )
    lacks = 'unable to get type info from the object "*unstructured.Unstructured": Object'
    if not _kind_of(item):
        raise _unparsable(
            path, f"{lacks} 'Kind' is missing in 'object has no kind field '", hint=hint
        )
    if not _text(item.get("apiVersion")).rpartition("/")[2]:
        raise _unparsable(
            path, f"{lacks} 'apiVersion' is missing in 'object has no apiVersion field'", hint=hint
        )
    meta = item.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        raise _unparsable(path, f"cannot restore struct from: {go_kind(meta)}", hint=hint)
    return item


def _without_status(crd: KubeObject) -> KubeObject:
    """What generators leave in a definition's status is not for a cluster to be told."""
    return {key: value for key, value in crd.items() if key != "status"}


def typed(path: str, kind: str, obj: KubeObject) -> KubeObject:
    """An object of a kind whose shape is known. Raises BundleError naming file and object."""
    try:
        shaped: KubeObject = go_types.read(kind, obj)
    except go_types.ShapeError as error:
        hint = f"{kind} {name_of(obj)}: {error}"
        raise _unparsable(path, error.problem, hint=hint) from error
    return shaped


# --- the service version ---------------------------------------------------------------------


def _service_version(csv: KubeObject, annotations: dict[str, str]) -> ClusterServiceVersion:
    spec = csv["spec"]
    strategy = (spec.get("install") or {}).get("spec") or {}
    return ClusterServiceVersion(
        name=name_of(csv),
        annotations=annotations,
        install_modes=frozenset(
            mode["type"] for mode in spec.get("installModes") or () if mode["supported"]
        ),
        deployments=tuple(
            DeploymentTemplate(item["name"], item.get("label") or {}, item.get("spec") or {})
            for item in strategy.get("deployments") or ()
        ),
        permissions=_permissions(strategy.get("permissions")),
        cluster_permissions=_permissions(strategy.get("clusterPermissions")),
        webhooks=tuple(map(_webhook, spec.get("webhookdefinitions") or ())),
        owned_crds=_owned_names(spec.get("customresourcedefinitions")),
        owned_api_services=_owned_names(spec.get("apiservicedefinitions")),
    )


def _permissions(items: list[dict[str, Any]] | None) -> tuple[Permission, ...]:
    return tuple(
        Permission(
            service_account=item["serviceAccountName"],
            rules=tuple(item["rules"]) if "rules" in item else None,
        )
        for item in items or ()
    )


def _webhook(fields: dict[str, Any]) -> Webhook:
    return Webhook(
        type=fields["type"],
        generate_name=fields["generateName"],
        deployment_name=fields.get("deploymentName", ""),
        container_port=fields.get("containerPort", 0),
        fields=fields,
    )


def _owned_names(descriptions: dict[str, Any] | None) -> tuple[str, ...]:
    return tuple(item["name"] for item in (descriptions or {}).get("owned") or ())
