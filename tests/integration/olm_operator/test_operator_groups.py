"""OperatorGroups: what they select, whom they let in, and which operators may be members."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, labels_of, metadata
from api.operators.names import V1
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place, status
from e2e.olm.fbc import package_blobs
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader
from olm_classic.csv.owner import Owner
from olm_classic.csv.permissions import account_objects
from olm_classic.operator_groups.cluster_roles import cluster_role_name

pytestmark = pytest.mark.integration

NAME = "op.v1.0.0"
RBAC = "rbac.authorization.k8s.io"
RBAC_PATH = f"/apis/{RBAC}/v1"
CLUSTER_ROLES = f"{RBAC_PATH}/clusterroles"
RULE = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
PERMISSIONS = [{"serviceAccountName": "operator", "rules": [RULE]}]
ALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


@pytest.fixture
def places(olm: Classic) -> Iterator[Callable[..., Place]]:
    """Makes namespaces, with a group of a spec or, with None, without one."""
    made: list[Place] = []

    def make(group: Mapping[str, Any] | None) -> Place:
        if group is None:
            place = Place(olm, f"test-{secrets.token_hex(4)}")
            name_space(place)
        else:
            place = olm.place(group=group)
        made.append(place)
        return place

    yield make
    names = [place.name for place in made]
    if names:
        olm.remove(*names)


@pytest.fixture
def crd(olm: Classic) -> Iterator[dict[str, str]]:
    """A definition of the test's own, as a ClusterServiceVersion lists it."""
    group = f"g{secrets.token_hex(4)}.example.com"
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    Place(olm, "default").apply(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": names,
                "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
            },
        }
    )
    yield {"name": f"things.{group}", "version": "v1", "kind": "Thing"}
    olm.remove_definition(f"things.{group}")


def api_of(crd: Mapping[str, str]) -> str:
    """As the annotation of a group has it."""
    return f"Thing.v1.{crd['name'].partition('.')[2]}"


def name_space(place: Place, **labels: str) -> None:
    meta = {"name": place.name, "labels": labels}
    place.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})


def unlabel(place: Place, label: str) -> None:
    path = f"/api/v1/namespaces/{place.name}"
    place.classic.api.patch(path, {"metadata": {"labels": {label: None}}})


def groups_path(place: Place, name: str = "group") -> str:
    return place.path("operatorgroups", name, version=V1)


def wait_group(
    place: Place, holds: Callable[[KubeObject], bool], name: str = "group"
) -> KubeObject:
    found = place.classic.api.wait(
        groups_path(place, name),
        lambda obj: obj is not None and holds(obj),
        what=f"the group of {place.name}",
    )
    return found or {}


def wait_selected(place: Place, *namespaces: str) -> KubeObject:
    """Waits until a group has found these namespaces."""
    wanted = set(namespaces)
    return wait_group(place, lambda obj: set(status(obj, "namespaces") or ["?"]) == wanted)


def wait_reason(place: Place, reason: str, name: str = NAME) -> KubeObject:
    return place.wait("clusterserviceversions", name, lambda csv: status(csv, "reason") == reason)


def wait_annotation(place: Place, wanted: str | None) -> None:
    wait_group(place, lambda obj: annotations_of(obj).get("olm.providedAPIs") == wanted)


def change_group(place: Place, spec: Mapping[str, Any] | None) -> None:
    place.patch("operatorgroups", "group", {"spec": spec}, version=V1)


def target(place: Place, *namespaces: str) -> None:
    change_group(place, {"targetNamespaces": list(namespaces) or None})


def install(place: Place, **spec: Any) -> None:
    """A version made by hand, with the account and the roles that a plan makes of it."""
    csv = place.csv(NAME, permissions=PERMISSIONS, **spec)
    made = place.wait("clusterserviceversions", NAME, lambda _: True)
    owner = Owner(NAME, place.name, str(metadata(made)["uid"]))
    permissions = csv["spec"]["install"]["spec"]["permissions"]
    for account in account_objects(owner, permissions, ()):
        place.apply(account.service_account, *account.roles, *account.role_bindings)


