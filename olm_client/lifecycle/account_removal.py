"""Which of the objects that `olm install` wrote go with an extension, and why others stay. Pure.

An object goes if `olm` wrote it and nobody needs it or changed it since. What `olm` wrote is known
by its label, and of a Namespace, which has none, by its field manager.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, annotations_of, gvk_of, key_of, metadata, name_of, namespace_of
from olm_client.field_manager import FIELD_MANAGER, OF_KUBECTL
from olm_content.rights import Account
from olm_content.rights.installer import is_written_by_olm
from olm_rollout.managed_fields import entries_of

NAMED = 3
"""Objects named as what is in a namespace; the rest is counted."""

_CONTENT = frozenset({"f:rules", "f:roleRef", "f:subjects", "f:aggregationRule"})
_OF_EVERY_NAMESPACE = frozenset(
    {
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ServiceAccount", "builder"),
        ("ServiceAccount", "default"),
        ("ServiceAccount", "deployer"),
    }
)
"""What Kubernetes and OpenShift put into each namespace."""
_PASSING = frozenset({"Event", "Lease"})
"""Kinds of which nobody misses the objects once those that wrote them are gone."""
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
"""On Secrets that Kubernetes or OpenShift make for a service account."""


@dataclass(frozen=True, slots=True)
class AccountObjects:
    """An account as it is in the cluster.

    `bindings` are all that bind it or its roles. `namespace` is None if there is none. `inside` is
    the metadata of all objects there, `others` are the other extensions.
    """

    account: Account
    service_account: KubeObject | None = None
    roles: Sequence[KubeObject] = ()
    bindings: Sequence[KubeObject] = ()
    namespace: KubeObject | None = None
    inside: Sequence[KubeObject] = ()
    others: Sequence[KubeObject] = ()


@dataclass(frozen=True, slots=True)
class AccountRemoval:
    """What is deleted after the extension, in this order, and what stays, with the reason.

    `fault` is why neither is known.
    """

    deleted: Sequence[KubeObject] = ()
    retained: Sequence[tuple[KubeObject, str]] = ()
    fault: str = ""


def account_removal(found: AccountObjects, going: Iterable[KubeObject]) -> AccountRemoval:
    """What becomes of an account; `going` is what is deleted before, with the extension."""
    deleted: list[KubeObject] = []
    retained: list[tuple[KubeObject, str]] = []

    def judge(obj: KubeObject, reason: str) -> None:
        if reason:
            retained.append((obj, reason))
        else:
            deleted.append(obj)

    used = _used_by(found)
    for binding in found.bindings:
        of_another = "" if has_subject(binding, found.account) else "it binds another account"
        judge(binding, of_another or used or _foreign(binding))
    for role in found.roles:
        judge(role, used or _foreign(role) or _bound_by(role, (obj for obj, _ in retained)))
    if found.service_account is not None:
        judge(found.service_account, used or _foreign(found.service_account))
    if found.namespace is not None:
        judge(found.namespace, _namespace_reason(found, [*going, *deleted]))
    return AccountRemoval(deleted, retained)


def _used_by(found: AccountObjects) -> str:
    """The extensions that act as the account, too; empty if there are none."""
    names = [
        name_of(other)
        for other in found.others
        if _place(other) == found.account.namespace
        and _spec(other, "serviceAccount", "name") == found.account.name
    ]
    return f"ClusterExtension {', '.join(names)} uses this account" if names else ""


def _place(extension: KubeObject) -> str:
    return str(_spec(extension, "namespace"))


def _spec(extension: KubeObject, *path: str) -> Any:
    found: Any = extension.get("spec")
    for step in path:
        found = (found or {}).get(step)
    return found


def _foreign(obj: KubeObject) -> str:
    """Why an object counts as somebody else's; empty if `olm` wrote it."""
    if not is_written_by_olm(obj):
        return "olm did not write it"
    writers = {
        str(entry.get("manager"))
        for entry in entries_of(obj)
        if _CONTENT & (entry.get("fieldsV1") or {}).keys()
    }
    others = sorted(writers - OF_KUBECTL - {FIELD_MANAGER})
    return f"{', '.join(others)} changed it" if others else ""


