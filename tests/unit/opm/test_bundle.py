"""From a bundle's files to its olm.bundle record."""

import base64
import json
import re
from typing import Any

import pytest

from olm_content.bundle.files import BundleError
from olm_content.fbc.records import Record, properties
from opm.bundle import read_bundle, to_record
from opm.migrate import migrate
from tests.unit.opm.bundles import ANNOTATIONS, CRD, CSV, files


def record(changes: dict[str, Any] | None = None, image: str = "") -> Record:
    return to_record(read_bundle(files(changes)), image)


def values(given: Record, kind: str) -> list[Any]:
    return [item["value"] for item in properties(given) if item["type"] == kind]


def test_the_record_of_a_bundle() -> None:
    given = record(image="example.com/bundle:v1")
    assert (given.schema, given.package, given.name) == ("olm.bundle", "hello", "hello.v1.0.0")
    assert [item["type"] for item in properties(given)] == [
        "olm.gvk",
        "olm.gvk.required",
        "olm.package",
        "olm.bundle.object",
        "olm.bundle.object",
    ]
    assert values(given, "olm.gvk") == [{"group": "example.com", "kind": "Hello", "version": "v1"}]
    assert values(given, "olm.gvk.required") == [
        {"group": "example.org", "kind": "Other", "version": "v2"}
    ]
    assert values(given, "olm.package") == [{"packageName": "hello", "version": "1.0.0"}]
    assert given.value["relatedImages"] == [
        {"name": "", "image": "example.com/bundle:v1"},
        {"name": "", "image": "example.com/hello:v1"},
        {"name": "tool", "image": "example.com/tool:v1"},
    ]
    embedded = [json.loads(base64.b64decode(v["data"])) for v in values(given, "olm.bundle.object")]
    assert sorted(embedded, key=lambda each: str(each["kind"])) == [CSV, CRD]


def _package(version: str) -> dict[str, Any]:
    return {"type": "olm.package", "value": {"packageName": "x", "version": version}}


@pytest.mark.parametrize(
    ("in_metadata", "in_annotation", "version"),
    [("2.0.0", "", "1.0.0"), ("2.0.0", "3.0.0", "3.0.0")],
)
def test_of_several_packages_the_annotation_s_counts_and_then_the_bundle_s_own(
    in_metadata: str, in_annotation: str, version: str
) -> None:
    said = json.dumps([_package(in_annotation)] if in_annotation else [])
    csv = {**CSV, "metadata": {**CSV["metadata"], "annotations": {"olm.properties": said}}}
    declared = {"properties": [_package(in_metadata)]}
    given = record({"manifests/csv.yaml": csv, "metadata/properties.yaml": declared})
    assert [value["version"] for value in values(given, "olm.package")] == [version]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"annotations": {"certified": False}}, "metadata.annotations.certified: expected a str"),
        ({"labels": {"a": 1}}, "metadata.labels.a: expected a string, got a number"),
        ({"annotations": ["a"]}, "metadata.annotations: expected an object, got a list"),
    ],
)
def test_metadata_has_to_be_text(changes: dict[str, Any], fault: str) -> None:
    csv = {**CSV, "metadata": {**CSV["metadata"], **changes}}
    with pytest.raises(BundleError, match=re.escape(fault)):
        record({"manifests/csv.yaml": csv})


def test_a_specification_has_to_be_there() -> None:
    csv = {key: value for key, value in CSV.items() if key != "spec"}
    with pytest.raises(BundleError, match="has no spec"):
        record({"manifests/csv.yaml": csv})


@pytest.mark.parametrize(
    ("install", "fault"),
    [
        ({"strategy": 1}, "install.strategy: expected a string, got a number"),
        (
            {"strategy": "deployment", "spec": {"deployments": [{"name": True}]}},
            "install.spec.deployments[0].name: expected a string, got a boolean",
        ),
    ],
)
def test_deployments_have_to_have_their_form(install: dict[str, Any], fault: str) -> None:
    with pytest.raises(BundleError, match=re.escape(fault)):
        record({"manifests/csv.yaml": {**CSV, "spec": {**CSV["spec"], "install": install}}})


def test_declared_properties_and_dependencies_join_the_derived_ones() -> None:
    csv = {
        **CSV,
        "metadata": {
            "name": "hello.v1.0.0",
            "annotations": {
                "olm.properties": json.dumps(
                    [
                        {"type": "olm.maxOpenShiftVersion", "value": "4.19"},
                        {"type": "shape", "value": "round"},
                    ]
                )
            },
        },
    }
    given = record(
        {
            "manifests/csv.yaml": csv,
            "metadata/properties.yaml": {"properties": [{"type": "shape", "value": "round"}]},
            "metadata/dependencies.yaml": {
                "dependencies": [
                    {"type": "olm.package", "value": {"packageName": "etcd", "version": ">1"}},
                    {"type": "olm.gvk", "value": {"group": "g", "kind": "K", "version": "v1"}},
                    {"type": "olm.constraint", "value": {"failureMessage": "no"}},
                ]
            },
        }
    )
    assert values(given, "shape") == ["round"]
    assert values(given, "olm.maxOpenShiftVersion") == ["4.19"]
    assert values(given, "olm.package.required") == [{"packageName": "etcd", "versionRange": ">1"}]
    assert len(values(given, "olm.gvk.required")) == 2
    assert values(given, "olm.constraint") == [{"failureMessage": "no"}]


