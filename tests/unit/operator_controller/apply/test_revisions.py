"""What ClusterObjectSets say of an extension: installed, on the way, history."""

from dataclasses import replace
from typing import Any

import pytest

from api.objects import KubeObject
from api.olm.v1.names import OPTIONAL_REVISION_ANNOTATIONS
from olm_rollout.phases import Phase
from operator_controller.apply.desired import (
    Desired,
    holds,
    revision_annotations,
    revision_name,
    revision_object,
)
from operator_controller.apply.owners import owner_of_extension
from operator_controller.apply.revisions import (
    ARCHIVED_LIMIT,
    BundleIdentity,
    Revisions,
    parse_revision,
)

GROUP = "olm.operatorframework.io"


def raw(
    number: int, *, state: str = "Active", succeeded: bool = False, deleting: bool = False
) -> KubeObject:
    meta: dict[str, Any] = {"name": f"ext-{number}", "uid": f"uid-{number}"}
    if deleting:
        meta["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    conditions = [{"type": "Succeeded", "status": "True"}] if succeeded else []
    return {
        "metadata": meta,
        "spec": {"revision": number, "lifecycleState": state},
        "status": {"conditions": conditions},
    }


def archived(number: int) -> KubeObject:
    return gone(raw(number, state="Archived", succeeded=True))


def gone(obj: KubeObject, generation: int = 2) -> KubeObject:
    """The same when nothing is left of it."""
    return progressing(obj, "Archived", "revision is archived", generation)


def progressing(obj: KubeObject, reason: str, message: str, generation: int = 2) -> KubeObject:
    """The same, of generation 2, with what it said of itself at that generation."""
    condition = {"type": "Progressing", "status": "True", "reason": reason, "message": message}
    obj["metadata"]["generation"] = 2
    obj["status"]["conditions"].append(condition | {"observedGeneration": generation})
    return obj


@pytest.mark.parametrize(
    ("objects", "installed", "latest", "following"),
    [
        pytest.param([], None, None, 1, id="nothing yet"),
        pytest.param([raw(1)], None, 1, 2, id="the first one on its way"),
        pytest.param([raw(1, succeeded=True)], 1, 1, 2, id="one that rolled out"),
        pytest.param([raw(2), raw(1, succeeded=True)], 1, 2, 3, id="an update on its way"),
        pytest.param(
            [raw(1, succeeded=True), raw(2, succeeded=True)], 2, 2, 3, id="before the archiving"
        ),
        pytest.param([archived(1), raw(2, succeeded=True)], 2, 2, 3, id="after the archiving"),
        pytest.param([archived(1), raw(2)], None, 2, 3, id="history is not installed"),
        pytest.param(
            [raw(1, succeeded=True, deleting=True)], None, None, 2, id="one that is being deleted"
        ),
        pytest.param([archived(10), raw(9)], None, 9, 11, id="numbers are not words"),
    ],
)
def test_what_is_what(
    objects: list[KubeObject], installed: int | None, latest: int | None, following: int
) -> None:
    revisions = Revisions.of(objects)
    assert (revisions.installed.number if revisions.installed else None) == installed
    assert (revisions.latest.number if revisions.latest else None) == latest
    assert revisions.next_number == following


def test_the_oldest_archived_ones_beyond_the_limit_are_obsolete() -> None:
    numbers = range(1, ARCHIVED_LIMIT + 4)
    revisions = Revisions.of([*map(archived, numbers), raw(99)])
    assert [r.number for r in revisions.obsolete] == [1, 2, 3]
    assert Revisions.of(map(archived, range(ARCHIVED_LIMIT))).obsolete == ()


def test_what_is_not_removed_yet_is_never_obsolete() -> None:
    left = progressing(raw(1, state="Archived", succeeded=True), "Retrying", "forbidden")
    numbers = range(2, ARCHIVED_LIMIT + 4)
    revisions = Revisions.of([left, *map(archived, numbers), raw(99)])
    assert [r.number for r in revisions.obsolete] == [2, 3]


def test_failures_do_not_take_the_way_back_from_what_rolled_out() -> None:
    failed = [gone(raw(10 + n, state="Archived")) for n in range(ARCHIVED_LIMIT + 1)]
    revisions = Revisions.of([archived(1), *failed, raw(99)])
    assert [r.number for r in revisions.obsolete] == [10]


@pytest.mark.parametrize(
    ("objects", "superseded"),
    [
        pytest.param([raw(1, succeeded=True), raw(2)], [], id="one on the way"),
        pytest.param([raw(1, succeeded=True), raw(2), raw(3)], [2], id="one given up"),
        pytest.param([raw(1), raw(2)], [1], id="before anything was installed"),
        pytest.param([raw(1), raw(2, deleting=True)], [], id="the newer one goes"),
        pytest.param([raw(1), raw(2, state="Archived")], [], id="the newer one was archived"),
        pytest.param([raw(1), raw(2, succeeded=True)], [1], id="the newer one was faster"),
    ],
)
def test_what_never_rolled_out_is_superseded_by_what_is_newer(
    objects: list[KubeObject], superseded: list[int]
) -> None:
    assert [r.number for r in Revisions.of(objects).superseded] == superseded


def test_ended_is_what_is_not_in_service_however_it_went() -> None:
    revisions = Revisions.of([archived(2), raw(3), raw(5, deleting=True), raw(6)])
    assert revisions.ended == {1, 2, 4, 5}
    assert Revisions().ended == frozenset()


@pytest.mark.parametrize(
    ("obj", "obstacle"),
    [
        pytest.param(progressing(raw(1), "Retrying", "no"), "", id="in service"),
        pytest.param(progressing(raw(1, state="Archived"), "Retrying", "no"), "no", id="it failed"),
        pytest.param(
            progressing(raw(1, state="Archived"), "Retrying", "no", 1), "", id="its rollout failed"
        ),
        pytest.param(archived(1), "", id="nothing is left"),
        pytest.param(raw(1, state="Archived"), "", id="it was not looked at"),
        pytest.param(
            progressing(raw(1, state="Archived", deleting=True), "Retrying", "no"),
            "",
            id="it was deleted by hand",
        ),
    ],
)
def test_what_holds_an_archived_revision_is_reported(obj: KubeObject, obstacle: str) -> None:
    assert parse_revision(obj).obstacle == obstacle


DESIRED = Desired(
    namespace="home",
    extension="ext",
    extension_uid="uid-ext",
    service_account=("ns", "installer"),
    bundle=BundleIdentity("pkg.v1", "1.0.0", "pkg", "registry/pkg@sha256:0", release="2"),
    properties='[{"type": "x", "value": 1}]',
    inputs="in",
    phases=(Phase("a", ()),),
    generation=4,
    progress_deadline_minutes=10,
)


def test_what_upstream_installed_by_helm_has_rolled_out_and_says_where_it_comes_from() -> None:
    made = parse_revision(revision_object(replace(DESIRED, from_helm=True), 1, [], cause="Install"))
    assert made.succeeded
    assert made.raw["metadata"]["labels"][f"{GROUP}/migrated-from-helm"] == "true"
    assert not parse_revision(revision_object(DESIRED, 1, [], cause="Install")).succeeded


def test_an_extension_as_owner_knows_its_sets_and_the_newer_ones() -> None:
    history = Revisions.of([raw(1, state="Archived"), raw(2), raw(3)])
    owner = owner_of_extension("ext", "uid-ext", namespace="home", history=history, number=2)
    assert (owner.revision, owner.namespace) == (2, "home")
    assert owner.newer == {3}
    assert owner.former == {"uid-1", "uid-2", "uid-3"}


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param({}, True, id="nothing is new"),
        pytest.param({"generation": 5, "inputs": "other"}, True, id="another way to the same"),
        pytest.param({"service_account": None}, True, id="another account"),
        pytest.param({"bundle": DESIRED.bundle._replace(image="b")}, True, id="another image"),
        pytest.param({"bundle": DESIRED.bundle._replace(version="2")}, False, id="a new version"),
        pytest.param({"bundle": DESIRED.bundle._replace(release="3")}, False, id="a new release"),
        pytest.param({"phases": (Phase("b", ()),)}, False, id="other content"),
    ],
)
def test_what_is_desired_is_a_new_revision_or_the_newest_one(
    change: dict[str, Any], *, same: bool
) -> None:
    latest = parse_revision(revision_object(DESIRED, 3, [], cause="SpecChanged"))
    assert holds(latest, replace(DESIRED, **change)) == same


