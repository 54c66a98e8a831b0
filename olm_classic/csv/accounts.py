"""Whether the accounts of a ClusterServiceVersion are there, and may do what it asks for.

They are judged by the Roles and bindings that the cluster has, whoever made them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.objects import KubeObject, metadata, name_of, namespace_of
from olm_classic.csv.requirements import Status
from olm_content.formats import go_json
from olm_content.kube_types.typed_json import typed_json
from olm_content.names import CSV_KIND
from olm_content.render.rbac import RBAC_GROUP
from olm_content.rights.authority import Account, Authority, authority_of
from olm_content.rights.rules import rules_of

AccountRequirement = dict[str, Any]
"""An entry of `status.requirementStatus` with `dependents`, one for each rule."""


def account_requirements(
    csv: KubeObject, accounts: Mapping[str, KubeObject], rbac: Iterable[KubeObject]
) -> Iterator[AccountRequirement]:
    """One for each account, by name.

    `accounts` are those of its namespace by name, `rbac` the Roles, ClusterRoles and bindings of
    the namespace and of the cluster.
    """
    strategy = csv["spec"]["install"].get("spec") or {}
    asked = _rules(strategy.get("permissions"), namespace_of(csv))
    asked += _rules(strategy.get("clusterPermissions"), "")
    objects = list(rbac)
    for name in sorted({name for name, _, _ in asked}):
        account = Account(namespace_of(csv), name)
        held = authority_of(account, objects)
        dependents = [_dependent(held, place, rule) for own, place, rule in asked if own == name]
        status, message = _verdict(csv, accounts.get(name), dependents)
        identity = {"group": "", "version": "v1", "kind": "ServiceAccount", "name": name}
        verdict = {"status": status.value, "message": message}
        yield {**identity, **verdict, "dependents": dependents}


def _rules(
    permissions: Iterable[Mapping[str, Any]] | None, place: str
) -> list[tuple[str, str, dict[str, Any]]]:
    """Accounts with their rules; the place is a namespace, or empty for the cluster."""
    return [
        (each["serviceAccountName"], place, rule)
        for each in permissions or ()
        for rule in each["rules"]
    ]


def _dependent(held: Authority, place: str, rule: dict[str, Any]) -> dict[str, str]:
    lacking = any(held.lacks(place, each) for each in rules_of([rule]))
    scope = "namespaced" if place else "cluster"
    text = go_json.dumps(typed_json("PolicyRule", rule))
    return {
        "group": RBAC_GROUP,
        "kind": "PolicyRule",
        "version": "v1",
        "status": "NotSatisfied" if lacking else "Satisfied",
        "message": f"{scope} rule:{text}",
    }


def _verdict(
    csv: KubeObject, account: KubeObject | None, dependents: Iterable[Mapping[str, str]]
) -> tuple[Status, str]:
    if account is None:
        return Status.NOT_PRESENT, "Service account does not exist"
    references = metadata(account).get("ownerReferences") or ()
    owners = {each["name"] for each in references if each["kind"] == CSV_KIND}
    if owners and name_of(csv) not in owners:
        problem = "Service account is owned by another ClusterServiceVersion"
        return Status.NOT_SATISFIED, problem
    if any(each["status"] != "Satisfied" for each in dependents):
        return Status.NOT_SATISFIED, "Policy rule not satisfied for service account"
    return Status.PRESENT, ""
