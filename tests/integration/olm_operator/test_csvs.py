"""ClusterServiceVersions: what they require, what they install, and what becomes of it."""

import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.objects import KubeObject, annotations_of, labels_of
from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import IMAGE, cluster_rights, definition, deployment, entry, permission

pytestmark = pytest.mark.integration

RBAC = "rbac.authorization.k8s.io/v1"
APPS = "apps/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FINALIZER = "operators.coreos.com/csv-cleanup"


@pytest.fixture
def group(olm: Classic) -> Iterator[str]:
    """A group of an API, whose definition is deleted afterwards."""
    group = f"g{secrets.token_hex(4)}.example.com"
    yield group
    olm.remove_definition(f"things.{group}")


def live(place: Place, name: str = "controller") -> KubeObject | None:
    return place.classic.api.get(place.path("deployments", name, version=APPS))


def wait_requirement(place: Place, csv: str, name: str, wanted: str) -> dict[str, Any]:
    """The entry of a requirement, once it has a status."""

    def entry_of(obj: KubeObject) -> dict[str, Any]:
        entries = status(obj, "requirementStatus") or ()
        return next((each for each in entries if each["name"] == name), {})

    found = place.wait(
        "clusterserviceversions", csv, lambda obj: entry_of(obj).get("status") == wanted
    )
    return entry_of(found)


def wait_for_targets(place: Place) -> None:
    """Waits until its group knows its namespaces: before, nothing is installed."""
    path = place.path("operatorgroups", "group", version="operators.coreos.com/v1")
    wait_until(
        lambda: status(place.classic.api.get(path) or {}, "namespaces") is not None, what="targets"
    )


def reasons(csv: KubeObject) -> list[str]:
    return [each["reason"] for each in status(csv, "conditions")]


def account(place: Place, name: str, **meta: Any) -> None:
    described = {"namespace": place.name, "name": name, **meta}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": described})


def grant(place: Place, name: str, verbs: list[str], resource: str, group: str = "") -> None:
    """A Role and its binding to an account of the same name."""
    meta = {"namespace": place.name, "name": f"{name}-{resource}"}
    rule = {"verbs": verbs, "apiGroups": [group], "resources": [resource]}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": meta["name"]}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": place.name}
    place.apply(
        {"apiVersion": RBAC, "kind": "Role", "metadata": meta, "rules": [rule]},
        {
            "apiVersion": RBAC,
            "kind": "RoleBinding",
            "metadata": meta,
            "roleRef": reference,
            "subjects": [subject],
        },
    )


def test_an_operator_is_installed_and_reports_each_phase(place: Place) -> None:
    wait_for_targets(place)
    place.csv("operator.v1")
    csv = place.wait_csv("operator.v1")
    assert status(csv, "message") == "install strategy completed with no errors"
    phases = list(dict.fromkeys(each["phase"] for each in status(csv, "conditions")))
    assert phases == ["Pending", "InstallReady", "Installing", "Succeeded"]
    assert reasons(csv)[:3] == ["RequirementsUnknown", "AllRequirementsMet", "InstallSucceeded"]
    assert csv["metadata"]["finalizers"] == [FINALIZER]
    assert annotations_of(csv)["olm.targetNamespaces"] == place.name
    made = live(place) or {}
    labels = labels_of(made)
    assert labels["olm.owner"] == "operator.v1"
    assert labels["olm.managed"] == "true"
    assert made["spec"]["revisionHistoryLimit"] == 1
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert {"name": "OPERATOR_CONDITION_NAME", "value": "operator.v1"} in container["env"]
    [owner] = made["metadata"]["ownerReferences"]
    assert owner["uid"] == csv["metadata"]["uid"]

    def announced() -> set[str]:
        events = place.classic.api.list(place.path("events", version="events.k8s.io/v1"))
        return {each["reason"] for each in events if each["regarding"]["name"] == "operator.v1"}

    wait_until(lambda: {"AllRequirementsMet", "InstallSucceeded"} <= announced(), what="events")


