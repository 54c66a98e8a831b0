"""What an account holds: rules for the whole cluster, and rules in namespaces."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from api.objects import KubeObject, gvk_of, name_of, namespace_of
from olm_content.rights.rules import Permission, Rule, RuleIndex, rule_for, rules_of


class Account(NamedTuple):
    """A service account."""

    namespace: str
    name: str

    @property
    def user(self) -> str:
        """The name the API server knows it by."""
        return f"system:serviceaccount:{self.namespace}:{self.name}"

    @property
    def groups(self) -> frozenset[str]:
        """The groups the API server puts every service account into."""
        return frozenset(
            {
                "system:serviceaccounts",
                f"system:serviceaccounts:{self.namespace}",
                "system:authenticated",
            }
        )


class Authority:
    """Rules by where they count, and single permissions that other authorizers give.

    Handing out rights is only a question of rules, as it is for the API server.
    """

    def __init__(
        self,
        cluster: tuple[Rule, ...] = (),
        namespaces: Mapping[str, tuple[Rule, ...]] = MappingProxyType({}),
        otherwise: frozenset[Permission] = frozenset(),
    ) -> None:
        self.cluster = cluster
        self.namespaces = namespaces
        self.otherwise = otherwise
        self._indexes: dict[str, RuleIndex] = {}
        """By namespace, made when it is first asked about."""

    def rules_in(self, namespace: str) -> Sequence[Rule]:
        """All rules that count in a namespace; "" asks for the whole cluster."""
        return (*self.cluster, *self.namespaces.get(namespace, ()))

    def lacks(self, namespace: str, rule: Rule) -> set[Permission]:
        """What of a rule is not held by rules."""
        index = self._indexes.get(namespace)
        if index is None:
            index = self._indexes[namespace] = RuleIndex(self.rules_in(namespace))
        return set(index.uncovered(namespace, rule))

    def with_rules_of(self, other: "Authority") -> "Authority":
        """This and the rules of another together."""
        places = self.namespaces.keys() | other.namespaces.keys()
        return Authority(
            cluster=self.cluster + other.cluster,
            namespaces={
                place: (*self.namespaces.get(place, ()), *other.namespaces.get(place, ()))
                for place in places
            },
            otherwise=self.otherwise | other.otherwise,
        )

    def allows(self, permission: Permission) -> bool:
        """Whether a request would be let by."""
        if permission in self.otherwise:
            return True
        return not self.lacks(permission.namespace, rule_for(permission))


def authority_of(account: Account, objects: Iterable[KubeObject]) -> Authority:
    """What Roles, ClusterRoles and their bindings among `objects` give to an account.

    A binding whose role is not among them gives nothing. Aggregated roles count with the rules
    that are in them.
    """
    roles: dict[tuple[str, str, str], tuple[Rule, ...]] = {}
    bindings: list[KubeObject] = []
    for obj in objects:
        match gvk_of(obj).kind:
            case "Role" | "ClusterRole" as kind:
                roles[kind, namespace_of(obj), name_of(obj)] = rules_of(obj.get("rules"))
            case "RoleBinding" | "ClusterRoleBinding":
                bindings.append(obj)
    held: dict[str, tuple[Rule, ...]] = {}
    for binding in bindings:
        if _is_subject(account, binding):
            namespace = namespace_of(binding)
            given = roles.get(_referred(binding), ())
            held[namespace] = held.get(namespace, ()) + given
    return Authority(held.pop("", ()), held)


def _referred(binding: KubeObject) -> tuple[str, str, str]:
    reference = binding.get("roleRef") or {}
    kind = str(reference.get("kind"))
    namespace = namespace_of(binding) if kind == "Role" else ""
    return kind, namespace, str(reference.get("name"))


def _is_subject(account: Account, binding: KubeObject) -> bool:
    subjects: Iterable[dict[str, Any]] = binding.get("subjects") or ()
    return any(_is(account, subject, namespace_of(binding)) for subject in subjects)


def _is(account: Account, subject: Mapping[str, Any], namespace: str) -> bool:
    name = subject.get("name")
    match subject.get("kind"):
        case "ServiceAccount":
            where = subject.get("namespace") or namespace
            return (where, name) == (account.namespace, account.name)
        case "User":
            return name == account.user
        case "Group":
            return name in account.groups
        case _:
            return False