def test_what_cannot_be_read_is_remarked_and_passed_over() -> None:
    bundle = read_bundle(
        files(
            {
                "manifests/broken.yaml": b"a: [",
                "manifests/notes.txt": b"hello",
                "manifests/z-second.yaml": CSV,
                "manifests/.hidden": b"a: [",
            }
        )
    )
    assert [remark.partition(":")[0] for remark in bundle.remarks] == [
        "manifests/broken.yaml",
        "manifests/notes.txt",
        "manifests/z-second.yaml",
    ]
    assert len(bundle.objects) == 2


def test_metadata_of_wrong_types_is_passed_over_and_reported() -> None:
    wrong = {"dependencies": [{"type": ["olm.package"], "value": {}}]}
    bundle = read_bundle(files({"metadata/dependencies.yaml": wrong}))
    remark = "dependencies[0].type: expected a string, got a list; passed over"
    assert bundle.remarks == (f"metadata/dependencies.yaml: {remark}",)
    key = "operators.operatorframework.io.bundle.package.v1"
    with pytest.raises(BundleError) as refused:
        read_bundle(files({"metadata/annotations.yaml": {"annotations": {key: ["hello"]}}}))
    assert refused.value.hint is not None
    assert f"annotations.{key}: expected a string, got a list" in refused.value.hint


def test_metadata_is_known_by_its_content_not_its_name() -> None:
    given = record({"metadata/annotations.yaml": None, "metadata/any.yaml": ANNOTATIONS})
    assert given.package == "hello"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"manifests/csv.yaml": None}, "no csv in bundle"),
        ({"manifests/csv.yaml": None, "manifests/crd.yaml": None}, "no bundle objects found"),
        ({"metadata/annotations.yaml": None}, "could not find annotations file"),
        ({"manifests/crd.yaml": None}, "owns hellos.example.com, kind Hello, version v1"),
        (
            {"metadata/properties.yaml": {"properties": [{"type": "olm.gvk", "value": "x"}]}},
            "expected an object, got a string",
        ),
        (
            {"metadata/dependencies.yaml": {"dependencies": [{"type": "olm.package"}]}},
            "a dependency of type olm.package has no value",
        ),
        (
            {"manifests/crd.yaml": {**CRD, "apiVersion": "example.com/v1"}},
            'hellos.example.com: there is no such kind in "example.com/v1"',
        ),
        (
            {"manifests/crd.yaml": {**CRD, "metadata": {"labels": {"a": 1}}}},
            "metadata.labels.a: json: cannot unmarshal number into Go struct field",
        ),
        (
            {"manifests/csv.yaml": {**CSV, "spec": {**CSV["spec"], "relatedImages": 0}}},
            "relatedImages: expected a list, got a number",
        ),
        (
            {"manifests/csv.yaml": {**CSV, "spec": {**CSV["spec"], "release": True}}},
            "release field must be a string or number",
        ),
    ],
)
def test_a_bundle_of_which_no_record_can_be_made(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(BundleError, match=fault):
        record(changes)


def test_embedded_objects_become_csv_metadata_where_the_image_has_them() -> None:
    (migrated,) = migrate([record(image="example.com/b:v1")], "bundle-object-to-csv-metadata")
    assert values(migrated, "olm.bundle.object") == []
    (metadata,) = values(migrated, "olm.csv.metadata")
    assert metadata["displayName"] == "Hello"
    assert metadata["crdDescriptions"]["owned"] == [
        {"name": "hellos.example.com", "version": "v1", "kind": "Hello"}
    ]
    spelled = {**CSV, "spec": {**CSV["spec"], "MinKubeVersion": "1.30.0"}}
    (migrated,) = migrate(
        [record({"manifests/csv.yaml": spelled}, image="example.com/b:v1")],
        "bundle-object-to-csv-metadata",
    )
    (metadata,) = values(migrated, "olm.csv.metadata")
    assert metadata["minKubeVersion"] == "1.30.0", "Go programs do not look at the case of keys"
    unchanged = record()
    assert list(migrate([unchanged], "bundle-object-to-csv-metadata")) == [unchanged]
    assert list(migrate([unchanged], "none")) == [unchanged]
