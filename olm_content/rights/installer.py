"""The account of an extension as objects to apply: a place, an identity, and the least rights."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from api.objects import KubeObject, labels_of
from olm_content.rights.authority import Account
from olm_content.rights.least import NeededRule
from olm_content.rights.merge import MergedRule
from olm_content.rights.needs import RBAC_GROUP

RBAC_VERSION = f"{RBAC_GROUP}/v1"
MANAGED_BY, WRITER = "app.kubernetes.io/managed-by", "olm"
"""The label by which accounts are known that `olm` wrote, whoever applied them."""


class Document(NamedTuple):
    """An object; for each of its rules, if it is a role, what the rule is for."""

    obj: KubeObject
    rules: tuple[NeededRule, ...] = ()


def installer(account: Account, rules: Sequence[NeededRule]) -> list[Document]:
    """A Namespace, a ServiceAccount, and roles with these rules bound to it, named like it.

    Rules for the whole cluster are in a ClusterRole, those for a namespace in a Role there. The
    Namespace is that of the account; others are taken to exist.
    """
    namespaces = sorted({needed.rule.namespace for needed in rules})
    return [
        Document(_object("v1", "Namespace", account.namespace)),
        Document(_object("v1", "ServiceAccount", account.name, account.namespace)),
        *(
            document
            for namespace in namespaces
            for document in _bound_role(
                account,
                namespace,
                [needed for needed in rules if needed.rule.namespace == namespace],
            )
        ),
    ]


def is_written_by_olm(obj: KubeObject) -> bool:
    """Whether it is of an account as made here."""
    return labels_of(obj).get(MANAGED_BY) == WRITER


def _bound_role(
    account: Account, namespace: str, rules: Iterable[NeededRule]
) -> tuple[Document, Document]:
    kind = "Role" if namespace else "ClusterRole"
    chosen = tuple(rules)
    role = _object(RBAC_VERSION, kind, account.name, namespace)
    binding = _object(RBAC_VERSION, f"{kind}Binding", account.name, namespace)
    subject = {"kind": "ServiceAccount", "name": account.name, "namespace": account.namespace}
    return (
        Document(role | {"rules": [policy_rule(needed.rule) for needed in chosen]}, chosen),
        Document(
            binding
            | {
                "roleRef": {"apiGroup": RBAC_GROUP, "kind": kind, "name": account.name},
                "subjects": [subject],
            }
        ),
    )


def policy_rule(rule: MergedRule) -> dict[str, Any]:
    """The rule as roles have it."""
    if rule.urls:
        return {"nonResourceURLs": sorted(rule.urls), "verbs": sorted(rule.verbs)}
    found: dict[str, Any] = {
        "apiGroups": [rule.group],
        "resources": sorted(rule.resources),
        "verbs": sorted(rule.verbs),
    }
    return found | ({"resourceNames": sorted(rule.names)} if rule.names else {})


def _object(api_version: str, kind: str, name: str, namespace: str = "") -> KubeObject:
    metadata: dict[str, Any] = {"name": name} | ({"namespace": namespace} if namespace else {})
    if kind != "Namespace":  # which may be somebody's
        metadata["labels"] = {MANAGED_BY: WRITER}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
