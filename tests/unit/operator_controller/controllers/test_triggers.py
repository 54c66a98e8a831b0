"""Which events ring for which keys."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject, ObjectKey
from olm_runtime.controller.priority import Priority
from operator_controller.controllers.extension import FINALIZERS
from operator_controller.controllers.package_index import PackageIndex
from operator_controller.controllers.triggers import Add, Triggers

KEY = ObjectKey(GVK("", "v1", "ConfigMap"), "ns", "x")
EXTENSION = ("ClusterExtension", "ext")


class Bells:
    """Triggers, and what they rang since it was asked last."""

    def __init__(self) -> None:
        self.rung: list[str] = []
        self.calmly: list[str] = []
        """What was enqueued with low priority."""
        self.forgotten: list[str] = []
        self.triggers = Triggers(
            self._bell("extension"),
            self._bell("set"),
            self._bell("catalog"),
            lambda name, owner, key: self.rung.append(f"set {name}"),
            PackageIndex(),
            self,
            lambda obj: self.rung.append(f"soon {obj['metadata']['name']}"),
        )

    def is_of_others(self, obj: KubeObject) -> bool:
        return bool(obj["status"].get("foreign"))

    def forget(self, obj: KubeObject) -> None:
        self.forgotten.append(obj["metadata"]["name"])

    def _bell(self, kind: str) -> Add:
        def ring(name: str, *, priority: Priority = Priority.NORMAL) -> None:
            (self.rung if priority is Priority.NORMAL else self.calmly).append(f"{kind} {name}")

        return ring

    def heard(self) -> list[str]:
        heard, self.rung = sorted(self.rung), []
        return heard


@pytest.fixture
def bells() -> Bells:
    return Bells()


def obj(name: str = "ext", *, generation: int = 1, **extra: Any) -> KubeObject:
    meta = {"name": name, "uid": f"uid-{name}", "generation": generation, **extra}
    return {"metadata": meta, "spec": {}, "status": {}}


def revision(name: str, *, owner: str = "ext", state: str = "Active", **extra: Any) -> KubeObject:
    reference = {"kind": "ClusterExtension", "name": owner, "controller": True}
    found = obj(name, ownerReferences=[reference] if owner else [], **extra)
    return {**found, "kind": "ClusterObjectSet", "spec": {"lifecycleState": state}}


@pytest.mark.parametrize(
    ("event", "change", "rings"),
    [
        pytest.param("MODIFIED", {}, False, id="a status of ours"),
        pytest.param("MODIFIED", {"resourceVersion": "2"}, False, id="a new version alone"),
        pytest.param("MODIFIED", {"labels": {"a": "b"}}, False, id="a label"),
        pytest.param("MODIFIED", {"generation": 2}, True, id="a changed spec"),
        pytest.param("MODIFIED", {"annotations": {"a": "b"}}, True, id="an annotation"),
        pytest.param("MODIFIED", {"finalizers": ["f"]}, True, id="a finalizer"),
        pytest.param("MODIFIED", {"deletionTimestamp": "now"}, True, id="a deletion asked for"),
        pytest.param("MODIFIED", {"uid": "other"}, True, id="another one of the name"),
        pytest.param("DELETED", {}, True, id="a deletion"),
        pytest.param("", {}, True, id="a list after an outage"),
    ],
)
def test_what_rings_for_an_extension(
    bells: Bells, event: str, change: dict[str, Any], *, rings: bool
) -> None:
    bells.triggers.extension("ADDED", obj())
    assert bells.heard() == ["extension ext"]
    bells.triggers.extension(event, obj(**change))
    assert bells.heard() == (["extension ext"] if rings else [])


def test_the_finalizers_that_a_reconcile_sets_first_ring_only_when_they_are_taken_away(
    bells: Bells,
) -> None:
    bells.triggers.extension("ADDED", obj(finalizers=["theirs"]))
    bells.heard()
    bells.triggers.extension("MODIFIED", obj(finalizers=["theirs", *FINALIZERS]))
    assert bells.heard() == []
    bells.triggers.extension("MODIFIED", obj(finalizers=["theirs", *FINALIZERS[1:]]))
    assert bells.heard() == ["extension ext"]
    bells.triggers.extension("MODIFIED", obj(finalizers=FINALIZERS))
    assert bells.heard() == ["extension ext"]


@pytest.mark.parametrize("event", ["", "ADDED", "MODIFIED"])
def test_a_status_that_somebody_else_wrote_is_looked_at_soon(bells: Bells, event: str) -> None:
    bells.triggers.extension("ADDED", obj())
    bells.triggers.object_set("ADDED", revision("ext-1"))
    bells.heard()
    bells.triggers.extension(event, {**obj(), "status": {"foreign": True}})
    bells.triggers.object_set(event, {**revision("ext-1"), "status": {"foreign": True}})
    soon = [rung for rung in bells.heard() if rung.startswith("soon")]
    assert soon == (["soon ext", "soon ext-1"] if event == "MODIFIED" else [])


def test_the_status_of_what_is_gone_is_forgotten(bells: Bells) -> None:
    bells.triggers.extension("DELETED", obj())
    bells.triggers.object_set("DELETED", revision("ext-1"))
    assert bells.forgotten == ["ext", "ext-1"]


def progressing(reason: str, generation: int = 1) -> dict[str, Any]:
    found = {"type": "Progressing", "reason": reason, "observedGeneration": generation}
    return {"conditions": [found]}


@pytest.mark.parametrize(
    ("event", "change", "hurries"),
    [
        pytest.param("", {"status": progressing("Succeeded")}, False, id="listed, and settled"),
        pytest.param("", {}, True, id="listed, and never looked at"),
        pytest.param("", {"status": progressing("Retrying")}, True, id="listed, and retrying"),
        pytest.param("", {"status": progressing("Succeeded", 0)}, True, id="with a newer spec"),
        pytest.param("ADDED", {"status": progressing("Succeeded")}, True, id="made"),
    ],
)
def test_what_is_listed_and_settled_is_enqueued_with_low_priority(
    bells: Bells, event: str, change: dict[str, Any], *, hurries: bool
) -> None:
    bells.triggers.extension(event, {**obj(), **change})
    bells.triggers.object_set(event, {**revision("ext-1"), **change})
    rung = ["extension ext", "extension ext", "set ext-1"]
    assert bells.heard() == (rung if hurries else [])
    assert sorted(bells.calmly) == ([] if hurries else rung)


def test_a_listed_extension_that_is_deleted_is_looked_at_at_once(bells: Bells) -> None:
    deleted = obj(deletionTimestamp="now")
    bells.triggers.extension("", {**deleted, "status": progressing("Succeeded")})
    assert bells.heard() == ["extension ext"]


def test_an_extension_made_anew_rings_again(bells: Bells) -> None:
    for event in ("ADDED", "DELETED", "ADDED"):
        bells.triggers.extension(event, obj())
    assert len(bells.heard()) == 3


def test_a_revision_rings_its_extension_also_when_only_its_status_changed(bells: Bells) -> None:
    bells.triggers.object_set("ADDED", revision("ext-1"))
    assert bells.heard() == ["extension ext", "set ext-1"]
    bells.triggers.object_set("MODIFIED", {**revision("ext-1"), "status": {"conditions": []}})
    assert bells.heard() == ["extension ext"]


def test_a_revision_that_the_extension_made_itself_rings_it_from_the_first_change_on(
    bells: Bells,
) -> None:
    bells.triggers.wrote(revision("ext-1"))
    bells.triggers.object_set("ADDED", revision("ext-1"))
    assert bells.heard() == ["set ext-1"]
    bells.triggers.object_set("MODIFIED", {**revision("ext-1"), "status": {"conditions": []}})
    assert bells.heard() == ["extension ext"]


def test_a_revision_that_follows_its_extension_rings_only_itself(bells: Bells) -> None:
    bells.triggers.extension("ADDED", obj())
    for name in ("ext-1", "ext-2"):
        bells.triggers.object_set("ADDED", revision(name))
    bells.heard()
    bells.triggers.object_set("DELETED", revision("ext-1"))
    assert bells.heard() == ["extension ext", "set ext-1"]
    bells.triggers.extension("DELETED", obj())
    bells.heard()
    bells.triggers.object_set("DELETED", revision("ext-2"))
    assert bells.heard() == ["set ext-2"]


def test_what_its_own_reconcile_lets_go_is_looked_at_no_more(bells: Bells) -> None:
    going, leaving = {**obj(), "kind": "ClusterExtension"}, revision("ext-1")
    bells.triggers.extension("ADDED", going)
    bells.triggers.object_set("ADDED", leaving)
    bells.heard()
    bells.triggers.departs(leaving)
    bells.triggers.managed(EXTENSION, KEY)
    bells.triggers.object_set("DELETED", leaving)
    assert bells.heard() == ["extension ext"]
    bells.triggers.departs(going)
    bells.triggers.extension("DELETED", going)
    assert bells.heard() == []
    bells.triggers.extension("ADDED", going)
    bells.triggers.object_set("ADDED", leaving)
    assert bells.heard() == ["extension ext", "extension ext", "set ext-1"]


def test_an_archived_revision_that_goes_has_nothing_left_to_do(bells: Bells) -> None:
    over = {**revision("ext-1"), "status": progressing("Archived")}
    for event in ("", "DELETED"):
        bells.triggers.object_set(event, over)
    assert bells.heard() == []
    assert bells.calmly == ["extension ext"]
    bells.triggers.object_set("", {**over, "status": progressing("Archived", 0)})
    assert "set ext-1" in bells.heard()


def test_a_note_of_how_objects_were_left_rings_nobody(bells: Bells) -> None:
    bells.triggers.object_set("ADDED", revision("ext-1"))
    bells.heard()
    noted = revision("ext-1", annotations={"olm.operatorframework.io/applied": "digest"})
    bells.triggers.object_set("MODIFIED", noted)
    assert bells.heard() == []


def test_a_set_of_no_extension_rings_only_itself(bells: Bells) -> None:
    bells.triggers.object_set("ADDED", revision("alone", owner=""))
    assert bells.heard() == ["set alone"]


def test_a_managed_object_rings_the_revisions_in_service(bells: Bells) -> None:
    bells.triggers.object_set("ADDED", revision("ext-1"))
    bells.triggers.object_set("ADDED", revision("ext-2"))
    bells.triggers.object_set("ADDED", revision("other-1", owner="other"))
    bells.heard()
    bells.triggers.managed(EXTENSION, KEY)
    assert bells.heard() == ["set ext-1", "set ext-2"]
    bells.triggers.object_set("MODIFIED", revision("ext-1", state="Archived", generation=2))
    assert bells.heard() == ["extension ext", "set ext-1"]
    bells.triggers.managed(EXTENSION, KEY)
    assert bells.heard() == ["set ext-2"]
    bells.triggers.object_set("DELETED", revision("ext-2"))
    bells.heard()
    bells.triggers.managed(EXTENSION, KEY)
    assert bells.heard() == []


def test_a_set_of_no_extension_is_rung_by_its_own_objects(bells: Bells) -> None:
    bells.triggers.object_set("ADDED", revision("alone", owner=""))
    bells.heard()
    bells.triggers.managed(("ClusterObjectSet", "alone"), KEY)
    assert bells.heard() == ["set alone"]


def test_nothing_is_remembered_of_what_is_gone(bells: Bells) -> None:
    for i in range(10):
        bells.triggers.extension("ADDED", obj(f"e{i}"))
        bells.triggers.object_set("ADDED", revision(f"e{i}-1", owner=f"e{i}"))
        bells.triggers.object_set("DELETED", revision(f"e{i}-1", owner=f"e{i}"))
        bells.triggers.extension("DELETED", obj(f"e{i}"))
    assert not bells.triggers._extensions
    assert not bells.triggers._object_sets
    assert not bells.triggers._sets_of


def catalog(*, labels: dict[str, str] | None = None, **change: Any) -> KubeObject:
    spec = {"priority": change.get("priority", 0), "availabilityMode": change.get("mode")}
    conditions = [{"type": "Serving", "status": change.get("serving", "True")}]
    status = {
        "conditions": [*conditions, {"type": "Progressing", "status": change.get("going", "True")}],
        "resolvedSource": {"image": {"ref": change.get("ref", "a@sha256:1")}},
        "lastUnpacked": change.get("unpacked"),
    }
    meta = {"name": "catalog", "labels": labels or {}}
    return {"metadata": meta, "spec": spec, "status": status}


ALL = ["extension a", "extension b"]


@pytest.mark.parametrize(
    ("change", "rung"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"unpacked": "now", "going": "False"}, [], id="a poll with no news"),
        pytest.param({"ref": "a@sha256:2"}, ["catalog catalog"], id="new content"),
        pytest.param({"serving": "False"}, ["catalog catalog"], id="it serves no more"),
        pytest.param({"priority": 1}, ALL, id="another priority"),
        pytest.param({"mode": "Unavailable"}, ALL, id="it was taken out of service"),
        pytest.param({"labels": {"a": "b"}}, ALL, id="other labels, which selectors look at"),
    ],
)
def test_what_a_changed_catalog_rings_for(
    bells: Bells, change: dict[str, Any], rung: list[str]
) -> None:
    for name in ("a", "b"):
        bells.triggers.extension("ADDED", obj(name))
    bells.triggers.catalog("", catalog())
    assert bells.heard() == ["catalog catalog", *ALL], "it may have been made during an outage"
    bells.triggers.catalog("MODIFIED", catalog(**change))
    assert bells.heard() == rung
    bells.triggers.catalog("", catalog(**change))
    assert bells.heard() == [], "a list after an outage tells nothing new"


def test_the_rank_of_a_catalog_concerns_only_who_selects_it(bells: Bells) -> None:
    for name, tier in (("a", "gold"), ("b", "lead"), ("c", "tin")):
        extension = obj(name)
        selector = {"matchLabels": {"tier": tier}}
        extension["spec"] = {"source": {"catalog": {"packageName": "p", "selector": selector}}}
        bells.triggers.extension("ADDED", extension)
    bells.triggers.catalog("ADDED", catalog(labels={"tier": "gold"}))
    bells.heard()
    bells.triggers.catalog("MODIFIED", catalog(labels={"tier": "lead"}))
    assert bells.heard() == ["extension a", "extension b"]
    bells.triggers.catalog("DELETED", catalog(labels={"tier": "lead"}))
    assert bells.heard() == ["catalog catalog", "extension b"]