def selectors(role: KubeObject | None) -> list[Any]:
    return ((role or {}).get("aggregationRule") or {}).get("clusterRoleSelectors") or []


def uid_label(place: Place) -> str:
    group = place.classic.api.get(groups_path(place)) or {}
    return f"olm.operatorgroup.uid/{metadata(group)['uid']}"


def wait_label(place: Place, label: str, *, there: bool = True) -> None:
    place.classic.api.wait(
        f"/api/v1/namespaces/{place.name}",
        lambda obj: obj is not None and (label in labels_of(obj)) is there,
        what=f"label {label} of {place.name}: {there}",
    )


def test_labels_of_target_namespaces(places: Callable[..., Place]) -> None:
    one, other = places(None), places(None)
    owner = places({"targetNamespaces": [one.name]})
    wait_selected(owner, one.name)
    label = uid_label(owner)
    wait_label(one, label)
    target(owner, other.name)
    wait_label(one, label, there=False)
    wait_label(other, label)
    unlabel(other, label)
    wait_label(other, label)
    change_group(owner, {"targetNamespaces": None})
    wait_selected(owner, "")
    wait_label(other, label, there=False)


def test_labels_follow_a_selector_and_matching_labels(places: Callable[..., Place]) -> None:
    team = secrets.token_hex(4)
    one, other = places(None), places(None)
    name_space(one, team=team)
    owner = places({"selector": {"matchLabels": {"team": team}}})
    wait_selected(owner, one.name)
    label = uid_label(owner)
    wait_label(one, label)
    name_space(other, team=team)
    wait_selected(owner, one.name, other.name)
    wait_label(other, label)
    unlabel(one, "team")
    wait_selected(owner, other.name)
    wait_label(one, label, there=False)


def test_labels_and_cluster_roles_go_with_a_group_that_nobody_saw_go(
    olm: Classic, places: Callable[..., Place]
) -> None:
    one = places(None)
    owner, seen = places({"targetNamespaces": [one.name]}), places({"targetNamespaces": [one.name]})
    labels = [uid_label(owner), uid_label(seen)]
    for label in labels:
        wait_label(one, label)
    roles = {place: cluster_role_name(place.name, "group", "edit") for place in (owner, seen)}
    for role in roles.values():
        olm.api.wait(f"{CLUSTER_ROLES}/{role}", lambda obj: obj is not None, what=role)
    olm.api.delete(groups_path(seen))
    olm.api.wait_gone(f"{CLUSTER_ROLES}/{roles[seen]}")
    wait_label(one, labels[1], there=False)
    assert olm.operator is not None
    olm.operator.kill()
    olm.api.delete(groups_path(owner))
    olm.start_operator()
    olm.api.wait_gone(f"{CLUSTER_ROLES}/{roles[owner]}")
    wait_label(one, labels[0], there=False)


def test_several_groups_of_a_namespace(place: Place) -> None:
    place.csv(NAME)
    place.wait_csv(NAME)
    place.create(V1, "OperatorGroup", "second", {})
    for name in ("group", "second"):
        found = place.classic.api.wait_condition(
            groups_path(place, name), "MultipleOperatorGroup", "True"
        )
        reported = condition(found, "MultipleOperatorGroup") or {}
        assert reported["reason"] == "MultipleOperatorGroupsFound"
        assert reported["message"] == "Multiple OperatorGroup found in the same namespace"
    wait_reason(place, "TooManyOperatorGroups")
    place.classic.api.delete(groups_path(place, "second"))
    wait_group(place, lambda obj: condition(obj, "MultipleOperatorGroup") is None)
    place.wait_csv(NAME)