def test_requirement_events_are_emitted_for_not_met_and_met(place: Place, group: str) -> None:
    crd = definition(group)
    place.csv("operator.v1", owned=[entry(crd)])
    wait_requirement(place, "operator.v1", f"things.{group}", "NotPresent")
    place.apply(crd)
    place.wait_csv("operator.v1")

    def announced() -> list[str]:
        events = place.classic.api.list(place.path("events", version="events.k8s.io/v1"))
        return [each["reason"] for each in events if each["regarding"]["name"] == "operator.v1"]

    expected = {"RequirementsNotMet", "AllRequirementsMet"}
    wait_until(lambda: expected <= set(announced()), what="events")


@pytest.mark.parametrize(
    ("described", "name", "wanted", "message"),
    [
        (
            {"minKubeVersion": "999.999.999"},
            "operator.v1",
            "PresentNotSatisfied",
            "CSV version requirement not met: minKubeVersion (999.999.999) > server version (",
        ),
        (
            {"required": [{"name": "nothing.example.com", "version": "v1", "kind": "Nothing"}]},
            "nothing.example.com",
            "NotPresent",
            "CRD is not present",
        ),
        (
            {
                "apiservicedefinitions": {
                    "required": [
                        {"name": "n", "group": "no.example.com", "version": "v1", "kind": "N"}
                    ]
                }
            },
            "v1.no.example.com",
            "NotPresent",
            "",
        ),
        (
            {"nativeAPIs": [{"group": "kube.example.com", "version": "v1", "kind": "Nothing"}]},
            "v1.kube.example.com",
            "NotPresent",
            "Native API does not exist",
        ),
        (
            {"permissions": [permission("robot", ["create"], "things", "no.example.com")]},
            "robot",
            "NotPresent",
            "Service account does not exist",
        ),
    ],
)
def test_unmet_requirements_are_reported(
    place: Place, described: dict[str, Any], name: str, wanted: str, message: str
) -> None:
    """minKubeVersion, CRD, API service, native API, account."""
    place.csv("operator.v1", **described)
    found = wait_requirement(place, "operator.v1", name, wanted)
    assert found["message"].startswith(message)
    csv = place.wait_reason("operator.v1", "RequirementsNotMet")
    assert status(csv, "phase") == "Pending"
    assert status(csv, "message") == "one or more requirements couldn't be found"


@pytest.mark.parametrize("part", ["permissions", "cluster_permissions"])
def test_permissions_are_judged_by_the_rights_that_there_are(place: Place, part: str) -> None:
    """Unmet CRD permissions and API service permissions, until they are given."""
    account(place, "robot")
    grant(place, "robot", ["get"], "things", "some.example.com")
    asked = permission("robot", ["get", "create"], "things", "some.example.com")
    place.csv("operator.v1", **{part: [asked]})
    found = wait_requirement(place, "operator.v1", "robot", "PresentNotSatisfied")
    assert found["message"] == "Policy rule not satisfied for service account"
    [dependent] = found["dependents"]
    assert dependent["status"] == "NotSatisfied"
    scope = "cluster" if part == "cluster_permissions" else "namespaced"
    assert dependent["message"].startswith(f'{scope} rule:{{"verbs":["get","create"]')
    run, name = place.classic.control_plane.kubectl, f"{place.name}-robot"
    where = () if scope == "cluster" else ("-n", place.name)
    role = "clusterrole" if scope == "cluster" else "role"
    meta = {"name": name} | ({} if scope == "cluster" else {"namespace": place.name})
    given = {"verbs": ["create", "get"], "apiGroups": ["some.example.com"], "resources": ["things"]}
    kind = "ClusterRole" if scope == "cluster" else "Role"
    place.apply({"apiVersion": RBAC, "kind": kind, "metadata": meta, "rules": [given]})
    subject = f"--serviceaccount={place.name}:robot"
    run("create", f"{role}binding", name, f"--{role}={name}", subject, *where)
    place.wait_csv("operator.v1")
    run("delete", f"{role}binding", name, *where)
    csv = place.wait_csv("operator.v1", "Pending")
    assert "RequirementsNotMet" in reasons(csv)


