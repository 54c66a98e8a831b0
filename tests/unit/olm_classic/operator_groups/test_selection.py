"""Which namespaces a group selects, and which of them are labelled."""

import pytest

from api.metadata import LabelSelector, LabelSelectorRequirement
from api.objects import KubeObject
from api.operators.v1.operatorgroup import OperatorGroupSpec
from olm_classic.operator_groups.selection import (
    LABEL_GROUP_PREFIX,
    TargetsError,
    label_changes,
    selected,
)
from olm_content.selectors import SelectorError

KEY = f"{LABEL_GROUP_PREFIX}u"


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


def test_a_selector_that_no_label_can_meet_is_an_error() -> None:
    broken = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="team", operator="Near"),)
    )
    with pytest.raises(SelectorError, match="not a valid label selector operator"):
        selected(OperatorGroupSpec(selector=broken), NAMESPACES)


def test_labels_come_and_go_with_the_selection() -> None:
    assert label_changes(namespace("a"), ["u"]) == {KEY: ""}
    assert label_changes(marked("a"), ["u"]) == {}
    assert label_changes(marked("a"), []) == {KEY: None}
    assert label_changes(marked("a"), ["v"]) == {KEY: None, f"{LABEL_GROUP_PREFIX}v": ""}
    assert label_changes(namespace("a", team="x"), []) == {}, "others are nobody's business"
