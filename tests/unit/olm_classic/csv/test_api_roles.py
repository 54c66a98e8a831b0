"""The cluster roles for the APIs that an operator owns."""

from api.objects import GVK, KubeObject
from olm_classic.csv.api_roles import api_roles
from olm_classic.provided_apis import aggregation_label

API = GVK("etcd.database.coreos.com", "v1beta2", "EtcdCluster")
CRD = "etcdclusters.etcd.database.coreos.com"


def served(name: str) -> dict[str, KubeObject]:
    return {name: {"metadata": {"name": name, "uid": "u"}}}


def csv(part: str, **described: str) -> KubeObject:
    entry = {"version": API.version, "kind": API.kind, **described}
    return {"metadata": {"name": "op"}, "spec": {part: {"owned": [entry]}}}


def test_a_definition_has_a_role_a_level_and_one_to_see_it() -> None:
    made = list(api_roles(csv("customresourcedefinitions", name=CRD), served(CRD), {}))
    rules = {role["metadata"]["name"]: role["rules"] for role in made}
    of_api = {"apiGroups": [API.group], "resources": ["etcdclusters"]}
    assert rules == {
        f"{CRD}-v1beta2-admin": [{**of_api, "verbs": ["*"]}],
        f"{CRD}-v1beta2-edit": [{**of_api, "verbs": ["create", "update", "patch", "delete"]}],
        f"{CRD}-v1beta2-view": [{**of_api, "verbs": ["get", "list", "watch"]}],
        f"{CRD}-v1beta2-crdview": [
            {
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "resourceNames": [CRD],
                "verbs": ["get"],
            }
        ],
    }
    for role, level in zip(made, ("admin", "edit", "view", "view"), strict=True):
        assert role["metadata"]["labels"] == {
            f"rbac.authorization.k8s.io/aggregate-to-{level}": "true",
            aggregation_label(API, level): "true",
            "olm.managed": "true",
        }
        [owner] = role["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["blockOwnerDeletion"]) == (
            "CustomResourceDefinition",
            CRD,
            False,
        )


def test_an_api_service_has_one_a_level() -> None:
    owning = csv("apiservicedefinitions", name="etcdclusters", group=API.group)
    made = list(api_roles(owning, {}, served("v1beta2.etcd.database.coreos.com")))
    names = [role["metadata"]["name"] for role in made]
    assert names == [f"etcdclusters-v1beta2-{level}" for level in ("admin", "edit", "view")]
    assert {role["metadata"]["ownerReferences"][0]["kind"] for role in made} == {"APIService"}


def test_nothing_is_made_for_what_is_not_there() -> None:
    assert not list(api_roles(csv("customresourcedefinitions", name=CRD), {}, {}))