def test_rights_that_all_accounts_get_by_an_aggregated_role_are_seen(place: Place) -> None:
    """Only the role changes, and neither binding nor account names it by itself."""
    name, label = f"{place.name}-robots", {f"{place.name}.example.com/robots": "true"}
    account(place, "robot")
    gathered = {"clusterRoleSelectors": [{"matchLabels": label}]}
    role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": {"name": name}}
    place.apply({**role, "aggregationRule": gathered, "rules": []})
    accounts = f"--group=system:serviceaccounts:{place.name}"
    run = place.classic.control_plane.kubectl
    run("create", "clusterrolebinding", name, f"--clusterrole={name}", accounts)
    asked = permission("robot", ["get"], "things", "some.example.com")
    place.csv("operator.v1", cluster_permissions=[asked])
    wait_requirement(place, "operator.v1", "robot", "PresentNotSatisfied")
    part = {**role, "metadata": {"name": f"{name}-part", "labels": label}}
    place.apply({**part, "rules": asked["rules"]})
    place.wait_csv("operator.v1")
    run("delete", "clusterrolebinding,clusterrole", name)
    run("delete", "clusterrole", f"{name}-part")


def test_kinds_that_come_to_be_served_are_seen(place: Place, group: str) -> None:
    crd = definition(group)
    thing = {"group": group, "version": "v1", "kind": "Thing"}
    place.csv("operator.v1", nativeAPIs=[thing])
    wait_requirement(place, "operator.v1", f"v1.{group}", "NotPresent")
    place.apply(crd)
    place.wait_csv("operator.v1")


def test_an_account_that_something_else_owns_is_present(place: Place) -> None:
    place.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"namespace": place.name, "name": "owner"},
        }
    )
    owner = place.classic.api.get(place.path("configmaps", "owner", version="v1")) or {}
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    account(place, "robot", ownerReferences=[reference])
    grant(place, "robot", ["get"], "secrets")
    place.csv("operator.v1", permissions=[permission("robot", ["get"], "secrets")])
    place.wait_csv("operator.v1")
    assert wait_requirement(place, "operator.v1", "robot", "Present")


def test_requirements_that_are_met(place: Place, group: str) -> None:
    """CRD, required API service, native API, minKubeVersion."""
    crd = definition(group)
    place.apply(crd)
    apps = {"name": "deployments", "group": "apps", "version": "v1", "kind": "Deployment"}
    place.csv(
        "operator.v1",
        required=[entry(crd)],
        minKubeVersion="1.0.0",
        apiservicedefinitions={"required": [apps]},
        nativeAPIs=[{"group": "batch", "version": "v1", "kind": "Job"}],
    )
    csv = place.wait_csv("operator.v1")
    found = status(csv, "requirementStatus")
    assert [each["status"] for each in found] == ["Present"] * 4
    assert found[1]["uuid"]
    assert found[1]["message"] == "CRD is present and Established condition is true"


def test_a_requirement_that_is_lost_and_comes_back(place: Place, group: str) -> None:
    crd = definition(group)
    place.apply(crd)
    place.csv("operator.v1", owned=[entry(crd)])
    place.wait_csv("operator.v1")
    place.classic.api.delete(f"{DEFINITIONS}/things.{group}")
    wait_requirement(place, "operator.v1", f"things.{group}", "NotPresent")
    assert "RequirementsNotMet" in reasons(place.wait_csv("operator.v1", "Pending"))
    place.apply(crd)
    place.wait_csv("operator.v1")


def test_a_definition_installed_alongside_an_ancestor_is_not_met(place: Place, group: str) -> None:
    """Own requirement, via replacement, non-ownership."""
    crd = definition(group)
    name, key = f"things.{group}", "operatorframework.io/installed-alongside-1"
    crd["metadata"]["annotations"] = {key: f"{place.name}/operator.v1"}
    place.apply(crd)
    place.csv("operator.v1", owned=[entry(crd)])
    place.wait_csv("operator.v1")
    place.csv("reader.v1", required=[entry(crd)], deployments=["reader"])
    place.wait_csv("reader.v1")
    place.csv("operator.v2", owned=[entry(crd)], replaces="operator.v1")
    found = wait_requirement(place, "operator.v2", name, "PresentNotSatisfied")
    assert found["message"] == "CRD installed alongside other CSV(s): operator.v1"
    annotation = {f"{key}2": f"{place.name}/operator.v2"}
    place.classic.api.patch(f"{DEFINITIONS}/{name}", {"metadata": {"annotations": annotation}})
    place.wait_csv("operator.v2")


