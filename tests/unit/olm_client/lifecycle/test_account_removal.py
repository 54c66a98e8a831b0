"""Which objects of an account go with its extension, and why others stay."""

from typing import Any

from api.objects import KubeObject, key_of
from olm_client.lifecycle.account_removal import (
    AccountObjects,
    AccountRemoval,
    account_facts,
    account_lines,
    account_removal,
    left_inside,
)
from olm_content.rights import Account

ACCOUNT = Account("apps", "op-installer")
OLMS = {"app.kubernetes.io/managed-by": "olm"}


def obj(kind: str, name: str, namespace: str = "", **more: Any) -> KubeObject:
    meta = {"name": name, "uid": f"{kind}/{namespace}/{name}"} | more.pop("metadata", {})
    return {"apiVersion": "v1", "kind": kind, "metadata": meta | {"namespace": namespace}} | more


def managed(*managers: str, field: str = "f:rules") -> dict[str, Any]:
    entries = [{"manager": manager, "fieldsV1": {field: {}}} for manager in managers]
    return {"metadata": {"labels": OLMS, "managedFields": entries}}


def binding(kind: str = "ClusterRoleBinding", namespace: str = "", **more: Any) -> KubeObject:
    role = {"kind": kind.removesuffix("Binding"), "name": "op-installer"}
    subject = {"kind": "ServiceAccount", "name": "op-installer", "namespace": "apps"}
    given = managed("olm", field="f:subjects") | {"roleRef": role, "subjects": [subject]} | more
    return obj(kind, "op-installer", namespace, **given)


def made_by(manager: str) -> KubeObject:
    return obj("Namespace", "apps", **managed(manager, field="f:metadata"))


def extension(name: str, namespace: str = "apps", account: str = "op-installer") -> KubeObject:
    spec = {"namespace": namespace, "serviceAccount": {"name": account}}
    return obj("ClusterExtension", name, spec=spec)


def whole(**changed: Any) -> AccountObjects:
    """All that `olm install` writes."""
    written: dict[str, Any] = {
        "service_account": obj("ServiceAccount", "op-installer", "apps", **managed("olm")),
        "roles": (
            obj("ClusterRole", "op-installer", **managed("olm")),
            obj("Role", "op-installer", "apps", **managed("kubectl")),
        ),
        "bindings": (binding(), binding("RoleBinding", "apps")),
        "namespace": made_by("olm"),
    }
    return AccountObjects(ACCOUNT, **(written | changed))


def retained(found: AccountObjects, *going: KubeObject) -> dict[str, str]:
    return {str(key_of(obj)): why for obj, why in account_removal(found, going).retained}


def test_all_that_olm_wrote_goes_bindings_first_and_the_namespace_last() -> None:
    removal = account_removal(whole(), ())
    assert removal.retained == []
    assert [str(key_of(obj)) for obj in removal.deleted] == [
        "ClusterRoleBinding op-installer",
        "RoleBinding apps/op-installer",
        "ClusterRole op-installer",
        "Role apps/op-installer",
        "ServiceAccount apps/op-installer",
        "Namespace apps",
    ]


def test_what_is_not_olms_stays() -> None:
    theirs = whole(
        service_account=obj("ServiceAccount", "op-installer", "apps"), namespace=made_by("kubectl")
    )
    assert retained(theirs) == {
        "ServiceAccount apps/op-installer": "olm did not write it",
        "Namespace apps": "olm did not make it",
    }


def test_what_somebody_changed_stays_and_what_it_needs() -> None:
    edited = binding(**managed("olm", "kubectl-edit", field="f:subjects"))
    assert retained(whole(bindings=(edited,))) == {
        "ClusterRoleBinding op-installer": "kubectl-edit changed it",
        "ClusterRole op-installer": "ClusterRoleBinding op-installer binds it",
    }


def test_labels_and_secrets_that_others_add_to_an_account_change_nothing() -> None:
    secrets = managed("olm", "openshift-controller-manager", field="f:imagePullSecrets")
    account = obj("ServiceAccount", "op-installer", "apps", **secrets)
    assert retained(whole(service_account=account)) == {}


def test_an_account_that_another_extension_uses_stays() -> None:
    reasons = retained(whole(others=[extension("other"), extension("far", "elsewhere")]))
    assert reasons.pop("Namespace apps") == "ClusterExtension other is installed there"
    assert set(reasons.values()) == {"ClusterExtension other uses this account"}
    assert len(reasons) == 5


def test_a_binding_of_another_account_of_that_name_stays_with_its_role() -> None:
    other = {"kind": "ServiceAccount", "name": "op-installer", "namespace": "elsewhere"}
    reasons = retained(whole(bindings=(binding(subjects=[other]),)))
    assert reasons == {
        "ClusterRoleBinding op-installer": "it binds another account",
        "ClusterRole op-installer": "ClusterRoleBinding op-installer binds it",
    }


def test_a_namespace_with_something_in_it_stays_and_names_it() -> None:
    inside = [obj("Secret", f"s{number}", "apps") for number in range(5)]
    reason = "it has Secret s0, Secret s1, Secret s2 and 2 more"
    assert retained(whole(inside=inside)) == {"Namespace apps": reason}


def test_what_goes_with_others_is_not_in_the_way() -> None:
    deployment = obj("Deployment", "d", "apps")
    service = obj("Service", "s", "apps")
    account = obj("ServiceAccount", "op-installer", "apps")

    def owned(kind: str, name: str, owner: KubeObject) -> KubeObject:
        references = [{"uid": owner["metadata"]["uid"]}]
        return obj(kind, name, "apps", metadata={"ownerReferences": references})

    def token(name: str, of: str) -> KubeObject:
        notes = {"kubernetes.io/service-account.name": of}
        return obj("Secret", name, "apps", metadata={"annotations": notes})

    replicas = owned("ReplicaSet", "d-1", deployment)
    passing = [
        *(replicas, owned("Pod", "d-1-x", replicas), deployment, service, account),
        obj("Endpoints", "s", "apps"),
        obj("ConfigMap", "kube-root-ca.crt", "apps"),
        obj("ServiceAccount", "default", "apps"),
        obj("Event", "d.1", "apps"),
        obj("Lease", "leader", "apps"),
        obj("RoleBinding", "system:deployers", "apps"),
        *(token("t", "op-installer"), token("u", "default")),
    ]
    theirs = [
        obj("Endpoints", "other", "apps"),
        obj("ConfigMap", "settings", "apps"),
        token("v", "somebody"),
    ]
    found = left_inside([*passing, *theirs], [deployment, service, account])
    assert found == theirs


def test_nothing_is_removed_where_it_is_not_known() -> None:
    unknown = AccountRemoval(fault="forbidden")
    assert account_facts(unknown) == {"unknown": "forbidden"}
    [line] = account_lines(unknown)
    assert line == "its account stays: what olm install wrote is not known: forbidden"


def test_it_is_reported_as_text_and_as_data() -> None:
    removal = account_removal(whole(namespace=made_by("flux")), ())
    lines = [*account_lines(removal)]
    assert lines[0] == "after it would be deleted, as olm install wrote it:"
    assert lines[-2:] == ["would stay:", "  Namespace apps: olm did not make it"]
    facts = account_facts(removal)
    assert len(facts["deleted"]) == 5
    assert facts["kept"] == [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "namespace": "",
            "name": "apps",
            "reason": "olm did not make it",
        }
    ]
