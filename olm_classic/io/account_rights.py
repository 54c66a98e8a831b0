"""The Roles and bindings that give rights to an account, found by indexes of their stores."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from api.objects import KubeObject, gvk_of, metadata, name_of, namespace_of
from olm_classic.csv.owner import owner_of
from olm_content.rights.authority import Account, authority_of
from olm_runtime.watch.store import Store

OWNER = "owning-csv"
"""The index by the namespace and name of the ClusterServiceVersion that labels name."""
SUBJECT = "subject"
ROLE = "role"

Fingerprint = tuple[object, ...]
"""Equal ones mean equal rights."""


@dataclass(frozen=True, slots=True)
class RightsStores:
    """All of the cluster, with their rules and subjects."""

    roles: Store[KubeObject]
    bindings: Store[KubeObject]
    cluster_roles: Store[KubeObject]
    cluster_bindings: Store[KubeObject]

    def __post_init__(self) -> None:
        """Adds the indexes."""
        for bindings in (self.bindings, self.cluster_bindings):
            bindings.add_index(SUBJECT, subjects_of)
            bindings.add_index(ROLE, lambda binding: [_role_of(binding)])
        for owned in (self.cluster_roles, self.cluster_bindings):
            owned.add_index(OWNER, owner_of)

    def of(self, *accounts: Account) -> list[KubeObject]:
        """The bindings of accounts, and the roles that these name."""
        found: dict[tuple[str, str, str], KubeObject] = {}
        for account in accounts:
            for binding in self._bindings(account):
                found[_identity(binding)] = binding
                kind, namespace, name = _role_of(binding)
                store = self.roles if kind == "Role" else self.cluster_roles
                role = store.get(name, namespace)
                if role is not None:
                    found[kind, namespace, name] = role
        return list(found.values())

    def _bindings(self, account: Account) -> Iterator[KubeObject]:
        subjects: list[Hashable] = [
            ("ServiceAccount", account.namespace, account.name),
            ("User", "", account.user),
            *(("Group", "", group) for group in account.groups),
        ]
        for store in (self.bindings, self.cluster_bindings):
            for subject in subjects:
                yield from store.by_index(SUBJECT, subject)

    def subjects_of_role(self, role: KubeObject) -> set[tuple[str, str, str]]:
        """Whom bindings give a Role or ClusterRole."""
        stores = (self.bindings, self.cluster_bindings)
        bound = [each for store in stores for each in store.by_index(ROLE, _identity(role))]
        return {subject for binding in bound for subject in subjects_of(binding)}

    def fingerprint(self, account: Account) -> Fingerprint:
        """Of what an account may do."""
        authority = authority_of(account, self.of(account))
        places = ((place, frozenset(rules)) for place, rules in authority.namespaces.items())
        return frozenset(authority.cluster), frozenset(places)


def subjects_of(binding: KubeObject) -> list[tuple[str, str, str]]:
    """Kind, namespace (of accounts only) and name of each subject of a binding."""
    found = []
    for subject in binding.get("subjects") or ():
        kind, name = str(subject.get("kind")), str(subject.get("name"))
        is_account = kind == "ServiceAccount"
        namespace = (subject.get("namespace") or namespace_of(binding)) if is_account else ""
        found.append((kind, str(namespace), name))
    return found


def versions_of(objects: Iterable[KubeObject]) -> frozenset[tuple[str, str, str]]:
    """Kind, name and version of each."""
    return frozenset(
        (gvk_of(each).kind, name_of(each), str(metadata(each).get("resourceVersion")))
        for each in objects
    )


def _identity(obj: KubeObject) -> tuple[str, str, str]:
    return gvk_of(obj).kind, namespace_of(obj), name_of(obj)


def _role_of(binding: KubeObject) -> tuple[str, str, str]:
    reference = binding.get("roleRef") or {}
    kind = str(reference.get("kind"))
    namespace = namespace_of(binding) if kind == "Role" else ""
    return kind, namespace, str(reference.get("name"))