def test_the_same_definition_is_owned_in_another_namespace(
    olm: Classic, place: Place, group: str
) -> None:
    crd = definition(group)
    place.apply(crd)
    places = [olm.place(group={"targetNamespaces": [name]}, name=name) for name in names(2)]
    for each in places:
        each.csv("operator.v1", owned=[entry(crd)])
    for each in places:
        each.wait_csv("operator.v1")
        olm.remove(each.name)


def names(count: int) -> list[str]:
    return [f"test-{secrets.token_hex(4)}" for _ in range(count)]


def test_a_definition_has_one_owner_in_a_namespace(place: Place, group: str) -> None:
    crd = definition(group)
    place.apply(crd)
    place.csv("first.v1", owned=[entry(crd)], deployments=["first"])
    place.wait_csv("first.v1")
    place.csv("second.v1", owned=[entry(crd)], deployments=["second"])
    csv = place.wait_csv("second.v1", "Failed")
    assert status(csv, "reason") == "OwnerConflict"
    assert status(csv, "message") == "conflicting CRD owner in namespace"
    place.delete("clusterserviceversions", "first.v1")
    place.wait_csv("second.v1")


def test_two_replicas_of_which_one_is_unavailable(olm: Classic, place: Place) -> None:
    """With one that may be unavailable it stays Succeeded."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    place.csv("operator.v1", deployments=[deployment("controller", replicas=2, strategy=strategy)])
    csv = place.wait_csv("operator.v1")

    def replicas(field: str) -> int:
        return int(((live(place) or {}).get("status") or {}).get(field) or 0)

    wait_until(lambda: replicas("availableReplicas") == 2, what="both replicas")
    path = place.path("pods", version="v1")
    pod = olm.api.list(path)[0]
    conditions = [{"type": kind, "status": "False"} for kind in ("ContainersReady", "Ready")]
    pod_path = f"{path}/{pod['metadata']['name']}"
    olm.api.patch(f"{pod_path}/status", {"status": {"conditions": conditions}})
    wait_until(lambda: replicas("unavailableReplicas") == 1, what="one that is unavailable")
    place.patch("clusterserviceversions", "operator.v1", {"metadata": {"labels": {"seen": "1"}}})
    after = place.wait_csv("operator.v1")
    assert status(after, "conditions")[-1] == status(csv, "conditions")[-1]


def test_annotations_and_labels_of_a_csv_are_those_of_its_deployment(place: Place) -> None:
    template = deployment("controller")
    template["label"] = {"team": "red"}
    pods = template["spec"]["template"]["metadata"]
    pods["annotations"] = {"mine": "pods", "other": "stays"}
    place.csv("operator.v1", deployments=[template], annotations={"mine": "csv", "more": "1"})
    place.wait_csv("operator.v1")
    made = live(place) or {}
    assert labels_of(made)["team"] == "red"
    found = made["spec"]["template"]["metadata"]["annotations"]
    assert (found["mine"], found["other"], found["more"]) == ("csv", "stays", "1")
    assert found["olm.operatorGroup"] == "group"
    place.patch(
        "clusterserviceversions", "operator.v1", {"metadata": {"annotations": {"more": "2"}}}
    )

    def follows() -> bool:
        pods = (live(place) or {})["spec"]["template"]["metadata"]["annotations"]
        return bool(pods["more"] == "2")

    wait_until(follows, what="the annotation of pods")
    place.wait_csv("operator.v1")


def test_a_deployment_that_is_edited_or_deleted_comes_back(place: Place) -> None:
    place.csv("operator.v1", deployments=[deployment("controller")])
    place.wait_csv("operator.v1")
    before = live(place) or {}
    path = place.path("deployments", "controller", version=APPS)
    broken = {"containers": [{"name": "manager", "image": "evil"}], "hostNetwork": True}
    place.classic.api.patch(path, {"spec": {"template": {"spec": broken}}})

    def restored() -> bool:
        found = live(place)
        return found is not None and found["spec"] == before["spec"]

    wait_until(restored, what="the specification")
    place.classic.api.delete(path)
    wait_until(restored, what="the Deployment")
    csv = place.wait_csv("operator.v1")
    assert "ComponentUnhealthy" in reasons(csv)


def test_what_others_set_next_to_the_specification_stays(place: Place) -> None:
    template = deployment("controller")
    del template["spec"]["replicas"]
    place.csv("operator.v1", deployments=[template])
    place.wait_csv("operator.v1")
    run = place.classic.control_plane.kubectl
    run("label", "deployment", "controller", "mine=1", "-n", place.name)
    run("rollout", "restart", "deployment/controller", "-n", place.name)
    run("scale", "deployment/controller", "--replicas=3", "-n", place.name)
    place.patch("clusterserviceversions", "operator.v1", {"metadata": {"annotations": {"x": "y"}}})

    def written() -> bool:
        found = (live(place) or {})["spec"]["template"]["metadata"]["annotations"]
        return bool(found.get("x") == "y")

    wait_until(written, what="another annotation")
    made = live(place) or {}
    assert labels_of(made)["mine"] == "1"
    assert made["spec"]["replicas"] == 3
    assert "kubectl.kubernetes.io/restartedAt" in annotations_of(made["spec"]["template"])


def test_an_operator_that_does_not_run(olm: Classic, place: Place) -> None:
    """Unhealthy is reported, with the reason of the pod; a fixed image helps at once."""
    image = f"nowhere.example.com/{secrets.token_hex(4)}"
    olm.stand_ins.nodes.waiting[image] = ("ImagePullBackOff", "there is none")
    place.csv("operator.v1", deployments=[deployment("controller", image=image)])

    def says(obj: KubeObject) -> bool:
        return f"ImagePullBackOff (image {image})" in (status(obj, "message") or "")

    csv = place.wait("clusterserviceversions", "operator.v1", says)
    begin = (
        "installing: waiting for deployment controller to become ready: "
        'deployment "controller" not available: '
    )
    assert status(csv, "message").startswith(begin)
    assert (status(csv, "phase"), status(csv, "reason")) == ("Installing", "InstallWaiting")
    place.csv("operator.v1")
    place.wait_csv("operator.v1")


def test_an_operator_that_does_not_run_any_more(olm: Classic, place: Place) -> None:
    place.csv("operator.v1")
    place.wait_csv("operator.v1")
    olm.stand_ins.nodes.waiting[IMAGE] = ("CrashLoopBackOff", "it fell")
    try:
        path = place.path("pods", version="v1")
        for pod in olm.api.list(path):
            olm.api.delete(f"{path}/{pod['metadata']['name']}")

        def says(obj: KubeObject) -> bool:
            changes = (status(obj, "conditions") or ())[1:]
            return any(each["reason"] == "ComponentUnhealthy" for each in changes)

        place.wait("clusterserviceversions", "operator.v1", says)
    finally:
        del olm.stand_ins.nodes.waiting[IMAGE]
    for pod in olm.api.list(path):
        olm.api.delete(f"{path}/{pod['metadata']['name']}")
    place.wait_csv("operator.v1")


def test_the_config_of_its_subscription_is_followed(place: Place) -> None:
    place.csv("operator.v1")
    place.wait_csv("operator.v1")
    place.subscribe("operator", source="none", config={"env": [{"name": "A", "value": "1"}]})
    installed = {"installedCSV": "operator.v1", "lastUpdated": "2026-01-01T00:00:00Z"}
    place.patch_status("subscriptions", "operator", installed)

    def variables() -> list[str]:
        [container] = (live(place) or {})["spec"]["template"]["spec"]["containers"]
        return [each["name"] for each in container["env"]]

    wait_until(lambda: "A" in variables(), what="the variable")
    place.wait_csv("operator.v1")
    place.delete("subscriptions", "operator")
    wait_until(lambda: "A" not in variables(), what="that it is gone")


def test_without_an_operator_group_and_with_several(place: Place) -> None:
    place.csv("operator.v1")
    place.wait_csv("operator.v1")
    own = {"targetNamespaces": [place.name]}
    place.create("operators.coreos.com/v1", "OperatorGroup", "second", own)
    csv = place.wait_csv("operator.v1", "Failed")
    assert status(csv, "reason") == "TooManyOperatorGroups"
    path = place.path("operatorgroups", version="operators.coreos.com/v1")
    place.classic.api.delete(f"{path}/second")
    place.wait_csv("operator.v1")
    place.classic.api.delete(f"{path}/group")
    csv = place.wait_csv("operator.v1", "Failed")
    assert status(csv, "message") == "csv in namespace with no operatorgroups"
    place.create("operators.coreos.com/v1", "OperatorGroup", "group", own)
    csv = place.wait_csv("operator.v1")
    assert "RequirementsUnknown" in reasons(csv)


@pytest.mark.parametrize(
    ("modes", "targets", "message"),
    [
        (["AllNamespaces"], ["elsewhere"], "SingleNamespace"),
        (["OwnNamespace"], [], "AllNamespaces"),
        (["SingleNamespace"], ["a", "b"], "MultiNamespace"),
    ],
)
def test_install_mode_support_of_each_mode(
    place: Place, modes: list[str], targets: list[str], message: str
) -> None:
    """Each unsupported mode fails, and recovers."""
    name = f"{place.name}.v1"  # copies of the same name of others are in all namespaces
    path = place.path("operatorgroups", "group", version="operators.coreos.com/v1")
    place.classic.api.patch(path, {"spec": {"targetNamespaces": targets}})
    place.csv(name, modes=modes)

    def is_refused(obj: KubeObject) -> bool:
        said = str(status(obj, "message") or "")  # it may have been judged by the group before
        return said.startswith(f"{message} InstallModeType not supported")

    csv = place.wait("clusterserviceversions", name, is_refused)
    assert (status(csv, "phase"), status(csv, "reason")) == ("Failed", "UnsupportedOperatorGroup")
    right = {"AllNamespaces": [], "OwnNamespace": [place.name], "SingleNamespace": ["elsewhere"]}
    place.classic.api.patch(path, {"spec": {"targetNamespaces": right[modes[0]]}})
    place.wait_csv(name)


def test_an_invalid_status_is_refused_and_the_fields_are_listed(olm: Classic, place: Place) -> None:
    place.csv("operator.v1")
    place.wait_csv("operator.v1")
    path = place.path("clusterserviceversions", "operator.v1")
    wrong = {"status": {"requirementStatus": [{"group": "g"}]}}
    with pytest.raises(httpx.HTTPStatusError) as caught:
        olm.api.patch(f"{path}/status", wrong)
    text = caught.value.response.text
    for field in ("kind", "message", "name", "status", "version"):
        assert f"status.requirementStatus[0].{field}" in text


def test_what_it_leaves_outside_its_namespace_goes_with_it(place: Place) -> None:
    place.csv("operator.v1")
    place.wait_csv("operator.v1")
    name = f"{place.name}-role"
    place.apply(*cluster_rights(name, "operator.v1", place.name))
    place.delete("clusterserviceversions", "operator.v1")
    path = place.path("clusterserviceversions", "operator.v1")
    wait_until(lambda: place.classic.api.get(path) is None, what="the end of the CSV")
    for plural in ("clusterroles", "clusterrolebindings"):
        assert place.classic.api.get(f"/apis/{RBAC}/{plural}/{name}") is None
    wait_until(lambda: live(place) is None, what="the end of the Deployment")


def test_a_restart_goes_on_where_it_was(olm: Classic, place: Place, group: str) -> None:
    crd = definition(group)
    place.csv("waiting.v1", owned=[entry(crd)], deployments=["waiting"])
    wait_requirement(place, "waiting.v1", f"things.{group}", "NotPresent")
    place.csv("operator.v1")
    before = place.wait_csv("operator.v1")
    olm.restart_operator(kill=True)
    place.apply(crd)
    place.wait_csv("waiting.v1")
    after = place.wait_csv("operator.v1")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def test_the_entry_of_a_definition_names_a_version(place: Place, group: str) -> None:
    crd = definition(group, versions=("v1", "v2"))
    place.apply(crd)
    place.csv("operator.v1", owned=[entry(crd, "v1")])
    place.wait_csv("operator.v1")
    place.csv("reader.v1", required=[entry(crd, "v3")], deployments=["reader"])
    found = wait_requirement(place, "reader.v1", f"things.{group}", "NotPresent")
    assert found["message"] == "CRD version not served"