def _bound_by(role: KubeObject, bindings: Iterable[KubeObject]) -> str:
    """The first of the bindings that refers to a role; empty if none does."""
    for binding in bindings:
        if refers_to(binding, role):
            return f"{key_of(binding)} binds it"
    return ""


def refers_to(binding: KubeObject, role: KubeObject) -> bool:
    """Whether a binding is one of that role."""
    reference = binding.get("roleRef") or {}
    named = (reference.get("kind"), reference.get("name")) == (gvk_of(role).kind, name_of(role))
    return named and namespace_of(role) in ("", namespace_of(binding))


def has_subject(binding: KubeObject, account: Account) -> bool:
    """Whether a binding names that account."""
    return any(
        subject.get("kind") == "ServiceAccount"
        and subject.get("name") == account.name
        and (subject.get("namespace") or namespace_of(binding)) == account.namespace
        for subject in binding.get("subjects") or ()
    )


def _namespace_reason(found: AccountObjects, going: Sequence[KubeObject]) -> str:
    namespace = found.namespace or {}
    if FIELD_MANAGER not in {entry.get("manager") for entry in entries_of(namespace)}:
        return "olm did not make it"
    tenants = [name_of(other) for other in found.others if _place(other) == name_of(namespace)]
    if tenants:
        return f"ClusterExtension {', '.join(tenants)} is installed there"
    left = left_inside(found.inside, going)
    if not left:
        return ""
    named = ", ".join(f"{gvk_of(obj).kind} {name_of(obj)}" for obj in left[:NAMED])
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return f"it has {named}{more}"


def left_inside(inside: Sequence[KubeObject], going: Iterable[KubeObject]) -> list[KubeObject]:
    """What a namespace still has after `going` are gone, with all that they own.

    Without what every namespace has, and what is made for the objects of `going`.
    """
    gone = list(going)
    uids = {metadata(obj).get("uid") for obj in gone}
    rest = [obj for obj in inside if metadata(obj).get("uid") not in uids]
    while owned := [obj for obj in rest if _owners(obj) & uids]:
        uids |= {metadata(obj).get("uid") for obj in owned}
        rest = [obj for obj in rest if metadata(obj).get("uid") not in uids]
    places = {(gvk_of(obj).kind, namespace_of(obj), name_of(obj)) for obj in gone}
    return [obj for obj in rest if not _is_made_for(obj, places)]


def _owners(obj: KubeObject) -> set[Any]:
    return {reference.get("uid") for reference in metadata(obj).get("ownerReferences") or ()}


def _is_made_for(obj: KubeObject, going: set[tuple[str, str, str]]) -> bool:
    kind, place, name = gvk_of(obj).kind, namespace_of(obj), name_of(obj)
    if kind in _PASSING or (kind, name) in _OF_EVERY_NAMESPACE:
        return True
    if kind == "Endpoints":
        return ("Service", place, name) in going
    if kind == "RoleBinding":
        return name.startswith("system:")
    account = annotations_of(obj).get(_ACCOUNT_NAME, "")
    return kind == "Secret" and (
        ("ServiceAccount", place, account) in going
        or ("ServiceAccount", account) in _OF_EVERY_NAMESPACE
    )


def account_facts(removal: AccountRemoval) -> Mapping[str, Any]:
    """As data."""
    if removal.fault:
        return {"unknown": removal.fault}
    return {
        "deleted": [_facts(obj) for obj in removal.deleted],
        "kept": [{**_facts(obj), "reason": reason} for obj, reason in removal.retained],
    }


def _facts(obj: KubeObject) -> dict[str, str]:
    gvk = gvk_of(obj)
    return {
        "apiVersion": gvk.api_version,
        "kind": gvk.kind,
        "namespace": namespace_of(obj),
        "name": name_of(obj),
    }


def account_lines(removal: AccountRemoval) -> Iterator[str]:
    """As text."""
    if removal.fault:
        yield f"its account stays: what olm install wrote is not known: {removal.fault}"
    if removal.deleted:
        yield "after it would be deleted, as olm install wrote it:"
        yield from (f"  {key_of(obj)}" for obj in removal.deleted)
    if removal.retained:
        yield "would stay:"
        yield from (f"  {key_of(obj)}: {reason}" for obj, reason in removal.retained)