def test_a_group_reports_its_service_account(places: Callable[..., Place]) -> None:
    place = places({"serviceAccountName": "scoped"})
    path = groups_path(place)
    found = place.classic.api.wait_condition(path, "OperatorGroupServiceAccount", "True")
    reported = condition(found, "OperatorGroupServiceAccount") or {}
    assert (reported["reason"], reported["message"]) == (
        "ServiceAccountNotFound",
        "ServiceAccount scoped not found",
    )
    assert not status(found, "namespaces"), "nothing is shown of what it selects"
    meta = {"name": "scoped", "namespace": place.name}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    found = wait_group(place, lambda obj: bool(status(obj, "serviceAccountRef")))
    assert condition(found, "OperatorGroupServiceAccount") is None
    assert status(found, "namespaces") == [""]
    account = place.classic.api.get(f"/api/v1/namespaces/{place.name}/serviceaccounts/scoped") or {}
    assert labels_of(account)["olm.managed"] == "true"
    managers = {entry["manager"] for entry in metadata(account)["managedFields"]}
    assert "operator-lifecycle-manager" in managers
    assert status(found, "serviceAccountRef") == {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        **meta,
        "uid": metadata(account)["uid"],
    }
    change_group(place, {"serviceAccountName": None})
    wait_group(place, lambda obj: status(obj, "serviceAccountRef") is None)


