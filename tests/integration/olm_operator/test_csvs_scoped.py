"""ClusterServiceVersions whose group has their objects written by an account of its own."""

import secrets

import pytest

from api.objects import KubeObject
from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place, status

pytestmark = pytest.mark.integration

GROUPS = "operators.coreos.com/v1"
FINAL = "InstallComponentFailedNoRetry"


def scoped(olm: Classic) -> Place:
    """A place whose group names an account without rights."""
    name = f"test-{secrets.token_hex(4)}"
    spec = {"serviceAccountName": "scoped", "targetNamespaces": [name]}
    place = olm.place(group=spec, name=name)
    meta = {"namespace": place.name, "name": "scoped"}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    return place


def wait_forbidden(place: Place) -> KubeObject:
    return place.wait(
        "clusterserviceversions", "operator.v1", lambda obj: status(obj, "reason") == FINAL
    )


def test_insufficient_permissions_resolved_by_rbac(olm: Classic) -> None:
    place = scoped(olm)
    place.csv("operator.v1")
    csv = wait_forbidden(place)
    assert status(csv, "phase") == "Failed"
    text = "install strategy failed: install strategy failed: deployments.apps"
    assert status(csv, "message").startswith(text)
    assert f"system:serviceaccount:{place.name}:scoped" in status(csv, "message")
    run = place.classic.control_plane.kubectl
    verbs = "--verb=get,list,watch,create,update,patch,delete"
    where = ("-n", place.name)
    run("create", "role", "scoped", verbs, "--resource=deployments.apps", *where)
    subject = f"--serviceaccount={place.name}:scoped"
    run("create", "rolebinding", "scoped", "--role=scoped", subject, *where)
    csv = place.wait_csv("operator.v1")
    reasons = [each["reason"] for each in status(csv, "conditions")]
    assert "DetectedClusterChange" in reasons
    run("delete", "namespace", place.name, "--wait=false")


def test_insufficient_permissions_resolved_by_removal_of_the_account(olm: Classic) -> None:
    place = scoped(olm)
    place.csv("operator.v1")
    wait_forbidden(place)
    olm.restart_operator(kill=True)
    wait_forbidden(place)
    path = place.path("operatorgroups", "group", version=GROUPS)
    place.classic.api.patch(path, {"spec": {"serviceAccountName": None}})
    place.wait_csv("operator.v1")
    place.classic.remove(place.name)


def test_an_account_that_is_gone(olm: Classic) -> None:
    """It is reported, and acted on when the account is back, with its rights."""
    place = scoped(olm)
    path = place.path("operatorgroups", "group", version=GROUPS)
    wait_until(lambda: status(olm.api.get(path) or {}, "namespaces") is not None, what="targets")
    run, where = place.classic.control_plane.kubectl, ("-n", place.name)
    run("delete", "serviceaccount", "scoped", *where)
    place.csv("operator.v1")
    assert "scoped" in status(wait_forbidden(place), "message")
    run(
        "create",
        "rolebinding",
        "scoped",
        "--clusterrole=cluster-admin",
        *where,
        f"--serviceaccount={place.name}:scoped",
    )
    run("create", "serviceaccount", "scoped", *where)
    place.wait_csv("operator.v1")
    run("delete", "namespace", place.name, "--wait=false")
