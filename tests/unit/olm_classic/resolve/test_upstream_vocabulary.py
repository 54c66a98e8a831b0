"""Errors and verdicts in upstream's dialect that no visible golden case has."""

from dataclasses import replace
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.dialect import Dialect
from olm_classic.resolve import Entry, Limit, Namespace, ResolutionError, resolve
from tests.unit.olm_classic.resolve.test_explain import bundle, csv, namespace, subscription

GVK = {"group": "example.com", "version": "v1", "kind": "Lawn"}
PLACE = 'in channel "stable" of package "red"'
FORWARD = {"upgradeStrategy": "TechPreviewUnsafeFailForward"}


def names(given: Namespace) -> list[str]:
    found = resolve(given, Limit(lambda: 0.0), Dialect.UPSTREAM)
    return sorted(each.entry.name for each in found.chosen)


def error(given: Namespace) -> str:
    with pytest.raises(ResolutionError) as raised:
        names(given)
    return raised.value.message


def channel(**replaced: str) -> list[Entry]:
    """Entries by the digit of their version; what each replaces, empty for nothing."""
    found = []
    for digit, other in replaced.items():
        entry = bundle("red", f"1.{digit[1:]}.0")
        found.append(replace(entry, replaces=f"red.v1.{other}.0" if other else ""))
    return found


def installed(name: str, phase: str = "Succeeded", **spec: Any) -> KubeObject:
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (
            channel(v0="1", v1="0"),
            f"no channel heads (entries not replaced by another entry) found {PLACE}",
        ),
        (
            channel(v0="1", v1="0", v2="1"),
            f'a cycle exists in the chain of replacement beginning with "red.v1.2.0" {PLACE}',
        ),
        (
            channel(v0="", v1="0", v2=""),
            (
                "a unique replacement chain within a channel is required to determine the relative "
                f"order between channel entries, but 2 replacement chains were found {PLACE}: "
                "red.v1.1.0...red.v1.0.0, red.v1.2.0"
            ),
        ),
    ],
    ids=["no head", "a cycle", "two chains"],
)
def test_channels_without_an_order(entries: list[Entry], said: str) -> None:
    assert error(namespace([subscription("red")], *entries)) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "convert olm.constraint to resolver predicate: constraint is empty"),
        ({"package": {"name": "x"}}, 'parse olm.constraint: json: unknown field "name"'),
        (
            {"failureMessage": "x" * (2 << 16), "gvk": GVK},
            (
                "parse olm.constraint: olm.constraint value is greater than max constraint size "
                "131072 bytes"
            ),
        ),
        ({"cel": {"rule": "1 + 1"}}, "cel expressions must have type Bool"),
    ],
    ids=["empty", "a key", "large", "no verdict"],
)
def test_constraints_that_cannot_be_read(value: Any, said: str) -> None:
    entry = bundle("red", "1.0.0", {"type": "olm.constraint", "value": value})
    assert error(namespace([subscription("red")], entry)) == said


@pytest.mark.parametrize(
    ("property_", "met"),
    [
        ({"type": "olm.label.required", "value": {"label": "green"}}, True),
        ({"type": "olm.label.required", "value": {"label": "blue"}}, False),
        *(
            ({"type": "olm.constraint", "value": {"cel": {"rule": rule}}}, met)
            for rule, met in (
                ("properties.exists(p, p.type == 'olm.label' && p.value.label == 'green')", True),
                (("properties.exists(p, p.type == 'olm.package' && "
                 "semver_compare(p.value.version, 'v1.2') > 0)"), True),
                (("properties.exists(p, p.type == 'olm.package' && "
                 "semver_compare(p.value.version, 'none') > 0)"), False),
                ("properties.all(p, p.value.lost == 1)", False),
                ("properties.exists(p, p.type == 'number' && p.value == 3)", True),
            )
        ),
    ],
)  # fmt: skip
def test_what_one_bundle_is_to_meet(property_: Any, met: bool) -> None:
    lawn = bundle(
        "lawn", "1.3.0", {"type": "olm.label", "value": {"label": "green"}},
        {"type": "number", "value": 3},
    )  # fmt: skip
    given = namespace([subscription("red")], bundle("red", "1.0.0", property_), lawn)
    if met:
        assert names(given) == ["lawn.v1.3.0", "red.v1.0.0"]
    else:
        assert "bundle red.v1.0.0 requires an operator with " in error(given)


def test_an_installed_csv_without_properties_has_its_apis() -> None:
    owned = {"owned": [{"name": "lawns.example.com", "version": "v1", "kind": "Lawn"}]}
    required = {"required": [{"group": "example.com", "version": "v1", "kind": "Lawn"}]}
    lawn = installed("lawn.v1", customresourcedefinitions=owned)
    needs = bundle("red", "1.0.0", {"type": "olm.gvk.required", "value": GVK})
    assert names(namespace([subscription("red")], needs, csvs=(lawn,))) == ["red.v1.0.0"]
    alone = installed("mower.v1", apiservicedefinitions=required)
    text = "bundle mower.v1 requires an operator providing an API with group: example.com"
    assert text in error(namespace([subscription("red")], bundle("red", "1.0.0"), csvs=(alone,)))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            installed("odd.v1", customresourcedefinitions={"owned": [{"name": "lawns"}]}),
            "error parsing crd name: lawns",
        ),
        (
            {
                "metadata": {
                    "name": "odd.v1",
                    "annotations": {"operatorframework.io/properties": "{"},
                },
                "spec": {},
            },
            (
                'failed to retrieve properties of csv "odd.v1": failed to unmarshal properties '
                "annotation: "
            ),
        ),
    ],
    ids=["name", "annotation"],
)
def test_installed_csvs_that_cannot_be_read(given: KubeObject, said: str) -> None:
    found = error(namespace([subscription("red")], bundle("red", "1.0.0"), csvs=(given,)))
    assert found.startswith(said)


@pytest.mark.parametrize(
    ("chain", "said"),
    [
        (
            (installed("a.v1"), installed("a.v2", "Failed", replaces="a.v1")),
            "csv ns/a.v1 in phase Succeeded instead of Replacing",
        ),
        (
            (
                installed("a.v1", "Replacing", replaces="a.v2"),
                installed("a.v2", "Replacing", replaces="a.v1"),
            ),
            "csv ns/a.v1 has already been seen",
        ),
    ],
    ids=["phase", "cycle"],
)
def test_failing_forward_looks_at_every_chain(chain: tuple[KubeObject, ...], said: str) -> None:
    given = namespace([subscription("red")], bundle("red", "1.0.0"), csvs=chain)
    group = {**given.groups[0], "spec": FORWARD}
    assert error(replace(given, groups=(group,))) == said


def test_a_deprecated_bundle_that_is_installed_cannot_stay() -> None:
    gone = csv("old.v1", {"type": "olm.deprecated", "value": {}})
    given = namespace([subscription("red")], bundle("red", "1.0.0"), csvs=(gone,))
    assert "bundle @existing/ns//old.v1 is deprecated" in error(given)
