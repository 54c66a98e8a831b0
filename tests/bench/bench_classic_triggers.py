"""How soon olm-operator acts on each change that matters, from the write to what comes of it.

Run: PYTHONPATH=. python tests/bench/bench_classic_triggers.py [--rounds 5]

Real API server and deployment controller on this machine; pods are ready at once. Nothing but the
measured change happens meanwhile, so a figure of minutes would be that of a resync.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from api.objects import KubeObject
from api.operators.names import V1, V2
from e2e.olm.classic import Classic, Place, status
from e2e.olm.csvs import definition, entry, permission
from tests.bench.worlds import classic_world

LOOK_SECONDS, PATIENCE_SECONDS = 0.01, 60.0
OLD, NEW = "operator.v1.0.0", "operator.v1.1.0"
CSVS = "clusterserviceversions"
RBAC = "rbac.authorization.k8s.io/v1"

Trigger = Callable[[Classic, Place], float]
"""Prepares a namespace, makes the change, and gives the seconds until it was acted on."""


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with classic_world(whole=True) as classic:
        figures = {what: measure(classic, what, given.rounds) for what in TRIGGERS}
    for what, seconds in figures.items():
        print(f"{what:64} {statistics.median(seconds):6.2f} {max(seconds):6.2f}")
    print(json.dumps(figures))


def measure(classic: Classic, what: str, rounds: int) -> list[float]:
    found = []
    for _ in range(rounds):
        place = classic.place(own=True)
        found.append(TRIGGERS[what](classic, place))
        classic.control_plane.remove(f"/api/v1/namespaces/{place.name}")
    return found


def until(classic: Classic, path: str, holds: Callable[[KubeObject], bool]) -> float:
    """Seconds until an object, {} while it is not there, is as it shall be."""
    began = time.monotonic()
    while not holds(classic.api.get(path) or {}):
        if time.monotonic() > began + PATIENCE_SECONDS:
            raise TimeoutError(path)
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - began


def until_phase(place: Place, name: str, phase: str = "Succeeded") -> float:
    return until(place.classic, place.path(CSVS, name), lambda obj: status(obj, "phase") == phase)


def of_group_that_comes(classic: Classic, place: Place) -> float:
    classic.api.delete(place.path("operatorgroups", "group", version=V1))
    place.csv(OLD)
    place.wait_reason(OLD, "NoOperatorGroup")
    place.create(V1, "OperatorGroup", "group", {"targetNamespaces": [place.name]})
    return until_phase(place, OLD)


def of_label_of_a_namespace(classic: Classic, place: Place) -> float:
    labels = {"team": place.name}
    classic.api.delete(place.path("operatorgroups", "group", version=V1))
    place.create(V1, "OperatorGroup", "chosen", {"selector": {"matchLabels": labels}})
    group = place.path("operatorgroups", "chosen", version=V1)
    until(classic, group, lambda obj: (obj.get("status") or {}).get("lastUpdated") is not None)
    classic.api.patch(f"/api/v1/namespaces/{place.name}", {"metadata": {"labels": labels}})
    return until(classic, group, lambda obj: status(obj, "namespaces") == [place.name])


def of_end_of_another(classic: Classic, place: Place) -> float:
    owned = made(place, definition(f"{place.name}.example.com"))
    place.csv(OLD, owned=[owned])
    place.wait_csv(OLD)
    place.csv("other.v1.0.0", owned=[owned], deployments=["other"])
    place.wait_reason("other.v1.0.0", "OwnerConflict")
    place.delete(CSVS, OLD)
    return until_phase(place, "other.v1.0.0")


def of_definition(classic: Classic, place: Place) -> float:
    crd = definition(f"{place.name}.example.com")
    place.csv(OLD, required=[entry(crd)])
    place.wait_csv(OLD, "Pending")
    made(place, crd)
    return until_phase(place, OLD)


def of_rights(classic: Classic, place: Place) -> float:
    meta = {"namespace": place.name, "name": "robot"}
    place.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    asked = permission("robot", ["get"], "things", "some.example.com")
    place.csv(OLD, permissions=[asked])
    place.wait_csv(OLD, "Pending")
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "robot"}
    subject = {"kind": "ServiceAccount", "name": "robot", "namespace": place.name}
    binding = {"kind": "RoleBinding", "roleRef": reference, "subjects": [subject]}
    role = {"kind": "Role", "rules": asked["rules"]}
    place.apply(*({"apiVersion": RBAC, "metadata": meta, **each} for each in (binding, role)))
    return until_phase(place, OLD)


def of_deployment_deleted(classic: Classic, place: Place) -> float:
    path, before = installed(place)
    classic.api.delete(path)
    return until(
        classic, path, lambda obj: bool(obj) and obj["metadata"]["uid"] != before["metadata"]["uid"]
    )


def of_deployment_edited(classic: Classic, place: Place) -> float:
    path, before = installed(place)
    pod = before["spec"]["template"]["spec"]
    image = [{**pod["containers"][0], "image": "registry.example.com/other:v1"}]
    classic.api.patch(path, {"spec": {"template": {"spec": {"containers": image}}}})
    return until(
        classic,
        path,
        lambda obj: (
            obj["spec"]["template"]["spec"]["containers"][0]["image"]
            == pod["containers"][0]["image"]
        ),
    )


def of_operator_condition(classic: Classic, place: Place) -> float:
    installed(place)
    path = place.path("operatorconditions", OLD, version=V2)
    condition = {
        "type": "Upgradeable",
        "status": "False",
        "reason": "migrating",
        "message": "it migrates",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    classic.api.patch(path, {"spec": {"conditions": [condition]}})
    until(classic, path, lambda obj: bool(status(obj, "conditions")))
    place.csv(NEW, replaces=OLD)
    place.wait_reason(NEW, "OperatorConditionNotUpgradeable")
    classic.api.patch(path, {"spec": {"conditions": [condition | {"status": "True"}]}})
    return until_phase(place, NEW)


def of_olm_config(classic: Classic, place: Place) -> float:
    everywhere = classic.place()
    everywhere.csv(OLD, deployments=["everywhere"])
    everywhere.wait_csv(OLD)
    copy = place.path(CSVS, OLD)
    until(classic, copy, bool)
    switch(classic, disabled=True)
    seconds = until(classic, copy, lambda obj: not obj)
    switch(classic, disabled=False)
    until(classic, copy, bool)
    classic.control_plane.remove(f"/api/v1/namespaces/{everywhere.name}")
    return seconds


def switch(classic: Classic, *, disabled: bool) -> None:
    spec = {"features": {"disableCopiedCSVs": disabled}}
    config = {"apiVersion": V1, "kind": "OLMConfig", "metadata": {"name": "cluster"}, "spec": spec}
    Place(classic, "").apply(config)


def made(place: Place, crd: KubeObject) -> dict[str, Any]:
    """A definition that is there now, as a ClusterServiceVersion lists it."""
    place.apply(crd)
    return entry(crd)


def installed(place: Place) -> tuple[str, KubeObject]:
    """The path and the object of the Deployment of one that is installed."""
    place.csv(OLD)
    place.wait_csv(OLD)
    path = place.path("deployments", "controller", version="apps/v1")
    found = place.classic.api.get(path)
    if found is None:
        raise RuntimeError(f"{path} is not there")
    return path, found


TRIGGERS: dict[str, Trigger] = {
    "an OperatorGroup comes": of_group_that_comes,
    "a namespace gets a label that a group selects": of_label_of_a_namespace,
    "a ClusterServiceVersion that owns the same API ends": of_end_of_another,
    "a required definition comes": of_definition,
    "an account gets the rights that it lacked": of_rights,
    "a Deployment is deleted": of_deployment_deleted,
    "a Deployment is edited": of_deployment_edited,
    "an operator says that it may be replaced": of_operator_condition,
    "OLMConfig switches copies off": of_olm_config,
}


if __name__ == "__main__":
    main()
