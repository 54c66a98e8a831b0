"""What plans write, with whose rights, and what keeps them."""

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest

from api.objects import KubeObject, condition, gvk_of, name_of
from api.operators.names import V1ALPHA1
from e2e.olm.classic import DEFINITIONS, Classic, Place, status

pytestmark = pytest.mark.integration

CSV: KubeObject = {
    "apiVersion": V1ALPHA1,
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "plain.v1.0.0"},
    "spec": {
        "displayName": "Plain",
        "install": {"strategy": "deployment", "spec": {"deployments": []}},
    },
}
SETTINGS: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"first": "1", "second": "2"},
}


def csv(name: str) -> KubeObject:
    return {**CSV, "metadata": {"name": name}}


def step(obj: KubeObject, resolving: str) -> dict[str, Any]:
    kind = gvk_of(obj)
    resource = {
        "group": kind.group,
        "version": kind.version,
        "kind": kind.kind,
        "name": name_of(obj),
        "sourceName": "operators",
        "sourceNamespace": "olm",
        "manifest": orjson.dumps(obj).decode(),
    }
    return {"resolving": resolving, "status": "Unknown", "resource": resource}


def plan(place: Place, name: str, objects: Sequence[KubeObject], owner: str = "") -> None:
    """A plan of a CSV and objects, as resolution makes them."""
    owner = owner or f"{name}.v1.0.0"
    spec = {"approval": "Automatic", "approved": True, "clusterServiceVersionNames": [owner]}
    place.create(V1ALPHA1, "InstallPlan", name, spec)
    steps = [step(each, owner) for each in (csv(owner), *objects)]
    begun = {"phase": "Installing", "catalogSources": [], "plan": steps}
    place.classic.api.patch(place.path("installplans", name) + "/status", {"status": begun})


def complete(place: Place, name: str) -> KubeObject:
    return place.wait("installplans", name, lambda obj: status(obj, "phase") == "Complete")


def message(place: Place, name: str, text: str) -> KubeObject:
    """Waits until a plan says that something keeps it."""
    return place.wait("installplans", name, lambda obj: text in (status(obj, "message") or ""))


def definition(group: str, versions: Sequence[dict[str, Any]]) -> KubeObject:
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
    }


def version(name: str, kind: str = "string", **fields: bool) -> dict[str, Any]:
    size = {"type": "object", "properties": {"size": {"type": kind}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": size}}}
    return {"name": name, "served": True, "storage": True, **fields, "schema": schema}


@pytest.fixture
def group(classic: Classic) -> Iterator[str]:
    """A group of an API, whose definition is deleted afterwards."""
    group = f"g{secrets.token_hex(4)}.example.com"
    yield group
    classic.remove_definition(f"things.{group}")


def test_objects_are_owned_and_what_a_later_version_leaves_out_goes(place: Place) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "operator"}}
    ports = [{"name": "https", "port": 443}]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    plan(place, "one", [account, {**service, "spec": {"ports": ports}}, SETTINGS])
    assert {each["status"] for each in status(complete(place, "one"), "plan")} == {"Created"}
    before = place.classic.api.get(place.path("services", "web", version="v1")) or {}

    ports = [{"name": "https", "port": 8443}]
    fewer = {**SETTINGS, "data": {"second": "3"}}
    plan(place, "two", [account, {**service, "spec": {"ports": ports}}, fewer])
    complete(place, "two")
    after = place.classic.api.get(place.path("services", "web", version="v1")) or {}
    assert after["spec"]["clusterIP"] == before["spec"]["clusterIP"]
    assert after["spec"]["ports"][0]["port"] == 8443
    settings = place.classic.api.get(place.path("configmaps", "settings", version="v1")) or {}
    assert settings["data"] == {"second": "3"}
    assert settings["metadata"]["labels"]["olm.managed"] == "true"
    owned = place.classic.api.get(place.path("serviceaccounts", "operator", version="v1")) or {}
    owners = {each["name"] for each in owned["metadata"]["ownerReferences"]}
    assert owners == {"one.v1.0.0", "two.v1.0.0"}


