"""Which namespaces a group selects, and which of them are labelled."""

import pytest

from api.metadata import LabelSelector, LabelSelectorRequirement
from api.objects import KubeObject
from api.operators.v1.operatorgroup import OperatorGroup, OperatorGroupSpec
from olm_classic.operator_groups.selection import TargetsError, label_changes, selected

KEY = "olm.operatorgroup.uid/u"


def namespace(name: str, **labels: str) -> KubeObject:
    return {"metadata": {"name": name, "labels": labels}}


def marked(name: str) -> KubeObject:
    return {"metadata": {"name": name, "labels": {KEY: ""}}}


NAMESPACES = [namespace("b", team="x"), namespace("a", team="x"), namespace("c", team="y")]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (OperatorGroupSpec(), [""]),
        (OperatorGroupSpec(selector=LabelSelector()), [""]),
        (OperatorGroupSpec(selector=LabelSelector(match_labels={"team": "x"})), ["a", "b"]),
        (OperatorGroupSpec(selector=LabelSelector(match_labels={"team": "z"})), []),
        (
            OperatorGroupSpec(
                selector=LabelSelector(
                    match_expressions=(LabelSelectorRequirement(key="team", operator="Exists"),)
                )
            ),
            ["a", "b", "c"],
        ),
        (OperatorGroupSpec(target_namespaces=("z", "a")), ["a", "z"]),
        (
            OperatorGroupSpec(
                target_namespaces=("z",), selector=LabelSelector(match_labels={"team": "x"})
            ),
            ["z"],
        ),
    ],
)
def test_names_count_before_labels_and_neither_is_everything(
    spec: OperatorGroupSpec, expected: list[str]
) -> None:
    assert selected(spec, NAMESPACES) == expected


def test_all_namespaces_cannot_be_named() -> None:
    with pytest.raises(
        TargetsError, match=r"^TargetNamespaces cannot contain NamespaceAll: \[a \]$"
    ):
        selected(OperatorGroupSpec(target_namespaces=("a", "")), NAMESPACES)


def group(*namespaces: str) -> OperatorGroup:
    return OperatorGroup.from_object(
        {
            "apiVersion": "operators.coreos.com/v1",
            "kind": "OperatorGroup",
            "metadata": {"name": "og", "namespace": "ns", "uid": "u"},
            "status": {"namespaces": list(namespaces), "lastUpdated": "2026-01-01T00:00:00Z"},
        }
    )


def test_labels_come_and_go_with_the_selection() -> None:
    there = [marked("a"), namespace("b"), marked("c")]
    assert label_changes(group("a", "b", "absent"), there) == {"b": {KEY: ""}, "c": {KEY: None}}
    assert label_changes(group("a", "c"), there) == {}
    assert label_changes(group(""), there) == {"a": {KEY: None}, "c": {KEY: None}}
    assert label_changes(group("a"), there, gone=True) == {"a": {KEY: None}, "c": {KEY: None}}
    going = {"metadata": {"name": "b", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert label_changes(group("b"), [going]) == {}, "one that ends is not written"
