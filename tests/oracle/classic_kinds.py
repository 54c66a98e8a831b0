"""The smaller computations of OLM Classic, from and to JSON, by the kind of the golden case."""

from collections.abc import Callable, Mapping
from typing import Any

from api.objects import GVK, KubeObject, gvk_of, name_of
from olm_classic.components import component_label, operator_name
from olm_classic.csv.copies import copy_of
from olm_classic.csv.deployment_config import configured
from olm_classic.csv.install_modes import unsupported
from olm_classic.csv.owner import Owner
from olm_classic.csv.permissions import AccountObjects, account_objects
from olm_classic.csv.requirements import Cluster, are_met, requirements
from olm_classic.dialect import Dialect
from olm_classic.hashes import deep_hash
from olm_classic.operator_groups import targets
from olm_classic.operator_groups.cluster_roles import LEVELS, cluster_role_name
from olm_classic.operator_groups.intersection import GroupSurface, judge
from olm_classic.provided_apis import (
    aggregation_label,
    api_hash,
    api_name,
    as_annotation,
    provided_apis,
)


def _install_mode(given: dict[str, Any]) -> dict[str, Any]:
    supported = {mode["type"] for mode in given["installModes"] or () if mode["supported"]}
    selected = targets.from_annotation(given["targetNamespacesAnnotation"])
    problem = unsupported(supported, given["operatorNamespace"], selected)
    return {"supported": problem is None, "message": problem or ""}


def _operator_group_apis(given: dict[str, Any]) -> dict[str, Any]:
    group = _surface(given["group"])
    apis = provided_apis(",".join(given["csvProvidedAPIs"] or ()))
    judgement = judge(apis, group, map(_surface, given["otherGroups"] or ()))
    output = {
        "result": judgement.verdict.value,
        "groupProvidedAPIs": as_annotation(group.apis),
    }
    if judgement.apis is not None:
        output["newAnnotation"] = as_annotation(judgement.apis)
    if judgement.reason is not None:
        output |= {"csvPhase": "Failed", "csvReason": judgement.reason.value}
    return output


def _surface(group: dict[str, Any]) -> GroupSurface:
    return GroupSurface(
        targets.target_set(group["namespace"], group["statusNamespaces"] or ()),
        provided_apis(group["providedAPIsAnnotation"]),
        static=group["static"],
    )


def _operator_group_cluster_roles(given: dict[str, Any]) -> dict[str, Any]:
    names = {level: cluster_role_name(given["namespace"], given["name"], level) for level in LEVELS}
    return {**names, "targetNamespaces": targets.as_annotation(given["statusNamespaces"] or ())}


def _api_labels(given: dict[str, Any]) -> dict[str, Any]:
    api = GVK(**given)
    labels = {f"aggregationLabel-{level}": aggregation_label(api, level) for level in LEVELS}
    return {"gvkString": api_name(api), "fnv64a": api_hash(api), **labels}


def _deep_hash(given: dict[str, Any]) -> dict[str, Any]:
    return {"hash": deep_hash("DeploymentSpec", given["spec"])}


def _component_label(given: dict[str, Any]) -> dict[str, Any]:
    package, namespace = given["package"], given["namespace"]
    return {
        "name": operator_name(package, namespace),
        "labelKey": component_label(package, namespace),
        "error": "",
    }


def _csv_rbac(given: dict[str, Any]) -> list[Any] | None:
    owner = Owner(given["name"], given["namespace"], given["uid"])
    permissions = given["permissions"] or ()
    accounts = account_objects(owner, permissions, given["clusterPermissions"] or ())
    return [_account(account) for account in accounts] or None


def _account(account: AccountObjects) -> dict[str, Any]:
    return {
        "serviceAccount": _untyped(account.service_account),
        "roles": list(map(_untyped, account.roles)),
        "roleBindings": list(map(_untyped, account.role_bindings)),
        "clusterRoles": list(map(_untyped, account.cluster_roles)),
        "clusterRoleBindings": list(map(_untyped, account.cluster_role_bindings)),
    }


def _untyped(item: KubeObject) -> KubeObject:
    """An object as Go's structs have it, whose type says what the object is."""
    return {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}


def _config_injection(given: dict[str, Any]) -> dict[str, Any]:
    config, proxy = given["config"], given["clusterProxyEnv"]
    deployment = configured(given["deployment"], config, proxy, dialect=Dialect.UPSTREAM)
    return {"deployment": deployment}


def _requirements(given: dict[str, Any]) -> dict[str, Any]:
    csv = given["csv"]
    cluster = Cluster(
        server_version=given["serverVersion"],
        crds={name_of(crd): crd for crd in given["crds"] or ()},
        kinds={_served_kind(text) for text in given["discoveredKinds"] or ()},
    )
    ancestors = [name for name in (csv["spec"].get("replaces"),) if name]
    found = list(requirements(csv, cluster, ancestors))
    return {"error": "", "met": are_met(found), "requirementStatus": found}


def _served_kind(text: str) -> GVK:
    """A kind written as `apps/v1 Deployment`."""
    api_version, _, kind = text.partition(" ")
    return gvk_of({"apiVersion": api_version, "kind": kind})


def _copied_csv(given: dict[str, Any]) -> dict[str, Any] | None:
    """The copy, and the hashes of what is not its status and of its status.

    No visible case shows the keys; None where they are others.
    """
    csv = given.get("csv") or {}
    if "spec" not in csv:
        return None
    copy = copy_of(csv, given.get("namespace") or "")
    rest = {key: value for key, value in copy.items() if key != "status"}
    return {
        "copy": copy,
        "nonStatusHash": deep_hash("ClusterServiceVersion", rest),
        "statusHash": deep_hash("CSVStatus", copy["status"]),
    }


KINDS: Mapping[str, Callable[[Any], Any]] = {
    "api-labels": _api_labels,
    "config-injection": _config_injection,
    "copied-csv": _copied_csv,
    "csv-rbac": _csv_rbac,
    "deep-hash": _deep_hash,
    "installmode": _install_mode,
    "operator-component-label": _component_label,
    "operatorgroup-apis": _operator_group_apis,
    "operatorgroup-clusterroles": _operator_group_cluster_roles,
    "requirements": _requirements,
}