def test_what_olm_v1_owns_is_refused(place: Place, group: str) -> None:
    reference = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterObjectSet",
        "name": "shop-1",
        "uid": "uid-of-shop",
        "controller": True,
    }
    owned = {"ownerReferences": [reference]}
    theirs = {**SETTINGS, "metadata": {"name": "settings", "namespace": place.name, **owned}}
    thing = definition(group, [version("v1")])
    place.apply(theirs, {**thing, "metadata": {**thing["metadata"], **owned}})
    said = "belongs to ClusterObjectSet shop-1 of OLM v1: an object has one owner"
    plan(place, "one", [{**SETTINGS, "data": {"first": "mine"}}])
    message(place, "one", f"ConfigMap settings {said}")
    plan(place, "two", [thing])
    message(place, "two", f"CustomResourceDefinition things.{group} {said}")
    settings = place.classic.api.get(place.path("configmaps", "settings", version="v1")) or {}
    assert settings["data"] == SETTINGS["data"]

    place.patch("configmaps", "settings", {"metadata": {"ownerReferences": None}}, version="v1")
    complete(place, "one")
    place.delete("installplans", "two")


def test_a_definition_names_the_operators_and_stays_valid(place: Place, group: str) -> None:
    crd = f"{DEFINITIONS}/things.{group}"
    plan(place, "one", [definition(group, [version("v1")])])
    complete(place, "one")
    plan(place, "two", [definition(group, [version("v1")])])
    complete(place, "two")
    annotations = (place.classic.api.get(crd) or {})["metadata"]["annotations"]
    noted = {value for key, value in annotations.items() if "installed-alongside-" in key}
    assert noted == {f"{place.name}/one.v1.0.0", f"{place.name}/two.v1.0.0"}

    place.create(f"{group}/v1", "Thing", "large", {"size": "large"})
    plan(place, "three", [definition(group, [version("v1", "integer")])])
    said = message(place, "three", "updated validation is too restrictive")
    begin = f'retrying execution due to error: error validating existing CRs against new CRD\'s schema for "things.{group}": error validating {group}/v1, Kind=Thing "{place.name}/large": '  # noqa: E501
    assert status(said, "message").startswith(begin)
    place.delete("installplans", "three")


def test_a_version_goes_in_two_steps(place: Place, group: str) -> None:
    crd = f"{DEFINITIONS}/things.{group}"
    plan(place, "one", [definition(group, [version("v1alpha1")])])
    complete(place, "one")
    place.create(f"{group}/v1alpha1", "Thing", "old", {"size": "large"})
    only = definition(group, [version("v1")])
    plan(place, "early", [only])
    message(place, "early", "new CRD removes version v1alpha1 that is listed as a stored version")
    place.delete("installplans", "early")

    plan(
        place,
        "two",
        [definition(group, [version("v1alpha1", served=False, storage=False), version("v1")])],
    )
    complete(place, "two")
    plan(place, "three", [only])
    complete(place, "three")
    found = place.classic.api.get(crd) or {}
    assert found["status"]["storedVersions"] == ["v1"]
    things = f"/apis/{group}/v1/namespaces/{place.name}/things"
    assert (place.classic.api.get(f"{things}/old") or {})["spec"] == {"size": "large"}


def test_a_definition_that_is_refused_is_reported(place: Place, group: str) -> None:
    plan(place, "one", [definition(group, [version("v1", "nonsense")])])
    said = message(place, "one", f'things.{group}" is invalid')
    assert "Unsupported value" in status(said, "message")
    place.delete("installplans", "one")


def test_a_version_that_a_user_edited_is_left_alone(place: Place) -> None:
    edited = csv("one.v1.0.0")
    meta = {**edited["metadata"], "namespace": place.name}
    place.apply({**edited, "metadata": meta, "spec": {**CSV["spec"], "displayName": "Mine"}})
    plan(place, "one", [])
    [only] = status(complete(place, "one"), "plan")
    assert only["status"] == "Present"
    found = place.classic.api.get(place.path("clusterserviceversions", "one.v1.0.0")) or {}
    assert found["spec"]["displayName"] == "Mine"


