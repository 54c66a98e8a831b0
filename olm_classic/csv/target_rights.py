"""The rights of an operator in the namespaces that it works for.

In its own namespace it has Roles. Where its group has all namespaces, ClusterRoles repeat them;
where it has some others, copies of them are put into each.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from api.objects import (
    KubeObject,
    annotations_of,
    is_deleting,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.install_modes import unsupported
from olm_classic.csv.membership import CONFLICTS
from olm_classic.csv.owner import Owner
from olm_classic.csv.phases import Reason
from olm_classic.names import LABEL_COPIED_FROM, LABEL_MANAGED
from olm_classic.operator_groups.targets import from_annotation
from olm_content.names import ANNOTATION_TARGET_NAMESPACES
from olm_content.render.rbac import RBAC_API, RBAC_GROUP, WATCH_NAMESPACES
from olm_content.rights.authority import Authority
from olm_content.rights.rules import rules_of

_UNSUITED = frozenset(
    {
        Reason.NO_GROUP,
        Reason.TOO_MANY_GROUPS,
        Reason.NO_TARGETS,
        Reason.UNSUPPORTED_GROUP,
        Reason.INVALID_MODES,
    }
)

_CONTENT = {"Role": ("rules",), "RoleBinding": ("subjects", "roleRef")}

Permission = Mapping[str, Any]
"""`serviceAccountName` and `rules`, as a ClusterServiceVersion has them."""


class Place(Enum):
    """Where an operator is to have the rights that it asks for."""

    EVERYWHERE = auto()
    TARGETS = auto()
    NOWHERE = auto()
    """It gave way to another: its Deployments are gone."""
    UNKNOWN = auto()
    """It is no member of a group, but may run: it keeps what it has."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The permissions that a ClusterServiceVersion asks for, and where."""

    place: Place
    permissions: tuple[Permission, ...] = ()

    @property
    def accounts(self) -> set[str]:
        """The names of the service accounts."""
        return {each["serviceAccountName"] for each in self.permissions}


def asked_by(csv: KubeObject) -> Asked:
    """What one asks for that is no copy."""
    strategy = csv["spec"]["install"].get("spec") or {}
    return Asked(_place(csv), tuple(strategy.get("permissions") or ()))


def _place(csv: KubeObject) -> Place:
    status = csv.get("status") or {}
    targets = annotations_of(csv).get(ANNOTATION_TARGET_NAMESPACES)
    if status.get("reason") in CONFLICTS:
        return Place.NOWHERE
    if targets is None or is_deleting(csv) or not status.get("phase"):
        return Place.UNKNOWN
    modes = csv["spec"].get("installModes") or ()
    supported = {mode["type"] for mode in modes if mode["supported"]}
    # The annotation may be newer than the verdict on it.
    unsuited = unsupported(supported, namespace_of(csv), from_annotation(targets))
    if unsuited or status.get("reason") in _UNSUITED:
        return Place.UNKNOWN
    return Place.TARGETS if targets else Place.EVERYWHERE


def are_granted(
    permissions: Iterable[Permission], held: Mapping[str, Authority], place: str
) -> bool:
    """Whether the accounts have all of the rules in a namespace; "" is the whole cluster.

    `held` is what each account may do, by its name.
    """
    return not any(
        held[each["serviceAccountName"]].lacks(place, rule)
        for each in permissions
        for rule in rules_of(each["rules"])
    )


def cluster_wide(obj: KubeObject) -> KubeObject:
    """The ClusterRole or ClusterRoleBinding of the same name as a Role or RoleBinding."""
    meta = {"name": name_of(obj), "labels": labels_of(obj)}
    made: KubeObject = {"apiVersion": RBAC_API, "kind": f"Cluster{obj['kind']}", "metadata": meta}
    if obj["kind"] == "Role":
        return made | {"rules": [*(obj.get("rules") or ()), WATCH_NAMESPACES]}
    reference = {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": obj["roleRef"]["name"]}
    return made | {"subjects": obj.get("subjects") or [], "roleRef": reference}


def in_namespace_of(copy: KubeObject, obj: KubeObject) -> KubeObject:
    """A Role or RoleBinding as it stands next to a copy of the operator, and goes with it."""
    owner = Owner(name_of(copy), namespace_of(copy), str(metadata(copy)["uid"]))
    labels = {
        **labels_of(obj),
        **owner.labels(),
        LABEL_COPIED_FROM: namespace_of(obj),
        LABEL_MANAGED: "true",
    }
    content = {key: obj.get(key) for key in _CONTENT[obj["kind"]]}
    return {
        "apiVersion": RBAC_API,
        "kind": obj["kind"],
        "metadata": {
            "name": name_of(obj),
            "namespace": owner.namespace,
            "labels": labels,
            "ownerReferences": [owner.reference()],
        },
        **content,
    }