def test_role_aggregation(olm: Classic, place: Place, crd: dict[str, str]) -> None:
    place.csv(NAME, owned=[crd])
    place.wait_csv(NAME)
    wait_annotation(place, api_of(crd))
    group = crd["name"].partition(".")[2]
    for level, verb in (("admin", "*"), ("edit", "create"), ("view", "watch")):
        name = cluster_role_name(place.name, "group", level)
        role = olm.api.wait(
            f"{CLUSTER_ROLES}/{name}",
            lambda obj, verb=verb: (
                obj is not None  # type: ignore[misc]
                and any(
                    group in rule.get("apiGroups", ()) and verb in rule["verbs"]
                    for rule in obj.get("rules") or ()
                )
            ),
            what=f"the {level} role of the group",
        )
        assert labels_of(role or {})["olm.owner.kind"] == "OperatorGroup"
    view = f"{CLUSTER_ROLES}/{crd['name']}-v1-view"
    olm.api.delete(view)
    found = olm.api.wait(view, lambda obj: obj is not None, what="a role that was deleted")
    [owner] = metadata(found or {})["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("CustomResourceDefinition", crd["name"])
    assert olm.api.get(f"{CLUSTER_ROLES}/{crd['name']}-v1-crdview") is not None
    place.delete("clusterserviceversions", NAME)
    wait_annotation(place, "")
    olm.api.wait(
        f"{CLUSTER_ROLES}/{cluster_role_name(place.name, 'group', 'view')}",
        lambda obj: obj is not None and not selectors(obj) and not obj.get("rules"),
        what="a group that provides nothing",
    )
    assert olm.api.get(view) is not None, "it goes with the definition"


@pytest.mark.parametrize("lacking", ALL_MODES)
def test_install_mode_support(places: Callable[..., Place], lacking: str) -> None:
    own, other = places({}), places(None)
    targets = {
        "OwnNamespace": [own.name],
        "SingleNamespace": [other.name],
        "MultiNamespace": [own.name, other.name],
        "AllNamespaces": [],
    }
    texts = {
        "OwnNamespace": "own namespace",
        "SingleNamespace": "one namespace",
        "MultiNamespace": "2 namespaces",
        "AllNamespaces": "all namespaces",
    }
    target(own, *targets[lacking])
    own.csv(NAME, modes=[mode for mode in ALL_MODES if mode != lacking])
    csv = wait_reason(own, "UnsupportedOperatorGroup")
    assert status(csv, "phase") == "Failed"
    assert status(csv, "message") == (
        f"{lacking} InstallModeType not supported, cannot configure to watch {texts[lacking]}"
    )
    if lacking in ("AllNamespaces", "MultiNamespace"):
        target(own, own.name)
    else:
        modes = [{"type": mode, "supported": True} for mode in ALL_MODES]
        own.patch("clusterserviceversions", NAME, {"spec": {"installModes": modes}})
    own.wait_csv(NAME)


def test_intersection(places: Callable[..., Place], crd: dict[str, str]) -> None:
    shared = places(None)
    one, other = places({}), places({})
    target(one, shared.name)
    target(other, shared.name)
    one.csv(NAME, owned=[crd])
    one.wait_csv(NAME)
    wait_annotation(one, api_of(crd))
    other.csv(NAME, owned=[crd])
    csv = wait_reason(other, "InterOperatorGroupOwnerConflict")
    assert status(csv, "message") == "intersecting operatorgroups provide the same apis"
    assert one.classic.api.get(other.path("deployments", "controller", version="apps/v1")) is None
    one.wait_csv(NAME)
    target(other, other.name)
    other.wait_csv(NAME)
    wait_annotation(other, api_of(crd))
    target(other, shared.name)
    conflict = "InterOperatorGroupOwnerConflict"
    places_of = "clusterserviceversions"

    def reasons() -> list[str]:
        found = [one.classic.api.get(each.path(places_of, NAME)) for each in (one, other)]
        return sorted(str(status(each or {}, "reason")) for each in found)

    one.classic.api.wait(
        other.path(places_of, NAME),
        lambda _: reasons() == ["InstallSucceeded", conflict],
        what="one of two",
    )
    loser, winner = (one, other) if _reason(one) == conflict else (other, one)
    winner.delete(places_of, NAME)
    loser.wait_csv(NAME)
    wait_annotation(winner, "")
    wait_annotation(loser, api_of(crd))


def _reason(place: Place) -> str:
    found = place.classic.api.get(place.path("clusterserviceversions", NAME))
    return str(status(found or {}, "reason"))


def test_static_provider(places: Callable[..., Place], crd: dict[str, str]) -> None:
    target_place = places(None)
    static = places({"targetNamespaces": [target_place.name], "staticProvidedAPIs": True})
    static.patch(
        "operatorgroups",
        "group",
        {"metadata": {"annotations": {"olm.providedAPIs": api_of(crd)}}},
        version=V1,
    )
    other = places({"targetNamespaces": [target_place.name]})
    other.csv(NAME, owned=[crd])
    wait_reason(other, "InterOperatorGroupOwnerConflict")
    wait_annotation(static, api_of(crd))
    static.patch(
        "operatorgroups",
        "group",
        {"metadata": {"annotations": {"olm.providedAPIs": "Other.v1.example.com"}}},
        version=V1,
    )
    other.wait_csv(NAME)
    static.csv(NAME, owned=[{**crd, "version": "v2"}])
    csv = wait_reason(static, "CannotModifyStaticOperatorGroupProvidedAPIs")
    text = "static provided api operatorgroup cannot be modified by these apis"
    assert status(csv, "message") == text
    wait_annotation(static, "Other.v1.example.com")
    change_group(static, {"staticProvidedAPIs": False})
    wait_reason(static, "RequirementsNotMet")
    wait_annotation(static, f"{api_of(crd).replace('v1', 'v2')}")


def test_a_namespace_of_targets_that_is_made_anew(places: Callable[..., Place]) -> None:
    team = secrets.token_hex(4)
    one = places(None)
    name_space(one, team=team)
    owner = places({"selector": {"matchLabels": {"team": team}}})
    wait_selected(owner, one.name)
    wait_label(one, uid_label(owner))
    owner.csv(NAME)
    owner.wait_csv(NAME)
    one.classic.control_plane.kubectl("delete", "namespace", one.name)
    wait_group(owner, lambda obj: status(obj, "namespaces") == [])
    csv = wait_reason(owner, "NoTargetNamespaces")
    assert "olm.targetNamespaces" not in annotations_of(csv), "an empty text is all of them"
    name_space(one, team=team)
    wait_selected(owner, one.name)
    wait_label(one, uid_label(owner))
    csv = owner.wait_csv(NAME)
    assert annotations_of(csv)["olm.targetNamespaces"] == one.name


def test_many_namespaces_are_one_write(olm: Classic, places: Callable[..., Place]) -> None:
    team, count = secrets.token_hex(4), 10
    place = Place(olm, "default")
    names = sorted(f"many-{team}-{number:03}" for number in range(count))
    place.apply(
        *(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": {"team": team}},
            }
            for name in names
        )
    )
    try:
        owner = places({"selector": {"matchLabels": {"team": team}}})
        found = wait_group(owner, lambda obj: len(status(obj, "namespaces") or ()) == count)
        assert status(found, "namespaces") == names
        label = uid_label(owner)
        olm.api.wait(
            groups_path(owner),
            lambda _: len(olm.api.list("/api/v1/namespaces", labels=label)) == count,
            what="labels of all",
        )
        after = olm.api.get(groups_path(owner)) or {}
        assert metadata(after)["resourceVersion"] == metadata(found)["resourceVersion"]
        before = versions_of(olm, label)
        olm.restart_operator(kill=True)
        one = places(None)
        wait_label(one, uid_label(places({"targetNamespaces": [one.name]})))
        assert versions_of(olm, label) == before, "what is so already is written again"
        target(owner, one.name)
        wait_label(one, label)
        wait_label(Place(olm, names[-1]), label, there=False)
    finally:
        for name in names:  # they are empty
            olm.control_plane.drop_namespace(name)