def test_what_cannot_be_written_is_reported(place: Place) -> None:
    unserved = {"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler"}
    plan(place, "unserved", [{**unserved, "metadata": {"name": "x"}}])
    message(
        place,
        "unserved",
        "api-server resource not found installing VerticalPodAutoscaler x: GroupVersionKind "
        "autoscaling.k8s.io/v1, Kind=VerticalPodAutoscaler not found on the cluster.",
    )
    plan(place, "unsupported", [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}])
    found = message(place, "unsupported", "the InstallPlan contains invalid data")
    assert [each["status"] for each in status(found, "plan")] == ["Created", "UnsupportedResource"]


def test_a_plan_has_the_rights_of_its_service_account(classic: Classic, group: str) -> None:
    place = classic.place(group={"serviceAccountName": "scoped"})
    plan(place, "one", [definition(group, [version("v1")]), SETTINGS])
    group_name = f"{place.name}/group"
    missing = f"please make sure the service account exists. sa=scoped operatorgroup={group_name}"

    def installed(plan: KubeObject) -> KubeObject:
        return condition(plan, "Installed") or {}

    # At first the OperatorGroup itself may not be known.
    fails = place.wait("installplans", "one", lambda obj: installed(obj).get("message") == missing)
    reported = installed(fails)
    assert (reported["status"], reported["reason"]) == ("False", "InstallCheckFailed")
    meta = {"name": "scoped", "namespace": place.name}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    found = message(place, "one", "is forbidden")
    who = f'User "system:serviceaccount:{place.name}:scoped" cannot create resource'
    assert "error creating clusterserviceversion one.v1.0.0: " in status(found, "message")
    assert who in status(found, "message")
    reference = {"apiVersion": "v1", "kind": "ServiceAccount", **meta}
    assert status(found, "attenuatedServiceAccountRef") == reference

    failed = {"status": {"phase": "Failed", "message": "it took too long"}}
    classic.api.patch(place.path("installplans", "one") + "/status", failed)
    rbac = "rbac.authorization.k8s.io"
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    role = {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": meta, "rules": everything}
    place.apply(
        role,
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "scoped"},
            "subjects": [{"kind": "ServiceAccount", **meta}],
        },
    )
    complete(place, "one")
    classic.remove(place.name)


def test_warnings_of_the_api_server_are_reported(place: Place) -> None:
    spec = {"clusterIP": "None", "sessionAffinity": "ClientIP", "ports": [{"port": 80}]}
    headless = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "alone"}, "spec": spec}
    plan(place, "one", [headless])
    complete(place, "one")
    events = f"/apis/events.k8s.io/v1/namespaces/{place.name}/events"

    def warned() -> list[KubeObject]:
        found = place.classic.api.list(events)
        return [each for each in found if each["reason"] == "AppliedWithWarnings"]

    path = place.path("installplans", "one")
    place.classic.api.wait(path, lambda _: bool(warned()), what="Event")
    assert warned()[0]["note"].startswith(
        '1 warning(s) generated during installation of operator "one.v1.0.0" '
        '(Service "alone"): spec.SessionAffinity is ignored for headless services'
    )
    assert warned()[0]["regarding"]["name"] == "one"
    counted = [
        line for line in place.classic.metrics().splitlines() if line.startswith("installplan_warn")
    ]
    assert float(counted[0].split()[-1]) >= 1.0


def test_a_pull_secret_is_copied_from_the_namespace_of_the_program(place: Place) -> None:
    name = f"pull-{place.name}"
    secret: KubeObject = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    plan(place, "one", [secret])
    message(place, "one", f"secret {name} does not exist in namespace olm")
    meta = {"name": name, "namespace": "olm"}
    place.apply({**secret, "metadata": meta, "data": {"key": "dmFsdWU="}, "type": "Opaque"})
    complete(place, "one")
    copied = place.classic.api.get(place.path("secrets", name, version="v1")) or {}
    assert copied["data"] == {"key": "dmFsdWU="}
    assert copied["metadata"]["labels"] == {"olm.managed": "true"}
    place.classic.api.delete(f"/api/v1/namespaces/olm/secrets/{name}")
