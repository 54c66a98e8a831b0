"""OperatorConditions: what there is of each ClusterServiceVersion, and what operators say in it."""

from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, metadata
from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place, status
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader
from olm_runtime.kube.media_types import MERGE_PATCH

pytestmark = pytest.mark.integration

V2 = "operators.coreos.com/v2"
RBAC = "rbac.authorization.k8s.io/v1"
NAME, NEXT = "hello.v1.0.0", "hello.v1.1.0"
NOT_YET = {
    "type": "Upgradeable",
    "status": "False",
    "reason": "migration",
    "message": "The operator is performing a migration.",
    "lastTransitionTime": "2020-08-24T23:15:55Z",
}
RULES = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]


def path(place: Place, name: str = NAME, version: str = V2) -> str:
    return place.path("operatorconditions", name, version=version)


def wait(place: Place, holds: Any, name: str = NAME) -> KubeObject:
    found = place.classic.api.wait(
        path(place, name), lambda obj: obj is not None and holds(obj), what=f"condition {name}"
    )
    assert found is not None
    return found


def reported(place: Place, kind: str = "Upgradeable") -> dict[str, Any]:
    """The condition of the status once it is of the present generation."""

    def current(obj: KubeObject) -> bool:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        return any(
            each["type"] == kind and each.get("observedGeneration") == metadata(obj)["generation"]
            for each in conditions
        )

    found = wait(place, current)["status"]["conditions"]
    return next(dict(each) for each in found if each["type"] == kind)


def as_operator(place: Place, account: str, spec: dict[str, Any], name: str = NAME) -> int:
    """The answer to a patch by an account of the namespace."""
    user = f"system:serviceaccount:{place.name}:{account}"
    with place.classic.control_plane.client() as http:
        headers = {"content-type": MERGE_PATCH, "impersonate-user": user}
        return http.patch(path(place, name), json={"spec": spec}, headers=headers).status_code


def test_there_is_one_for_each_csv_with_a_role_for_its_accounts(olm: Classic, place: Place) -> None:
    asked = [{"serviceAccountName": "hello", "rules": RULES}]
    place.csv(NAME, permissions=asked, deployments=["one", "two"])
    made = wait(place, lambda obj: True)
    assert made["spec"] == {"serviceAccounts": ["hello"], "deployments": ["one", "two"]}
    [owner] = metadata(made)["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == (
        "ClusterServiceVersion",
        NAME,
        True,
    )
    role = olm.api.wait(
        place.path("roles", NAME, version=RBAC), lambda obj: obj is not None, what="role"
    )
    assert role is not None
    [rule] = role["rules"]
    assert rule["resources"] == ["operatorconditions"]
    assert rule["resourceNames"] == [NAME]
    assert set(rule["verbs"]) == {"get", "update", "patch"}
    binding = place.path("rolebindings", NAME, version=RBAC)
    olm.api.wait(binding, lambda obj: obj is not None, what="binding")
    wait_until(
        lambda: as_operator(place, "hello", {"conditions": [NOT_YET]}) == 200,
        what="the server has heard of the role",
    )
    assert as_operator(place, "other", {"conditions": []}) == 403
    assert as_operator(place, "hello", {}, name="other.v1") == 403
    assert reported(place)["message"] == NOT_YET["message"]
    served = olm.api.get(path(place, version="operators.coreos.com/v1"))
    assert served is not None
    assert served["status"]["conditions"][0]["type"] == "Upgradeable"


def test_what_is_changed_comes_back_and_what_users_say_stays(olm: Classic, place: Place) -> None:
    place.csv(NAME)
    wait(place, lambda obj: obj["spec"]["serviceAccounts"] == ["default"])
    override = {key: NOT_YET[key] for key in ("type", "reason", "message")} | {"status": "True"}
    olm.api.patch(path(place), {"spec": {"conditions": [NOT_YET], "overrides": [override]}})
    assert reported(place)["status"] == "False"
    assert olm.operator is not None
    olm.operator.kill()
    olm.api.patch(path(place), {"spec": {"serviceAccounts": ["thief"], "deployments": []}})
    olm.api.delete(place.path("roles", NAME, version=RBAC))
    olm.restart_operator(kill=True)
    found = wait(place, lambda obj: obj["spec"]["serviceAccounts"] == ["default"])
    assert found["spec"]["deployments"] == ["controller"]
    assert found["spec"]["conditions"] == [NOT_YET]
    assert found["spec"]["overrides"] == [override]
    for plural in ("roles", "rolebindings"):
        restored = place.path(plural, NAME, version=RBAC)
        olm.api.wait(restored, lambda obj: obj is not None, what=restored)
    olm.api.patch(place.path("roles", NAME, version=RBAC), {"rules": []})
    olm.api.wait(
        place.path("roles", NAME, version=RBAC),
        lambda obj: bool(obj and obj.get("rules")),
        what="the rules shall be back",
    )
    place.delete("clusterserviceversions", NAME)
    olm.api.wait_gone(path(place))


def test_a_csv_waits_while_what_it_replaces_is_not_upgradeable(place: Place) -> None:
    place.csv(NAME)
    place.wait_csv(NAME)
    olm = place.classic
    olm.api.patch(path(place), {"spec": {"conditions": [NOT_YET]}})
    reported(place)
    place.csv(NEXT, replaces=NAME)
    waiting = place.wait(
        "clusterserviceversions",
        NEXT,
        lambda obj: status(obj, "reason") == "OperatorConditionNotUpgradeable",
    )
    assert waiting["status"]["phase"] == "Pending"
    assert waiting["status"]["message"] == (
        "operator is not upgradeable: the operator is not upgradeable: "
        "The operator is performing a migration."
    )
    override = {key: NOT_YET[key] for key in ("type", "reason", "message")} | {"status": "True"}
    olm.api.patch(path(place), {"spec": {"overrides": [override]}})
    place.wait_csv(NEXT)
    olm.api.wait_gone(place.path("clusterserviceversions", NAME))
    olm.api.wait_gone(path(place))


def test_the_page_of_operator_conditions(place: Place, tmp_path: Path) -> None:
    name = "my-operator.v1.0.0"
    place.csv(name)
    wait(place, lambda obj: True, name)
    reader = Reader(tmp_path, place.classic.control_plane, names={"blue": place.name})
    reader.follow(steps(DOCS / "classic" / "operator-conditions.md"))
    found = wait(place, lambda obj: "overrides" in obj["spec"], name)
    assert found["spec"]["overrides"][0]["reason"] == "upgradeIsSafe"
