"""The objects that a bundle is installed as: its own, and accounts and roles of its operator."""

from collections.abc import Iterator

import orjson

from api.objects import KubeObject, annotations_of, metadata, name_of
from olm_classic.csv.owner import Owner
from olm_classic.csv.permissions import account_objects
from olm_classic.install_plans.lookups import Unpacked
from olm_classic.names import ANNOTATION_PROPERTIES
from olm_content.names import CSV_KIND
from olm_runtime.errors import TerminalError

DEFAULT_ACCOUNT = "default"


class InvalidBundleError(TerminalError):
    """A bundle that no plan can be made of: condition reason `ErrorPreventedUnpacking`."""


def objects_of(bundle: Unpacked, namespace: str) -> list[KubeObject]:
    """The objects in the order of writing within a bundle. Raises InvalidBundleError."""
    csv = next((each for each in bundle.objects if _is_csv(each, bundle.lookup.identifier)), None)
    if csv is None:
        raise InvalidBundleError(f"bundle CSV {bundle.lookup.identifier} not found")
    for key, said in (("apiVersion", "APIVersion"), ("kind", "Kind")):
        if not csv.get(key):
            raise InvalidBundleError(f"bundle CSV {bundle.lookup.identifier} missing {said}")
    others = [each for each in bundle.objects if each is not csv]
    return [_prepared(csv, bundle, namespace), *others, *_accounts(csv, namespace)]


def _is_csv(obj: KubeObject, name: str) -> bool:
    """A CSV without kind is known by its name and by what only a CSV has."""
    return obj.get("kind") == CSV_KIND or (
        name_of(obj) == name and "install" in (obj.get("spec") or {})
    )


def _prepared(csv: KubeObject, bundle: Unpacked, namespace: str) -> KubeObject:
    """The CSV as it is written: what it replaces and its properties are the resolver's."""
    lookup = bundle.lookup
    spec = {key: value for key, value in csv["spec"].items() if key != "replaces"}
    if lookup.replaces:
        spec["replaces"] = lookup.replaces
    annotations = annotations_of(csv) | {ANNOTATION_PROPERTIES: lookup.properties}
    meta = metadata(csv) | {"namespace": namespace, "annotations": annotations}
    return {**csv, "metadata": meta, "spec": spec}


def _accounts(csv: KubeObject, namespace: str) -> Iterator[KubeObject]:
    strategy = (csv["spec"].get("install") or {}).get("spec") or {}
    owner = Owner(name_of(csv), namespace, "")
    found = account_objects(
        owner, strategy.get("permissions") or (), strategy.get("clusterPermissions") or ()
    )
    for account in found:
        if name_of(account.service_account) != DEFAULT_ACCOUNT:
            yield account.service_account
        yield from account.roles
        yield from account.role_bindings
        yield from account.cluster_roles
        yield from account.cluster_role_bindings


def manifest_of(obj: KubeObject, bundle: Unpacked) -> str:
    """What stands in a step: the object, or where it is to be found again."""
    if bundle.config_map is None:
        return orjson.dumps(obj).decode()
    (namespace, name), lookup = bundle.config_map, bundle.lookup
    reference = {
        "kind": "ConfigMap",
        "name": name,
        "namespace": namespace,
        "catalogSourceName": lookup.catalog.name,
        "catalogSourceNamespace": lookup.catalog.namespace,
        "replaces": lookup.replaces,
        "properties": lookup.properties,
    }
    return orjson.dumps(reference).decode()
