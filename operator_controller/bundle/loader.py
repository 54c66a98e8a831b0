"""Files of a bundle image to a RegistryV1.

Flow: annotations (the package's name), manifests (the CSV, definitions, the rest), properties.
The rules are those of OLM's registry+v1 format; errors name the file.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_shared import go_json
from olm_shared.errors import TransientError, bounded
from olm_shared.kube_object import KubeObject, annotations_of, name_of
from olm_shared.kube_yaml import YamlError, load_all
from operator_controller.bundle import go_types
from operator_controller.bundle.model import (
    ClusterServiceVersion,
    DeploymentTemplate,
    Permission,
    RegistryV1,
    Webhook,
)

MANIFESTS = "manifests/"
ANNOTATIONS_FILE = "metadata/annotations.yaml"
PROPERTIES_FILE = "metadata/properties.yaml"
PACKAGE_ANNOTATION = "operators.operatorframework.io.bundle.package.v1"
PROPERTIES_ANNOTATION = "olm.properties"

CSV_KIND = "ClusterServiceVersion"
CRD_KIND = "CustomResourceDefinition"


class BundleError(TransientError):
    """The files are no registry+v1 bundle that can be installed.

    Tried again, as the next version of the package may be picked instead.
    """


def load(files: Mapping[str, bytes]) -> RegistryV1:
    """The bundle made of `files`, whose paths are relative to the bundle's root.

    Everything outside `manifests/` and `metadata/` is ignored. Raises BundleError.
    """
    package_name = _package_name(files)
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
    annotations = _with_properties(annotations_of(csv), files.get(PROPERTIES_FILE, b""))
    return RegistryV1(
        package_name=package_name,
        csv=_service_version(csv, annotations),
        crds=tuple(crds),
        others=tuple(others),
    )


def _package_name(files: Mapping[str, bytes]) -> str:
    if ANNOTATIONS_FILE not in files:
        raise BundleError(
            f"open {ANNOTATIONS_FILE}: file does not exist",
            hint="a registry+v1 bundle has the folders manifests/ and metadata/",
        )
    content = _metadata(ANNOTATIONS_FILE, files[ANNOTATIONS_FILE])
    annotations = content.get("annotations") or {}
    if not isinstance(annotations, dict):
        raise BundleError(f"{ANNOTATIONS_FILE}: annotations is no map")
    name = annotations.get(PACKAGE_ANNOTATION)
    return "" if name is None else str(name)


def _metadata(path: str, data: bytes) -> dict[str, Any]:
    """The first document of a metadata file; the format has no use for more."""
    try:
        content: Any = next(load_all(data), {})
    except YamlError as error:
        raise BundleError(f"{path}: {error.message}") from error
    if not isinstance(content, dict):
        raise BundleError(f"{path}: not a map")
    return content


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
            raise _unparsable(path, error.message) from error
        for obj in _flattened(path, documents):
            yield path, obj


def _unparsable(path: str, problem: str) -> BundleError:
    return BundleError(f'error parsing objects in "{path}": {bounded(problem)}')


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
        raise _unparsable(path, f"a list holds another one: {obj['kind']} {name_of(obj)}")
    return obj


def _of_some_kind(path: str, obj: Any) -> KubeObject:
    if not isinstance(obj, dict):
        raise _unparsable(path, f"expected an object, got {go_types.go_kind(obj)}")
    kind = obj.get("kind")
    if not isinstance(kind, str) or not kind:
        shown = bounded(go_json.dumps(obj, sort_keys=True), 200)
        raise _unparsable(path, f"Object 'Kind' is missing in '{shown}'")
    if not isinstance(obj.get("apiVersion") or "", str):
        raise _unparsable(path, f"apiVersion of a {kind} is no text")
    if not isinstance(obj.get("metadata") or {}, dict):
        raise _unparsable(path, f"metadata of a {kind} is no map")
    return obj


def _with_sound_metadata(path: str, obj: KubeObject) -> KubeObject:
    """Documents of all kinds are refused when their metadata has wrong types: labels are text."""
    try:
        go_types.read("ObjectMeta", obj.get("metadata") or {})
    except go_types.ShapeError as error:
        raise _unparsable(path, f"{obj['kind']} {name_of(obj)}: metadata: {error}") from error
    return obj


def _items(path: str, listed: KubeObject) -> list[Any]:
    """The items of a list; those that do not say what they are take their kind from it."""
    items = [] if listed["items"] is None else listed["items"]
    if not isinstance(items, list):
        raise _unparsable(path, "items is no list")
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
        raise _unparsable(path, f"{kind} {name_of(obj)}: {error}") from error
    return shaped


# --- properties ------------------------------------------------------------------------------


class _PropertyError(ValueError):
    """Text that lists no properties."""


def _with_properties(annotations: dict[str, str], data: bytes) -> dict[str, str]:
    """The CSV's annotations with the bundle's properties added to the one that lists them."""
    listed = _annotated_properties(annotations.get(PROPERTIES_ANNOTATION))
    if not data:
        return annotations
    content = _metadata(PROPERTIES_FILE, data)
    try:
        added = [_property(item, sort_keys=True) for item in _list(content.get("properties") or [])]
    except ValueError as error:
        raise BundleError(f"failed to unmarshal {PROPERTIES_FILE}: {error}") from error
    both = [*listed, *added]
    text = f"[{','.join(both)}]" if both else "null"
    return {**annotations, PROPERTIES_ANNOTATION: text}


def _annotated_properties(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        return [_property(item, sort_keys=False) for item in _list(json.loads(text) or [])]
    except (ValueError, RecursionError) as error:
        raise BundleError(
            f"failed to unmarshal csv.metadata.annotations['{PROPERTIES_ANNOTATION}']: {error}"
        ) from error


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _PropertyError(
            f"cannot unmarshal {go_types.go_kind(value)} into a list of properties"
        )
    return value


def _property(item: Any, *, sort_keys: bool) -> str:
    """A property as Go writes it: type, then the value as it stands."""
    if not isinstance(item, dict) or not isinstance(item.get("type") or "", str):
        raise _PropertyError("a property has a type, which is text, and a value")
    kind, value = item.get("type") or "", item.get("value")
    return f'{{"type":{go_json.dumps(kind)},"value":{go_json.dumps(value, sort_keys=sort_keys)}}}'


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
            DeploymentTemplate(item["name"], item.get("label") or {}, item["spec"])
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
