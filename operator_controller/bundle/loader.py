"""Files of a bundle image to a RegistryV1.

Flow: annotations (the package's name), manifests (the CSV, definitions, the rest), properties.
The rules are those of OLM's registry+v1 format; errors name the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_shared import go_json
from olm_shared.errors import bounded
from olm_shared.kube_object import KubeObject, annotations_of, name_of
from olm_shared.kube_yaml import BAD_SEPARATOR, YamlError, load_all
from operator_controller.bundle import go_types
from operator_controller.bundle.metadata_files import (
    PROPERTIES_FILE,
    BundleError,
    read_package_name,
    with_properties,
)
from operator_controller.bundle.model import (
    ClusterServiceVersion,
    DeploymentTemplate,
    Permission,
    RegistryV1,
    Webhook,
)

MANIFESTS = "manifests/"
CSV_KIND = "ClusterServiceVersion"
CRD_KIND = "CustomResourceDefinition"


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
            case "ClusterServiceVersion":
                csv = typed(path, CSV_KIND, obj)
            case "CustomResourceDefinition":
                crds.append(_without_status(typed(path, CRD_KIND, obj)))
            case _:
                others.append(obj)
    if csv is None:
        raise BundleError('no ClusterServiceVersion found in "manifests"')
    annotations = with_properties(annotations_of(csv), files.get(PROPERTIES_FILE, b""))
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
    paths = sorted(path for path in files if path.startswith(MANIFESTS))
    for path in paths:
        name = path.removeprefix(MANIFESTS)
        if "/" in name:
            raise BundleError(
                'subdirectories are not allowed within the "manifests" directory of the bundle '
                f'image filesystem: found "{MANIFESTS}{name.partition("/")[0]}"'
            )
    for path in paths:
        try:
            documents = list(load_all(files[path]))
        except YamlError as error:
            raise _not_yaml(path, error) from error
        for obj in _flattened(path, documents):
            yield path, obj


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


def _flattened(path: str, documents: Iterable[Any]) -> Iterator[KubeObject]:
    """Objects and the items of lists; lists within lists are refused, as by kubectl."""
    for document in documents:
        obj = _with_sound_metadata(path, _of_some_kind(path, document))
        if "items" in obj:
            yield from (_item(path, item) for item in _items(path, obj))
        else:
            yield obj


def _item(path: str, item: Any) -> KubeObject:
    obj = _of_some_kind(path, item)
    if not obj.get("apiVersion"):
        shown = f"{obj['kind']} {name_of(obj)}"
        raise _unparsable(path, f"Object 'apiVersion' is missing in an item of a list: {shown}")
    if isinstance(obj.get("items"), list):
        raise _unparsable(
            path,
            "*unstructured.Unstructured is not a list: no Items field in this object",
            hint=f"a list holds another one: {obj['kind']} {name_of(obj)}",
        )
    return obj


def _of_some_kind(path: str, obj: Any) -> KubeObject:
    if not isinstance(obj, dict):
        found = go_types.json_kind(obj)
        raise _undecodable(
            path, f"json: cannot unmarshal {found} into Go value of type unstructured.detector"
        )
    kind, version = obj.get("kind"), obj.get("apiVersion")
    named = isinstance(kind, str) and kind
    # What cannot be told apart from group and version hides the kind as well.
    if not named or (isinstance(version, str) and version.count("/") > 1):
        raise _undecodable(
            path, f"Object 'Kind' is missing in '{go_json.dumps(obj, sort_keys=True)}'"
        )
    if version is not None and not isinstance(version, str):
        raise _wrong_field(path, obj, version, "TypeMeta.apiVersion", "string")
    meta = obj.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        raise _wrong_field(path, obj, meta, "metadata", "v1.ObjectMeta")
    return obj


def _wrong_field(path: str, obj: KubeObject, value: Any, field: str, go_type: str) -> BundleError:
    found = go_types.json_kind(value)
    return _undecodable(
        path,
        f"json: cannot unmarshal {found} into Go struct field metadataOnlyObject.{field} of type "
        f"{go_type}",
        hint=f"in an object of kind {obj['kind']}",
    )


def _with_sound_metadata(path: str, obj: KubeObject) -> KubeObject:
    """Documents of all kinds are refused when their metadata has wrong types: labels are text."""
    meta = obj.get("metadata") or {}
    try:
        go_types.read("ObjectMeta", meta)
    except go_types.ShapeError as error:
        hint = f"{obj['kind']} {name_of(obj)}: metadata.{error}"
        raise _undecodable(path, _metadata_problem(meta, error), hint=hint) from error
    return obj


_META_TYPES = {
    "{}str": "map[string]string",
    "[]str": "[]string",
    "int": "int64",
    "*int": "int64",
    "[]OwnerReference": "[]v1.OwnerReference",
    "[]ManagedFieldsEntry": "[]v1.ManagedFieldsEntry",
}


def _metadata_problem(meta: Any, error: go_types.ShapeError) -> str:
    """The problem as Go's JSON reader tells it, which reads metadata before anything else."""
    value, names = meta, []
    for step in error.path:
        value = value[int(step[1:-1])] if step.startswith("[") else value[step[1:]]
        names += [] if step.startswith("[") else [step[1:]]
    if error.problem.startswith("parsing time"):
        return error.problem
    notation = go_types.fields_of("ObjectMeta")[names[0]]
    wanted = _META_TYPES.get(notation, "string") if len(error.path) == 1 else "string"
    struct, fields = "ObjectMeta", names[:1]
    if notation.startswith("[]") and len(names) > 1:
        struct, fields = notation[2:], names
    return (
        f"json: cannot unmarshal {go_types.json_kind(value)} into Go struct field "
        f"{struct}.{'.'.join(['metadata', *fields])} of type {wanted}"
    )


def _items(path: str, listed: KubeObject) -> list[Any]:
    """The items of a list; those that do not say what they are take their kind from it."""
    items = [] if listed["items"] is None else listed["items"]
    if not isinstance(items, list):
        found = go_types.json_kind(items)
        raise _undecodable(
            path,
            f"json: cannot unmarshal {found} into Go struct field decodeList.items of type "
            "[]json.RawMessage",
        )
    inherited = {
        "kind": listed["kind"].removesuffix("List"),
        "apiVersion": listed.get("apiVersion"),
    }
    return [
        {**item, **inherited}
        if isinstance(item, dict) and not item.get("kind") and not item.get("apiVersion")
        else item
        for item in items
    ]


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
