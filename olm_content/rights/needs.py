"""What an account needs to install and manage the objects of a bundle.

For each object: create, list and watch, which cannot be limited to names; get, update, patch and
delete by name. For the extension: update of its finalizers, because the objects name it as their
owner. For roles and bindings: what they hand out, as nobody can give what he does not hold
(documents, 1.11 and 1.20). For objects that an update removes: get and delete by name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from api.olm.v1 import names
from olm_content.rights.kinds import Kind
from olm_content.rights.rules import FULL_AUTHORITY, NONE, Permission, Rule, Words, rules_of

RBAC_GROUP = "rbac.authorization.k8s.io"

COLLECTION_VERBS = frozenset({"create", "list", "watch"})
OBJECT_VERBS = frozenset({"get", "update", "patch", "delete"})
REMOVAL_VERBS = frozenset({"get", "delete"})

_ROLE_RESOURCES = {"Role": "roles", "ClusterRole": "clusterroles"}
_BINDINGS = frozenset({"RoleBinding", "ClusterRoleBinding"})


class RoleKey(NamedTuple):
    """A Role or RoleBinding, or with an empty namespace a ClusterRole or ClusterRoleBinding."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Role "namespace/name"`, `ClusterRole "name"`."""
        return f'{self.kind} "{self.namespace + "/" if self.namespace else ""}{self.name}"'


class Action(NamedTuple):
    """Requests that will be made: a rule that has to be allowed in a namespace.

    They are made for the objects of a `kind` with these `names`.
    """

    namespace: str
    rule: Rule
    kind: str
    names: Words


class Grant(NamedTuple):
    """Rights that an object hands out, which the account has to hold where it hands them out.

    `rules` is None where the role is not in the bundle. Who has `instead` need not hold them.
    """

    giver: RoleKey
    namespace: str
    instead: Permission
    role: RoleKey
    rules: tuple[Rule, ...] | None


class Needs(NamedTuple):
    """Everything; `unserved` are kinds that no resource is known for."""

    actions: tuple[Action, ...]
    grants: tuple[Grant, ...]
    unserved: tuple[GVK, ...]

    @property
    def namespaces(self) -> list[str]:
        """Where anything is needed, the cluster itself ("") left out."""
        acted = {action.namespace for action in self.actions}
        granted = {grant.namespace for grant in self.grants}
        return sorted((acted | granted) - {""})


def needs_of(
    objects: Sequence[KubeObject],
    kinds: Mapping[GVK, Kind],
    extension: str,
    *,
    removed: Sequence[KubeObject] = (),
) -> Needs:
    """What managing `objects` for the ClusterExtension named `extension` needs.

    And removing those that are `removed`; nothing is needed for what no resource serves any more.
    """
    bundled = {_role_key(obj): _role_rules(obj) for obj in objects if _is_role(obj)}
    return Needs(
        actions=(
            _finalizers(extension),
            *_actions(objects, kinds, ((COLLECTION_VERBS, False), (OBJECT_VERBS, True))),
            *_actions(removed, kinds, ((REMOVAL_VERBS, True),)),
        ),
        grants=tuple(_grants(objects, bundled)),
        unserved=tuple(sorted({gvk_of(obj) for obj in objects} - kinds.keys())),
    )


def _finalizers(extension: str) -> Action:
    only = frozenset({extension})
    rule = Rule(
        verbs=frozenset({"update"}),
        groups=frozenset({names.GROUP}),
        resources=frozenset({"clusterextensions/finalizers"}),
        names=only,
    )
    return Action("", rule, names.CLUSTER_EXTENSION, only)


def _actions(
    objects: Iterable[KubeObject],
    kinds: Mapping[GVK, Kind],
    verbs_by_name: Iterable[tuple[Words, bool]],
) -> Iterator[Action]:
    """`verbs_by_name`: verbs, and whether they are needed by the names of the objects alone."""
    by_place: dict[tuple[str, str, str, str], set[str]] = {}
    for obj in objects:
        gvk = gvk_of(obj)
        if kind := kinds.get(gvk):
            namespace = namespace_of(obj) if kind.namespaced else ""
            place = (namespace, gvk.group, kind.plural, gvk.kind)
            by_place.setdefault(place, set()).add(name_of(obj))
    for (namespace, group, plural, kind_name), found in sorted(by_place.items()):
        only = frozenset(found)
        for verbs, by_name in verbs_by_name:
            rule = Rule(
                verbs=verbs,
                groups=frozenset({group}),
                resources=frozenset({plural}),
                names=only if by_name else NONE,
            )
            yield Action(namespace, rule, kind_name, only)


def _grants(
    objects: Iterable[KubeObject], bundled: Mapping[RoleKey, tuple[Rule, ...]]
) -> Iterator[Grant]:
    for obj in objects:
        if _is_role(obj):
            yield _role_grant(obj)
        elif _is_rbac(obj) and gvk_of(obj).kind in _BINDINGS:
            yield _binding_grant(obj, bundled)


def _role_grant(role: KubeObject) -> Grant:
    key = _role_key(role)
    # A role is created by POST, which names no object: escalate for its name would not count.
    escalate = Permission(key.namespace, "escalate", RBAC_GROUP, _ROLE_RESOURCES[key.kind])
    return Grant(key, key.namespace, escalate, key, _role_rules(role))


def _binding_grant(binding: KubeObject, bundled: Mapping[RoleKey, tuple[Rule, ...]]) -> Grant:
    reference = binding.get("roleRef") or {}
    kind, name = str(reference.get("kind")), str(reference.get("name") or "")
    namespace = namespace_of(binding)
    role = RoleKey(kind, namespace if kind == "Role" else "", name)
    bind = Permission(namespace, "bind", RBAC_GROUP, _ROLE_RESOURCES.get(kind, kind), name)
    giver = RoleKey(gvk_of(binding).kind, namespace, name_of(binding))
    return Grant(giver, namespace, bind, role, bundled.get(role))


def _is_rbac(obj: KubeObject) -> bool:
    return gvk_of(obj).group == RBAC_GROUP


def _is_role(obj: KubeObject) -> bool:
    return _is_rbac(obj) and gvk_of(obj).kind in _ROLE_RESOURCES


def _role_key(role: KubeObject) -> RoleKey:
    kind = gvk_of(role).kind
    return RoleKey(kind, namespace_of(role) if kind == "Role" else "", name_of(role))


def _role_rules(role: KubeObject) -> tuple[Rule, ...]:
    """What is in a role of the bundle; an aggregated one may come to hold anything."""
    rules = rules_of(role.get("rules"))
    aggregation = role.get("aggregationRule") or {}
    return rules + FULL_AUTHORITY if aggregation.get("clusterRoleSelectors") else rules