def test_a_revision_reads_back_as_what_it_was_made_of() -> None:
    made = revision_object(DESIRED, 3, [], cause="SpecChanged")
    read = parse_revision(made)
    assert (read.name, read.number, read.bundle, read.inputs) == (
        "ext-3",
        3,
        DESIRED.bundle,
        "in",
    )
    assert read.content == revision_annotations(DESIRED)[f"{GROUP}/content-digest"]
    assert (read.generation, read.cause) == (4, "SpecChanged")
    assert read.properties == DESIRED.properties
    assert (read.archived, read.deleting, read.succeeded) == (False, False, False)
    assert made["spec"] == {
        "lifecycleState": "Active",
        "revision": 3,
        "collisionProtection": "Prevent",
        "phases": [],
        "progressDeadlineMinutes": 10,
    }
    assert made["metadata"]["labels"] == {
        f"{GROUP}/owner-kind": "ClusterExtension",
        f"{GROUP}/owner-name": "ext",
    }
    [owner] = made["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == ("uid-ext", True)


def test_annotations_that_are_missing_read_as_empty() -> None:
    assert parse_revision({}).bundle == BundleIdentity("", "", "", "")
    assert parse_revision({}).properties == ""


def test_what_a_bundle_does_not_have_is_not_noted() -> None:
    bare = replace(DESIRED, bundle=DESIRED.bundle._replace(release=None), properties="")
    bare = replace(bare, service_account=None)
    missing = revision_annotations(DESIRED).keys() - revision_annotations(bare).keys()
    assert missing == set(OPTIONAL_REVISION_ANNOTATIONS)


def test_properties_of_any_length_fit_with_the_other_annotations() -> None:
    long = '[{"type":"olm.maxOpenShiftVersion","value":"4.18"},{"type":"x","value":"' + "x" * 2**20
    noted = revision_annotations(replace(DESIRED, properties=f'{long}"}}]'))
    assert noted["olm.properties"] == '[{"type":"olm.maxOpenShiftVersion","value":"4.18"}]'


def test_names_fit_however_long_the_extensions_is() -> None:
    long = "e" * 253
    assert revision_name("ext", 12) == "ext-12"
    assert len(revision_name(long, 1000)) <= 253
    assert revision_name(long, 1000).endswith("-1000")
    assert revision_name(long, 1) != revision_name(f"{long[:-1]}f", 1)
