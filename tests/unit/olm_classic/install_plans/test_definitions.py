"""What an update of a definition asks of the objects that there are."""

from typing import Any

import pytest

from api.objects import KubeObject, annotations_of
from olm_classic.install_plans.definitions import (
    installed_alongside,
    may_be_migrated,
    owner_conflict,
    questions_of,
    removed_versions,
    why_restrictive,
)
from olm_content.crds.stored import Examined, Example, Fault


def crd(*versions: dict[str, Any], stored: tuple[str, ...] = ()) -> KubeObject:
    spec = {"group": "example.com", "names": {"kind": "Thing"}, "versions": list(versions)}
    status = {"storedVersions": list(stored)}
    return {"metadata": {"name": "things.example.com"}, "spec": spec, "status": status}


def version(name: str, kind: str = "string", *, served: bool = True, storage: bool = True) -> Any:
    schema = {"openAPIV3Schema": {"type": kind}}
    return {"name": name, "served": served, "storage": storage, "schema": schema}


def test_each_operator_is_noted_once_and_others_stay() -> None:
    one = installed_alongside(crd(), None, "ns/one")
    two = installed_alongside(crd(), one, "ns/two")
    assert sorted(annotations_of(two).values()) == ["ns/one", "ns/two"]
    assert installed_alongside(crd(), two, "ns/one") == two


@pytest.mark.parametrize(
    ("new", "asked"),
    [
        pytest.param(version("v1"), [], id="the same schema"),
        pytest.param(version("v1", "integer"), ["v1"], id="another schema"),
        pytest.param(version("v1", "integer", served=False), [], id="no longer served"),
        pytest.param(version("v2", "integer"), [], id="another version"),
    ],
)
def test_only_versions_whose_schema_changes_are_asked_about(new: Any, asked: list[str]) -> None:
    assert [each.version for each in questions_of(crd(version("v1")), crd(new))] == asked


def test_stored_versions_that_are_gone() -> None:
    live = crd(version("v1"), stored=("v1alpha1", "v1"))
    assert removed_versions(live, crd(version("v1"), version("v2"))) == ["v1alpha1"]


@pytest.mark.parametrize(
    ("served", "storage", "may"),
    [(True, False, False), (False, True, False), (True, True, False), (False, False, True)],
)
def test_a_version_in_use_does_not_go(served: bool, storage: bool, may: bool) -> None:
    live = crd(version("v1alpha1", served=served, storage=storage), version("v1"))
    assert may_be_migrated(live, "v1alpha1") is may


def test_an_object_that_becomes_invalid_is_named() -> None:
    fault = Fault("spec.size", "wrong type", "must be integer")
    bad = Examined("c", "v1", checked=2, total=2, invalid=1, examples=[Example("ns/a", fault)])
    assert why_restrictive("c", "Thing", "example.com", [Examined("c", "v1beta1"), bad]) == (
        'error validating existing CRs against new CRD\'s schema for "c": error validating '
        'example.com/v1, Kind=Thing "ns/a": updated validation is too restrictive: '
        "spec.size: must be integer"
    )
    assert not why_restrictive("c", "Thing", "example.com", [Examined("c", "v1", checked=3)])


def test_objects_that_could_not_be_read_are_not_taken_for_valid() -> None:
    stopped = Examined("c", "v1", checked=1, stopped="stopped after 60 s")
    assert why_restrictive("c", "Thing", "g", [stopped]).endswith("stopped after 60 s")


@pytest.mark.parametrize(
    ("owners", "said"),
    [
        ((), ""),
        (("new",), ""),
        (("old",), "pre-existing CRD owners found for owned CRD(s) of dependent CSV new"),
        (
            ("b", "a"),
            "Existing CSVs [a b] in namespace ns all claim to own CRD things.example.com",
        ),
    ],
)
def test_a_dependency_does_not_take_a_definition_over(owners: tuple[str, ...], said: str) -> None:
    def csv(name: str, crd: str = "things.example.com") -> KubeObject:
        owned = {"owned": [{"name": crd, "kind": "Thing", "version": "v1"}]}
        return {"metadata": {"name": name}, "spec": {"customresourcedefinitions": owned}}

    existing = [csv("other", "others.example.com"), *map(csv, owners)]
    assert owner_conflict(csv("new"), existing, "ns") == said