def versions_of(olm: Classic, label: str) -> list[str]:
    """The resourceVersions of namespaces."""
    found = olm.api.list("/api/v1/namespaces", labels=label)
    return [metadata(each)["resourceVersion"] for each in found]


def roles_in(place: Place, plural: str = "roles") -> list[KubeObject]:
    """Those of the operator in a namespace."""
    path = f"{RBAC_PATH}/namespaces/{place.name}/{plural}"
    return place.classic.api.list(path, labels=f"olm.owner={NAME}")


def test_e2e_functionality(places: Callable[..., Place], crd: dict[str, str]) -> None:
    one, other = places(None), places(None)
    owner = places({"targetNamespaces": [one.name, other.name]})
    api = owner.classic.api
    install(owner, owned=[crd])
    csv = owner.wait_csv(NAME)
    targets = ",".join(sorted([one.name, other.name]))
    assert annotations_of(csv)["olm.targetNamespaces"] == targets
    deployment = api.get(owner.path("deployments", "controller", version="apps/v1")) or {}
    template = deployment["spec"]["template"]["metadata"]["annotations"]
    assert template["olm.targetNamespaces"] == targets
    wait_annotation(owner, api_of(crd))
    for place in (one, other):
        copy = place.wait("clusterserviceversions", NAME, lambda _: True)
        assert labels_of(copy)["olm.copiedFrom"] == owner.name
        for plural in ("roles", "rolebindings"):
            path = f"{RBAC_PATH}/namespaces/{place.name}/{plural}"
            api.wait(path, lambda _, p=place, k=plural: bool(roles_in(p, k)), what=plural)  # type: ignore[misc]
            [found] = roles_in(place, plural)
            assert labels_of(found)["olm.copiedFrom"] == owner.name
            assert metadata(found)["ownerReferences"][0]["uid"] == metadata(copy)["uid"]
    as_operator = f"--as=system:serviceaccount:{owner.name}:operator"
    kubectl = owner.classic.control_plane.kubectl
    kubectl("auth", "can-i", "list", "configmaps", "-n", one.name, as_operator)
    [binding] = roles_in(one, "rolebindings")
    path = f"{RBAC_PATH}/namespaces/{one.name}/rolebindings"
    api.delete(f"{path}/{metadata(binding)['name']}")
    api.wait(path, lambda _: bool(roles_in(one, "rolebindings")), what="a binding comes back")
    target(owner, one.name)
    api.wait_gone(other.path("clusterserviceversions", NAME))
    path = f"{RBAC_PATH}/namespaces/{other.name}/roles"
    api.wait(path, lambda _: not roles_in(other), what="roles go with the copy")
    owner.delete("clusterserviceversions", NAME)
    api.wait_gone(one.path("clusterserviceversions", NAME))
    wait_annotation(owner, "")


