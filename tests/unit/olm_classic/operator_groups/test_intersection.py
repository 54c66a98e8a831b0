"""Targets and provided APIs of OperatorGroups, where the rules are easily got wrong."""

import pytest

from api.objects import GVK
from olm_classic.operator_groups.cluster_roles import cluster_role_name
from olm_classic.operator_groups.intersection import ConflictReason, GroupSurface, Verdict, judge
from olm_classic.operator_groups.targets import from_annotation, intersect, target_set
from olm_classic.provided_apis import as_annotation, provided_apis

A, B = GVK("x.com", "v1", "A"), GVK("x.com", "v1", "B")
EVERYWHERE = target_set("own", [""])


def test_its_own_namespace_joins_unless_a_group_is_global_or_has_no_targets() -> None:
    assert target_set("own", ["a"]) == {"own", "a"}
    assert {""} == EVERYWHERE
    assert target_set("own", []) == frozenset()


def test_all_namespaces_meet_everything_but_nothing() -> None:
    assert intersect(EVERYWHERE, EVERYWHERE)
    assert intersect(EVERYWHERE, target_set("b", ["a"]))
    assert not intersect(EVERYWHERE, target_set("b", []))
    assert not intersect(target_set("a", ["b"]), target_set("c", ["d"]))


@pytest.mark.parametrize(
    ("own", "others", "static", "verdict", "reason"),
    [
        ({A}, set(), False, Verdict.NO_CONFLICT, None),
        (set(), set(), False, Verdict.ADD, None),
        (set(), set(), True, Verdict.ADD, ConflictReason.STATIC),
        ({A}, {A}, False, Verdict.REMOVE, None),
        ({A}, {A}, True, Verdict.REMOVE, ConflictReason.STATIC),
        ({B}, {A}, False, Verdict.CONFLICT, ConflictReason.INTERSECTION),
        ({B}, {A}, True, Verdict.CONFLICT, ConflictReason.INTERSECTION),
    ],
)
def test_the_table_of_the_documents(
    own: set[GVK],
    others: set[GVK],
    static: bool,
    verdict: Verdict,
    reason: ConflictReason | None,
) -> None:
    group = GroupSurface(EVERYWHERE, frozenset(own), static=static)
    judgement = judge(frozenset({A}), group, [GroupSurface(EVERYWHERE, frozenset(others))])
    assert (judgement.verdict, judgement.reason) == (verdict, reason)


def test_what_is_no_api_in_the_annotation_is_passed_over() -> None:
    assert provided_apis("B.v1.x.com, A.v1.x.com,, A.v1") == {A, B}
    assert as_annotation({B, A}) == "A.v1.x.com,B.v1.x.com"


def test_an_empty_annotation_is_all_namespaces() -> None:
    assert from_annotation("") == [""]


def test_names_of_cluster_roles_are_cut_to_what_a_name_may_have() -> None:
    name = cluster_role_name("ns", "g" * 253, "admin")
    assert len(name) == 253
    assert name.startswith("olm.og.ggg")
    assert ".admin-" in name
