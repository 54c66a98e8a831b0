"""Copies of ClusterServiceVersions in the namespaces of their operators."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, is_deleting, labels_of, metadata
from api.operators.names import V1, V1ALPHA1
from e2e.harness.controlplane import wait_until
from e2e.harness.metrics import summed
from e2e.olm.classic import Classic, Place, status
from e2e.olm.pages import DOCS, steps
from e2e.olm.reader import Reader
from olm_classic.controllers.copied_csvs import NAME as COPIED_CSVS
from olm_classic.copies.records import Record
from olm_runtime.kube.media_types import MERGE_PATCH

pytestmark = pytest.mark.integration

CSVS = "clusterserviceversions"
CONFIG = f"/apis/{V1}/olmconfigs/cluster"
NAME = "hello.v1.0.0"


@pytest.fixture(scope="module")
def places(olm: Classic) -> Iterator[Callable[..., Place]]:
    """Makes namespaces. They stay while there are copies, which come back into one that ends."""
    made: list[str] = []

    def make(*targets: str, own: bool = False) -> Place:
        place = olm.place(group={"targetNamespaces": list(targets)}, own=own)
        made.append(place.name)
        return place

    yield make
    olm.remove(*made)


@pytest.fixture(scope="module")
def teams(places: Callable[..., Place]) -> Sequence[Place]:
    """Two namespaces without operators of their own."""
    return [places("nowhere") for _ in range(2)]


@pytest.fixture(scope="module")
def everywhere(olm: Classic, places: Callable[..., Place]) -> Iterator[Place]:
    """The namespace of an operator for all namespaces, which works.

    It is one for all tests: each takes copies to a dozen namespaces.
    """
    place = places()
    place.csv(NAME)
    place.wait_csv(NAME)
    yield place
    place.delete(CSVS, NAME)
    wait_until(lambda: not copies(olm), what="no copy is left")


def copied(place: Place, phase: str = "Succeeded", name: str = NAME) -> KubeObject:
    """The copy in a namespace, once it has a phase."""

    def holds(obj: KubeObject) -> bool:
        return (status(obj, "phase"), status(obj, "reason")) == (phase, "Copied")

    return place.wait(CSVS, name, holds)


def gone(place: Place, name: str = NAME) -> None:
    place.classic.api.wait_gone(place.path(CSVS, name))


def copies(olm: Classic) -> list[KubeObject]:
    return olm.api.list(f"/apis/{V1ALPHA1}/{CSVS}", "olm.copiedFrom")


def edit(place: Place, patch: dict[str, Any], subresource: str = "") -> None:
    """As a user of the namespace."""
    path = place.path(CSVS, NAME) + (f"/{subresource}" if subresource else "")
    with place.classic.control_plane.client() as http:
        answer = http.patch(path, json=patch, headers={"content-type": MERGE_PATCH})
        answer.raise_for_status()


def test_a_csv_that_watches_all_namespaces_is_copied_to_each_of_them(
    olm: Classic, everywhere: Place, teams: Sequence[Place], places: Callable[..., Place]
) -> None:
    source = everywhere.wait_csv(NAME)
    copy = copied(teams[0])
    assert copy["spec"] == source["spec"]
    assert labels_of(copy)["olm.copiedFrom"] == everywhere.name
    assert "olm.targetNamespaces" not in annotations_of(copy)
    assert annotations_of(copy)["olm.operatorNamespace"] == everywhere.name
    assert "finalizers" not in metadata(copy)
    assert "ownerReferences" not in metadata(copy)
    running = f"The operator is running in {everywhere.name} but is managing this namespace"
    assert copy["status"]["message"] == running
    later = places("nowhere")
    copied(later)
    conditions = f"/apis/operators.coreos.com/v2/namespaces/{later.name}/operatorconditions"
    assert olm.api.list(conditions) == []


def test_copies_follow_the_target_namespaces_of_the_group(
    olm: Classic, teams: Sequence[Place], places: Callable[..., Place]
) -> None:
    name, place = "follows.v1.0.0", places(teams[0].name)
    place.csv(name)
    copied(teams[0], name=name)
    place.patch(
        "operatorgroups", "group", {"spec": {"targetNamespaces": [teams[1].name]}}, version=V1
    )
    copied(teams[1], name=name)
    gone(teams[0], name)
    olm.api.delete(place.path("operatorgroups", "group", version=V1))
    gone(teams[1], name)
    place.delete(CSVS, name)


def test_edits_of_a_copied_csv_are_reverted_and_changes_propagate(
    everywhere: Place, teams: Sequence[Place]
) -> None:
    team, source = teams[0], everywhere.wait_csv(NAME)
    copied(team)

    def as_source(obj: KubeObject) -> bool:
        return (
            obj["spec"] == source["spec"]
            and "mine" not in labels_of(obj)
            and "phase" in obj.get("status", {})
            and labels_of(obj).get("olm.copiedFrom") == everywhere.name
            and obj["status"]["phase"] == "Succeeded"
        )

    for patch, subresource in (
        ({"spec": {"displayName": "mine"}}, ""),
        ({"spec": {"version": None}}, ""),
        ({"status": {"phase": "Failed"}}, "status"),
        ({"status": {"message": None}}, "status"),
        ({"metadata": {"labels": {"mine": "x"}}}, ""),
        ({"metadata": {"labels": {"olm.copiedFrom": None}}}, ""),
    ):
        edit(team, patch, subresource)
        team.wait(CSVS, NAME, as_source, what=f"reverted {patch}")
    edit(everywhere, {"spec": {"displayName": "another"}})
    team.wait(CSVS, NAME, lambda obj: obj["spec"]["displayName"] == "another")
    edit(everywhere, {"metadata": {"labels": {"colour": "red"}}})
    team.wait(CSVS, NAME, lambda obj: labels_of(obj).get("colour") == "red")
    before = metadata(copied(team))["uid"]
    team.delete(CSVS, NAME)
    team.wait(CSVS, NAME, lambda obj: metadata(obj)["uid"] != before)
    copied(team)


def test_csvs_with_a_bad_namespace_annotation_are_cleaned_up(
    olm: Classic, everywhere: Place, teams: Sequence[Place]
) -> None:
    team = teams[0]
    before = metadata(copied(team))["uid"]
    edit(team, {"metadata": {"annotations": {"olm.operatorNamespace": "/dev/null"}}})
    team.wait(CSVS, NAME, lambda obj: metadata(obj)["uid"] != before)
    copied(team)
    for name, annotations in (
        ("nobody.v1", {}),
        ("other.v1", {"olm.operatorNamespace": everywhere.name}),
        ("own.v1", {"olm.operatorNamespace": team.name}),
    ):
        made = team.csv(name, labels={"olm.copiedFrom": everywhere.name}, annotations=annotations)
        gone(team, made["metadata"]["name"])
    assert olm.api.get(team.path(CSVS, NAME)) is not None


def test_copies_are_removed_with_what_they_are_copied_from(
    everywhere: Place, teams: Sequence[Place]
) -> None:
    copied(teams[0])
    everywhere.delete(CSVS, NAME)
    for team in teams:
        gone(team)
    everywhere.csv(NAME)
    copied(teams[0])


def test_an_operator_of_a_namespace_itself_is_never_taken_for_a_copy(
    olm: Classic, everywhere: Place, places: Callable[..., Place]
) -> None:
    team = places(own=True)
    copied(team)
    olm.api.delete(team.path(CSVS, NAME))
    copied(team)
    other = team.csv("other.v1.0.0")
    team.wait_csv("other.v1.0.0")
    everywhere.csv("other.v1.0.0", deployments=["other"])
    everywhere.wait_csv("other.v1.0.0")
    found = olm.api.get(team.path(CSVS, "other.v1.0.0"))
    assert found is not None
    assert "olm.copiedFrom" not in labels_of(found)
    team.delete(CSVS, other["metadata"]["name"])
    copied(team, name="other.v1.0.0")
    everywhere.delete(CSVS, "other.v1.0.0")


def test_a_program_that_was_killed_goes_on_and_finds_what_happened_meanwhile(
    olm: Classic, everywhere: Place, teams: Sequence[Place], places: Callable[..., Place]
) -> None:
    one, other = teams
    for team in teams:
        copied(team)
    assert olm.operator is not None
    olm.operator.kill()
    edit(one, {"spec": {"version": None}})
    edit(everywhere, {"metadata": {"labels": {"colour": "blue"}}})
    other.csv("nobody.v1", labels={"olm.copiedFrom": "gone"})
    later = places("nowhere")
    olm.restart_operator(kill=True)
    gone(other, "nobody.v1")
    for team in (one, other, later):
        team.wait(
            CSVS,
            NAME,
            lambda obj: labels_of(obj).get("colour") == "blue" and "version" in obj["spec"],
        )


def test_a_start_reads_one_of_the_copies_that_are_alike(olm: Classic, everywhere: Place) -> None:
    def all_made() -> bool:
        active = [n for n in olm.api.list("/api/v1/namespaces") if not is_deleting(n)]
        return len(copies(olm)) == len(active) - 1

    wait_until(all_made, what="all copies are made")
    found = [Record.of(each) for each in copies(olm)]
    touched = sum(each.foreign for each in found)
    kinds = {(each.hashes.rest, each.fields) for each in found if not each.foreign}
    assert len(found) > touched + 2 * len(kinds)
    asked = len(olm.control_plane.audit_events())
    olm.restart_operator(kill=True)
    wait_until(lambda: reconciles(olm) >= len(found), what="all copies were looked at")
    read = [e for e in olm.control_plane.audit_events()[asked:] if is_look_of_operator(e)]
    assert len(read) == touched + len(kinds)


def reconciles(olm: Classic) -> int:
    """Those of copies that have ended."""
    counted = summed(olm.operator_metrics(), "controller_runtime_reconcile_total", "controller")
    return counted[COPIED_CSVS]


def is_look_of_operator(event: KubeObject) -> bool:
    seen = event.get("objectRef", {})
    asked = (event["verb"], seen.get("resource"), seen.get("name"))
    return asked == ("get", CSVS, NAME) and "olm-operator" in event["user"]["username"]


def events(place: Place) -> list[KubeObject]:
    found = place.classic.api.list(f"/api/v1/namespaces/{place.name}/events")
    return [event for event in found if event["reason"] == "DisabledCopiedCSVs"]


def switch(olm: Classic, *, disabled: bool) -> None:
    spec = {"features": {"disableCopiedCSVs": disabled}}
    config = {"apiVersion": V1, "kind": "OLMConfig", "metadata": {"name": "cluster"}, "spec": spec}
    Place(olm, "").apply(config)


def wait_disabled(olm: Classic, value: str, message: str) -> KubeObject:
    return olm.api.wait_condition(CONFIG, "DisabledCopiedCSVs", value, message=message)


def test_copies_are_switched_off_and_on_again(
    olm: Classic, everywhere: Place, teams: Sequence[Place], places: Callable[..., Place]
) -> None:
    """Present, removed with an Event, said in the status, back, said again; also over kill -9."""
    team, protected = teams
    place = places(team.name)
    place.csv("single.v1.0.0")
    for each in teams:
        copied(each)
    olm.restart_operator(f"--protectedCopiedCSVNamespaces={protected.name}")
    switch(olm, disabled=True)
    try:
        olm.restart_operator(kill=True)
        gone(team)
        config = wait_disabled(olm, "True", "no unexpected copied CSVs were found")
        found = condition(config, "DisabledCopiedCSVs")
        assert found is not None
        assert found["reason"] == "CopiedCSVsDisabled"
        copied(protected)
        copied(team, name="single.v1.0.0")
        [event] = events(everywhere)
        assert event["type"] == "Warning"
        assert event["message"] == f"CSV copying disabled for {everywhere.name}/{NAME}"
        assert events(place) == []
        olm.restart_operator(kill=True)
        olm.api.delete(protected.path(CSVS, NAME))
        copied(protected)
        assert [metadata(each)["uid"] for each in events(everywhere)] == [metadata(event)["uid"]]
        switch(olm, disabled=False)
        copied(team)
        wait_disabled(olm, "False", "Copied CSVs are enabled and present across the cluster")
        olm.api.wait(
            f"/api/v1/namespaces/{everywhere.name}/events/{metadata(event)['name']}",
            lambda obj: obj is None,
            what="the Event shall be gone",
        )
    finally:
        olm.api.delete(CONFIG)
        olm.restart_operator("--protectedCopiedCSVNamespaces=")
        place.delete(CSVS, "single.v1.0.0")


def test_the_page_of_copies(
    olm: Classic, everywhere: Place, teams: Sequence[Place], tmp_path: Path
) -> None:
    copied(teams[0])
    names = {"team-a": teams[0].name, "blue": everywhere.name}
    try:
        reader = Reader(tmp_path, olm.control_plane, names=names)
        reader.follow(steps(DOCS / "classic" / "copied-csvs.md"))
        copied(teams[0])
    finally:
        olm.api.delete(CONFIG)
