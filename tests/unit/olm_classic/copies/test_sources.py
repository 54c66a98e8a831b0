"""Which ClusterServiceVersions are copied, and where to."""

from typing import Any

import pytest

from olm_classic.copies.sources import Copying, Source, Sources

ACTIVE = ("operators", "a", "b", "openshift")
OFF = Copying(disabled=True, protected=frozenset({"openshift"}))


def _csv(
    targets: str | None = "",
    phase: str = "Succeeded",
    reason: str = "InstallSucceeded",
    namespace: str = "operators",
    **meta: Any,
) -> dict[str, Any]:
    annotations = {"olm.operatorNamespace": namespace}
    if targets is not None:
        annotations["olm.targetNamespaces"] = targets
    named = {"name": "etcd.v1", "namespace": namespace, "uid": "1", "annotations": annotations}
    return {"metadata": {**named, **meta}, "status": {"phase": phase, "reason": reason}}


@pytest.mark.parametrize(
    ("phase", "reason", "copied"),
    [
        ("", "", False),
        ("Pending", "RequirementsNotMet", True),
        ("Succeeded", "InstallSucceeded", True),
        ("Failed", "ComponentUnhealthy", True),
        ("Failed", "InstallComponentFailedNoRetry", True),
        ("Replacing", "BeingReplaced", True),
        ("Succeeded", "Copied", False),
        ("Failed", "InvalidInstallModes", False),
        ("Failed", "NoTargetNamespaces", False),
        ("Failed", "UnsupportedOperatorGroup", False),
        ("Failed", "NoOperatorGroup", False),
        ("Failed", "TooManyOperatorGroups", False),
        ("Failed", "InterOperatorGroupOwnerConflict", False),
        ("Failed", "CannotModifyStaticOperatorGroupProvidedAPIs", False),
    ],
)
def test_what_is_a_member_of_a_group_is_copied_whether_it_works_or_not(
    phase: str, reason: str, copied: bool
) -> None:
    assert Source.of(_csv(phase=phase, reason=reason)).copied is copied


@pytest.mark.parametrize(
    ("reason", "stays"),
    [
        ("UnsupportedOperatorGroup", True),
        ("TooManyOperatorGroups", True),
        ("InterOperatorGroupOwnerConflict", False),
        ("NoOperatorGroup", False),
    ],
)
def test_copies_end_where_a_group_ends_or_loses_its_apis(reason: str, stays: bool) -> None:
    assert Source.of(_csv(phase="Failed", reason=reason)).works_in("a") is stays


@pytest.mark.parametrize(
    ("targets", "namespaces"),
    [
        ("", {"a", "b", "openshift"}),
        ("a", {"a"}),
        ("a,operators", {"a"}),
        ("operators", set()),
        ("gone", set()),
        (None, set()),
    ],
)
def test_copies_are_in_the_namespaces_of_the_operator_but_its_own(
    targets: str | None, namespaces: set[str]
) -> None:
    sources = Sources()
    source = Source.of(_csv(targets))
    sources.put(source)
    assert sources.wanted_in(source, Copying(), ACTIVE) == namespaces


def test_what_is_going_is_not_copied_but_keeps_its_copies() -> None:
    source = Source.of(_csv(deletionTimestamp="2026-01-01T00:00:00Z"))
    assert not source.copied
    assert Copying().allows(source, "a")


def test_an_operator_that_says_to_run_elsewhere_has_no_copies() -> None:
    source = Source.of(_csv(annotations={"olm.operatorNamespace": "x", "olm.targetNamespaces": ""}))
    assert not source.copied
    assert not source.works_in("a")


def test_what_is_switched_off_is_what_works_everywhere_outside_protected_namespaces() -> None:
    everywhere, two = Source.of(_csv("")), Source.of(_csv("a,b"))
    assert [OFF.allows(everywhere, each) for each in ACTIVE] == [False, False, False, True]
    assert [OFF.allows(two, each) for each in ACTIVE] == [False, True, True, False]


def test_of_two_of_a_name_the_first_is_copied_and_neither_over_the_other() -> None:
    sources = Sources()
    one, other = Source.of(_csv(namespace="operators")), Source.of(_csv(namespace="more"))
    sources.put(one)
    sources.put(other)
    active = (*ACTIVE, "more")
    assert sources.copied_to("a", "etcd.v1", Copying()) == other
    assert sources.wanted_in(other, Copying(), active) == {"a", "b", "openshift"}
    assert sources.wanted_in(one, Copying(), active) == set()
    sources.drop(other.key)
    assert sources.copied_to("a", "etcd.v1", Copying()) == one
    assert sources.wanted_in(one, Copying(), active) == {"a", "b", "openshift", "more"}


def test_sources_are_found_by_where_they_work() -> None:
    sources = Sources()
    sources.put(Source.of(_csv("a,b")))
    assert [source.key for source in sources.works_in("a")] == [("operators", "etcd.v1")]
    assert sources.everywhere() == []
    sources.put(Source.of(_csv("")))
    assert [source.everywhere for source in sources.works_in("c")] == [True]
    assert sources.works_in("operators") == []
    assert len(sources.all()) == 1
    sources.put(Source.of(_csv("operators")))
    assert (sources.works_in("a"), sources.everywhere(), sources.all()) == ([], [], [])
    sources.drop(("operators", "etcd.v1"))
    sources.drop(("operators", "etcd.v1"))
    assert sources.copied_to("a", "etcd.v1", Copying()) is None
