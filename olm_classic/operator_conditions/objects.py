"""The OperatorCondition of a ClusterServiceVersion, and what lets its operator write it."""

from typing import Any

from api.objects import KubeObject, is_deleting, metadata, name_of, namespace_of
from api.operators.names import GROUP, V2
from olm_classic.names import LABEL_MANAGED
from olm_content.names import CSV_API_VERSION, CSV_KIND
from olm_content.render.rbac import RBAC_API, RBAC_GROUP

KIND = "OperatorCondition"
DEFAULT_ACCOUNT = "default"
"""The account of an operator that asks rights for none."""


def condition_of(csv: KubeObject) -> KubeObject:
    """The OperatorCondition as it is created: what it says is the operator's."""
    return {
        "apiVersion": V2,
        "kind": KIND,
        "metadata": {
            "name": name_of(csv),
            "namespace": namespace_of(csv),
            "ownerReferences": [_reference(csv, CSV_API_VERSION, CSV_KIND)],
        },
        "spec": {"serviceAccounts": _accounts(csv), "deployments": _deployments(csv)},
    }


def patch_to(csv: KubeObject, condition: KubeObject) -> dict[str, Any]:
    """What of an OperatorCondition is not as its ClusterServiceVersion asks, as a merge patch."""
    wanted, spec = condition_of(csv), condition.get("spec") or {}
    patch: dict[str, Any] = {}
    changed = {key: each for key, each in wanted["spec"].items() if spec.get(key) != each}
    if changed:
        patch["spec"] = changed
    owners = metadata(condition).get("ownerReferences") or []
    others = [each for each in owners if each.get("kind") != CSV_KIND]
    owned = [*others, *wanted["metadata"]["ownerReferences"]]
    meta = {"ownerReferences": owned} if owned != owners else {}
    if patch or meta:
        version = metadata(condition)["resourceVersion"]
        patch["metadata"] = {**meta, "resourceVersion": version}
    return patch


def goes(condition: KubeObject, csv: KubeObject | None) -> bool:
    """Whether it is collected with its ClusterServiceVersion, or is about to be.

    What is made for it then is collected, too, and would be made again and again.
    """
    owners = metadata(condition).get("ownerReferences") or ()
    if is_deleting(condition):
        return True
    owned = any(each.get("kind") == CSV_KIND for each in owners)
    return owned and (csv is None or is_deleting(csv))


def role_of(condition: KubeObject) -> KubeObject:
    """Lets an operator read and write its OperatorCondition, not the status."""
    rule = {
        "apiGroups": [GROUP],
        "resources": ["operatorconditions"],
        "resourceNames": [name_of(condition)],
        "verbs": ["get", "update", "patch"],
    }
    return {**_owned(condition, "Role"), "rules": [rule]}


def binding_of(condition: KubeObject) -> KubeObject:
    """Gives that role to the accounts; those without a namespace are of the binding's."""
    accounts = (condition.get("spec") or {}).get("serviceAccounts") or ()
    role = {"apiGroup": RBAC_GROUP, "kind": "Role", "name": name_of(condition)}
    subjects = [{"kind": "ServiceAccount", "name": account} for account in accounts]
    return {**_owned(condition, "RoleBinding"), "roleRef": role, "subjects": subjects}


def has(found: KubeObject, wanted: KubeObject) -> bool:
    """Whether a role or binding is as wanted; more labels do no harm."""
    meta, ours = metadata(found), wanted["metadata"]
    owners = meta.get("ownerReferences") or []
    return (
        all(owner in owners for owner in ours["ownerReferences"])
        and ours["labels"].items() <= (meta.get("labels") or {}).items()
        and all(
            (found.get(key) or None) == (wanted.get(key) or None)
            for key in ("rules", "roleRef", "subjects")
        )
    )


def _owned(condition: KubeObject, kind: str) -> KubeObject:
    return {
        "apiVersion": RBAC_API,
        "kind": kind,
        "metadata": {
            "name": name_of(condition),
            "namespace": namespace_of(condition),
            "labels": {LABEL_MANAGED: "true"},
            "ownerReferences": [_reference(condition, V2, KIND)],
        },
    }


def _reference(owner: KubeObject, api_version: str, kind: str) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name_of(owner),
        "uid": metadata(owner)["uid"],
        "controller": True,
        "blockOwnerDeletion": False,
    }


def _accounts(csv: KubeObject) -> list[str]:
    strategy = csv["spec"]["install"].get("spec") or {}
    asked = [*(strategy.get("clusterPermissions") or ()), *(strategy.get("permissions") or ())]
    return [each["serviceAccountName"] for each in asked] or [DEFAULT_ACCOUNT]


def _deployments(csv: KubeObject) -> list[str]:
    strategy = csv["spec"]["install"].get("spec") or {}
    return [each["name"] for each in strategy.get("deployments") or ()]
