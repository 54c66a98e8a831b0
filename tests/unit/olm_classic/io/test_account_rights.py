"""What gives rights to an account is found without a look at all Roles of the cluster."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.objects import KubeObject
from olm_classic.io.account_rights import RightsStores
from olm_content.rights.authority import Account, authority_of
from olm_runtime.controller.manager import NAMESPACE
from olm_runtime.watch.packed_store import PackedStore

RBAC = "rbac.authorization.k8s.io/v1"
NAMES = st.sampled_from(["a", "b"])
NAMESPACES = st.sampled_from(["n", "m"])
VERBS = st.lists(st.sampled_from(["get", "list"]), min_size=1, unique=True)
SUBJECTS = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("ServiceAccount"), "name": NAMES}, optional={"namespace": NAMESPACES}
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("User"),
            "name": st.sampled_from(["system:serviceaccount:n:a", "somebody"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "kind": st.just("Group"),
            "name": st.sampled_from(
                ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated", "x"]
            ),
        }
    ),
)


def role(kind: str, name: str, namespace: str, verbs: list[str]) -> KubeObject:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]
    meta = {"name": name, "namespace": namespace, "uid": f"{kind}/{namespace}/{name}"}
    return {"apiVersion": RBAC, "kind": kind, "metadata": meta, "rules": rules}


def binding(
    kind: str, name: str, namespace: str, of: tuple[str, str], subjects: list[dict[str, Any]]
) -> KubeObject:
    meta = {"name": name, "namespace": namespace, "uid": f"{kind}/{namespace}/{name}"}
    reference = {"kind": of[0], "name": of[1]}
    return {
        "apiVersion": RBAC,
        "kind": kind,
        "metadata": meta,
        "roleRef": reference,
        "subjects": subjects,
    }


OBJECTS = st.lists(
    st.one_of(
        st.builds(role, st.just("Role"), NAMES, NAMESPACES, VERBS),
        st.builds(role, st.just("ClusterRole"), NAMES, st.just(""), VERBS),
        st.builds(
            binding,
            st.just("RoleBinding"),
            NAMES,
            NAMESPACES,
            st.tuples(st.sampled_from(["Role", "ClusterRole"]), NAMES),
            st.lists(SUBJECTS, max_size=2),
        ),
        st.builds(
            binding,
            st.just("ClusterRoleBinding"),
            NAMES,
            st.just(""),
            st.tuples(st.just("ClusterRole"), NAMES),
            st.lists(SUBJECTS, max_size=2),
        ),
    ),
    max_size=12,
)


def stores(objects: Iterable[KubeObject]) -> RightsStores:
    index = {NAMESPACE: lambda obj: [obj["metadata"].get("namespace", "")]}
    by_kind = {
        kind: PackedStore(index)
        for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
    }
    found = RightsStores(
        roles=by_kind["Role"],
        bindings=by_kind["RoleBinding"],
        cluster_roles=by_kind["ClusterRole"],
        cluster_bindings=by_kind["ClusterRoleBinding"],
    )
    for obj in objects:
        by_kind[obj["kind"]].update(obj)
    return found


@given(OBJECTS, NAMES, NAMESPACES)
def test_an_index_finds_all_that_counts(
    objects: list[KubeObject], name: str, namespace: str
) -> None:
    unique = {each["metadata"]["uid"]: each for each in objects}.values()
    account = Account(namespace, name)
    found = stores(unique)
    known = authority_of(account, found.of(account))
    whole = authority_of(account, unique)
    assert set(known.cluster) == set(whole.cluster)
    for place in ("n", "m"):
        assert set(known.rules_in(place)) == set(whole.rules_in(place))


def test_a_role_shows_whom_it_is_given_to() -> None:
    subject = {"kind": "ServiceAccount", "name": "a"}
    given_role = role("Role", "r", "n", ["get"])
    found = stores([given_role, binding("RoleBinding", "b", "n", ("Role", "r"), [subject])])
    assert found.subjects_of_role(given_role) == {("ServiceAccount", "n", "a")}
    assert found.subjects_of_role(role("Role", "r", "m", ["get"])) == set()


def test_other_rights_have_another_fingerprint() -> None:
    subject = {"kind": "ServiceAccount", "name": "a"}
    bound = binding("RoleBinding", "b", "n", ("Role", "r"), [subject])
    account = Account("n", "a")
    before = stores([role("Role", "r", "n", ["get"]), bound]).fingerprint(account)
    assert before == stores([role("Role", "r", "n", ["get"]), bound]).fingerprint(account)
    assert before != stores([role("Role", "r", "n", ["list"]), bound]).fingerprint(account)
    assert before != stores([role("Role", "r", "n", ["get"])]).fingerprint(account)
