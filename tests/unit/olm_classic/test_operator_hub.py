"""Which default catalogs OperatorHub wants, and what an edited one lacks."""

from typing import Any

import pytest

from api import wire
from api.objects import KubeObject, name_of
from api.openshift.config.v1.operatorhub import OperatorHubSpec
from olm_classic.operator_hub import (
    default_catalog,
    is_default,
    patch_to,
    status_of,
    wishes,
)
from tests.cases.crd.loader import merge_patch


def manifest(name: str = "community", **fields: Any) -> KubeObject:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "CatalogSource",
        "metadata": {"name": name, **fields.pop("metadata", {})},
        "spec": {"sourceType": "grpc", "image": "registry.example.com/community:v1", **fields},
    }


def default(name: str = "community", **fields: Any) -> KubeObject:
    return default_catalog(manifest(name, **fields), "olm")


def hub(**spec: Any) -> OperatorHubSpec:
    return wire.read(OperatorHubSpec, spec)


ALL_OFF = {"disableAllDefaultSources": True}
COMMUNITY_ON = {"sources": [{"name": "community", "disabled": False}]}
COMMUNITY_OFF = {"sources": [{"name": "community", "disabled": True}]}
ONLY_NAMED = {"sources": [{"name": "community"}]}


@pytest.mark.parametrize(
    ("spec", "disabled"),
    [
        ({}, []),
        (ALL_OFF, ["certified", "community"]),
        (COMMUNITY_OFF, ["community"]),
        (ALL_OFF | COMMUNITY_ON, ["certified"]),
        (ALL_OFF | ONLY_NAMED, ["certified", "community"]),
        ({"sources": [{"name": "elsewhere", "disabled": True}]}, []),
    ],
)
def test_a_source_of_its_own_counts_before_all(spec: dict[str, Any], disabled: list[str]) -> None:
    wished = wishes(hub(**spec), [default("certified"), default("community")])
    assert [name_of(wish.catalog) for wish in wished if wish.disabled] == disabled


def test_a_default_is_marked_and_in_the_global_namespace() -> None:
    meta = {"namespace": "elsewhere", "labels": {"a": "b"}, "annotations": {"c": "d"}, "uid": "x"}
    catalog = default(metadata=meta)
    assert is_default(catalog)
    assert catalog["metadata"] == {
        "name": "community",
        "namespace": "olm",
        "labels": {"a": "b"},
        "annotations": {"c": "d", "operatorframework.io/managed-by": "marketplace-operator"},
    }


def as_found(catalog: KubeObject, **spec: Any) -> KubeObject:
    return {**catalog, "spec": {**catalog["spec"], **spec}, "status": {"message": ""}}


def test_what_is_as_it_should_be_is_not_written() -> None:
    config = {"nodeSelector": {"a": "b"}}
    catalog = default(grpcPodConfig=config)
    found = as_found(catalog)
    found["metadata"] = {**found["metadata"], "labels": {"of": "others"}, "uid": "1"}
    assert patch_to(catalog, found) == {}


@pytest.mark.parametrize(
    "edit",
    [
        {"image": "registry.example.com/mine:v1"},
        {"grpcPodConfig": {"nodeSelector": {"a": "c", "d": "e"}, "priorityClassName": ""}},
        {"grpcPodConfig": {}},
        {"priority": 7},
        {"secrets": ["a"], "displayName": "Mine"},
    ],
)
def test_an_edited_spec_becomes_the_default_again(edit: dict[str, Any]) -> None:
    catalog = default(grpcPodConfig={"nodeSelector": {"a": "b"}})
    found = as_found(catalog, **edit)
    patch = patch_to(catalog, found)
    assert set(patch) == {"spec"}
    assert merge_patch(found, patch)["spec"] == catalog["spec"]


def test_a_catalog_of_that_name_without_the_mark_is_taken_over() -> None:
    found = manifest(image="registry.example.com/mine:v1")
    catalog = default()
    patched = merge_patch(found, patch_to(catalog, found))
    assert is_default(patched)
    assert patched["spec"] == catalog["spec"]


def test_the_image_of_a_template_is_left_to_who_resolves_it() -> None:
    template = {"annotations": {"olm.catalogImageTemplate": "a:v{kube_minor_version}"}}
    catalog = default(metadata=template)
    assert patch_to(catalog, as_found(catalog, image="a:v33")) == {}
    assert patch_to(catalog, as_found(catalog, image="a:v33", priority=1)) == {
        "spec": {"priority": None}
    }


def test_the_status_shows_each_default_and_what_is_none() -> None:
    spec = hub(**ALL_OFF, sources=[*COMMUNITY_ON["sources"], {"name": "none", "disabled": True}])
    wished = wishes(spec, [default("certified"), default("community")])
    assert wire.write(status_of(spec, wished, {"community": "no right to it"})) == {
        "sources": [
            {"name": "certified", "disabled": True, "status": "Success"},
            {
                "name": "community",
                "disabled": False,
                "status": "Error",
                "message": "no right to it",
            },
            {
                "name": "none",
                "disabled": True,
                "status": "Error",
                "message": "Not present in the default definitions",
            },
        ]
    }
