"""The same files read as operator-controller and as opm read them."""

from typing import Any

import pytest

from olm_content.bundle.files import BundleError
from olm_content.bundle.mode import LENIENT, STRICT
from olm_content.bundle.reader import read
from tests.unit.olm_content.bundle.test_bundle_loader import CSV, files

CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1alpha1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "cs.g"},
    "spec": {"group": "g", "version": "v1", "names": {"kind": "C", "plural": "cs"}},
}


def test_both_agree_on_a_plain_bundle() -> None:
    strict, lenient = (read(files(manifests__m=CONFIG_MAP), mode) for mode in (STRICT, LENIENT))
    assert strict.metadata == lenient.metadata
    assert (strict.name, strict.version) == (lenient.name, lenient.version)
    assert (strict.annotations, strict.others) == (lenient.annotations, lenient.others)


def test_files_have_many_objects_or_one() -> None:
    two = files(manifests__m=CONFIG_MAP + b"---\n" + CONFIG_MAP)
    assert [len(read(two, mode).others) for mode in (STRICT, LENIENT)] == [2, 1]


def test_the_last_service_version_counts_or_the_first() -> None:
    given = files(manifests__z={**CSV, "metadata": {"name": "later"}})
    assert [read(given, mode).name for mode in (STRICT, LENIENT)] == ["later", "example.v1.0.0"]


@pytest.mark.parametrize("content", [b"a: [", b"a: b", b"- a", b"{kind: List, items: 1}"])
def test_what_cannot_be_read_is_refused_or_passed_over(content: bytes) -> None:
    given = files(manifests__x=content)
    with pytest.raises(BundleError, match="manifests/x"):
        read(given, STRICT)
    contents = read(given, LENIENT)
    remarked = content != b"{kind: List, items: 1}"
    assert [remark.partition(":")[0] for remark in contents.remarks] == ["manifests/x"] * remarked


def test_types_are_whole_or_of_known_versions() -> None:
    given = files(manifests__crd=CRD, manifests__csv_yaml={**CSV, "spec": {"unknown": 1}})
    strict, lenient = read(given, STRICT), read(given, LENIENT)
    assert ([crd["metadata"]["name"] for crd in strict.crds], lenient.crds) == (["cs.g"], ())
    assert "unknown" not in strict.spec
    assert lenient.spec == {"unknown": 1}
    assert [len(contents.objects) for contents in (strict, lenient)] == [0, 2]


def test_metadata_is_known_by_its_name_or_its_content() -> None:
    given = files()
    given["metadata/any.yaml"] = given.pop("metadata/annotations.yaml")
    with pytest.raises(BundleError, match=r"open metadata/annotations\.yaml"):
        read(given, STRICT)
    assert read(given, LENIENT).metadata.package == "example"