def test_csv_copy_watching_all_namespaces(places: Callable[..., Place]) -> None:
    one, owner = places(None), places({})
    api = owner.classic.api
    install(owner)
    owner.wait_csv(NAME)
    copy = one.wait("clusterserviceversions", NAME, lambda _: True)
    assert "olm.targetNamespaces" not in annotations_of(copy)
    [role] = roles_in(owner)
    name = metadata(role)["name"]
    found = api.wait(f"{CLUSTER_ROLES}/{name}", lambda obj: obj is not None, what="a cluster role")
    watched = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}
    assert (found or {})["rules"] == [RULE, watched]
    binding = f"{RBAC_PATH}/clusterrolebindings/{name}"
    api.wait(binding, lambda obj: obj is not None, what="a cluster role binding")
    api.delete(f"{CLUSTER_ROLES}/{name}")
    api.wait(f"{CLUSTER_ROLES}/{name}", lambda obj: obj is not None, what="it comes back")
    target(owner, owner.name)
    for path in (f"{CLUSTER_ROLES}/{name}", binding):
        api.wait_gone(path)
    api.wait_gone(one.path("clusterserviceversions", NAME))


def test_rights_that_an_account_has_are_not_given_again(places: Callable[..., Place]) -> None:
    one = places(None)
    owner = places({"targetNamespaces": [one.name]})
    api, kubectl = owner.classic.api, owner.classic.control_plane.kubectl
    where = ("-n", one.name)
    kubectl("create", "role", "reader", "--verb=*", "--resource=configmaps", *where)
    subject = f"--serviceaccount={owner.name}:operator"
    kubectl("create", "rolebinding", "reader", "--role=reader", subject, *where)
    install(owner)
    owner.wait_csv(NAME)
    one.wait_csv(NAME)
    assert not roles_in(one)
    kubectl("delete", "role", "reader", *where)
    path = f"{RBAC_PATH}/namespaces/{one.name}/roles"
    api.wait(path, lambda _: bool(roles_in(one)), what="rights that somebody took away")


class Modest(BundleSpec):
    """One that asks for rights in its own namespace alone."""

    def _csv(self) -> dict[str, Any]:
        csv = super()._csv()
        strategy = csv["spec"]["install"]["spec"]
        strategy["permissions"] = strategy.pop("clusterPermissions")
        return csv


def test_the_page_of_operator_groups(
    olm: Classic, places: Callable[..., Place], registry: Registry, tmp_path: Path
) -> None:
    """And with it user-defined service accounts: without permission, and tried again with it."""
    pages = ("limited", "red-apps", "red-operators")
    names = {name: f"{name}-{secrets.token_hex(3)}" for name in pages}
    place = Place(olm, names["limited"])
    name_space(place)
    bundle = Modest(package="modest", version="1.0.0", configmaps=(), modes=["OwnNamespace"])
    place.catalog("operators", [dict(each) for each in package_blobs([bundle.publish(registry)])])
    reader = Reader(tmp_path, olm.control_plane, names=names)
    try:
        reader.follow(steps(DOCS / "classic" / "operator-groups.md"))
        [plan] = place.install_plans()
        assert status(plan, "attenuatedServiceAccountRef")["name"] == "installer"
    finally:
        olm.remove(*names.values())
