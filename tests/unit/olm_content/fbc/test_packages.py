"""Blobs to a package: what is stored, what is a fault, what is let pass."""

import pickle
from typing import Any

import pytest

from olm_content.fbc.model import Bundle
from operator_controller.catalog import BrokenPackageError, build_package

PACKAGE = {"schema": "olm.package", "name": "p", "defaultChannel": "stable"}


def channel(**fields: Any) -> dict[str, Any]:
    return {"schema": "olm.channel", "package": "p", "name": "stable", **fields}


def bundle(**fields: Any) -> dict[str, Any]:
    properties = [{"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]
    return {
        "schema": "olm.bundle",
        "package": "p",
        "name": "p.v1",
        "image": "i",
        "properties": properties,
        **fields,
    }


def deprecations(*entries: Any) -> dict[str, Any]:
    return {"schema": "olm.deprecations", "package": "p", "entries": list(entries)}


def only_bundle(*blobs: dict[str, Any], release_field: bool = False) -> Bundle:
    package = build_package("p", blobs, release_field=release_field)
    assert package is not None
    (found,) = package.bundles
    return found


def test_a_package_is_what_its_blobs_say() -> None:
    entries = [
        {"name": "p.v2", "replaces": "p.v1", "skips": ["p.v0"], "skipRange": "<2.0.0"},
        {"name": "p.v1"},
    ]
    warning = {"reference": {"schema": "olm.channel", "name": "old"}, "message": "leave old"}
    package = build_package(
        "p", [PACKAGE, channel(entries=entries), bundle(), deprecations(warning)]
    )
    assert package is not None
    assert package.default_channel == "stable"
    (stable,) = package.channels
    first, second = stable.entries
    assert (first.replaces, first.skips, first.skip_range) == ("p.v1", ("p.v0",), "<2.0.0")
    assert (second.replaces, second.skips, second.skip_range) == ("", (), "")
    assert (package.bundles[0].name, str(package.bundles[0].version)) == ("p.v1", "1.0.0")
    assert package.deprecations[0].message == "leave old"
    assert package.deprecated_bundles == frozenset()


def test_a_package_can_be_handed_to_another_process() -> None:
    package = build_package("p", [PACKAGE, channel(entries=[{"name": "p.v1"}]), bundle()])
    assert package is not None
    copy = pickle.loads(pickle.dumps(package))
    assert (copy, copy.edges) == (package, package.edges)


def test_blobs_of_other_packages_are_passed_over() -> None:
    assert build_package("q", [PACKAGE, channel(), bundle()]) is None


def test_a_package_needs_no_package_blob() -> None:
    assert only_bundle(bundle()).name == "p.v1"


def test_any_blob_of_a_package_makes_it_known() -> None:
    package = build_package("p", [{"schema": "custom.thing", "package": "p"}])
    assert package is not None
    assert package.bundles == ()


def test_keys_match_in_any_case() -> None:
    assert only_bundle({**bundle(), "Package": "p"} | {"IMAGE": "I", "image": "i"}).image == "i"
    odd = {key.upper(): value for key, value in bundle().items()}
    assert only_bundle(odd).image == "i"


def test_only_the_first_deprecations_blob_counts() -> None:
    one = {"reference": {"schema": "olm.bundle", "name": "p.v1"}, "message": "m"}
    package = build_package("p", [deprecations(one), deprecations()])
    assert package is not None
    assert package.deprecated_bundles == {"p.v1"}


def test_unsupported_dependencies_are_kept_in_order() -> None:
    properties: list[dict[str, Any]] = [
        {"type": kind, "value": {}}
        for kind in ("olm.gvk.required", "olm.gvk", "olm.constraint", "olm.package.required")
    ]
    found = only_bundle(bundle(properties=properties))
    assert found.dependencies == ("olm.gvk.required", "olm.constraint", "olm.package.required")


VERSIONS = {
    "no property": ([], 'no package property found in bundle "p.v1"'),
    "a property without value": (
        [{"type": "olm.package"}],
        "Version string empty",
    ),
    "a value that is no object": (
        [{"type": "olm.package", "value": "1.0.0"}],
        "error unmarshalling package property: value: expected an object, got a string",
    ),
    "a version that is a number": (
        [{"type": "olm.package", "value": {"version": 1.5}}],
        "error unmarshalling package property: value.version: expected a string, got a number",
    ),
    "a version that cannot be parsed": (
        [{"type": "olm.package", "value": {"version": "v1"}}],
        "No Major.Minor.Patch elements found",
    ),
    "the first property counts": (
        [
            {"type": "olm.package", "value": {"version": ""}},
            {"type": "olm.package", "value": {"version": "1.0.0"}},
        ],
        "Version string empty",
    ),
}


@pytest.mark.parametrize(("properties", "fault"), VERSIONS.values(), ids=VERSIONS.keys())
def test_a_version_that_cannot_be_read_is_a_fact_and_no_fault(properties: Any, fault: str) -> None:
    found = only_bundle(bundle(properties=properties))
    assert (found.version, found.version_fault) == (None, fault)


def test_the_release_field_counts_only_with_its_gate() -> None:
    value = {"packageName": "p", "version": "1.0.0+b", "release": "2"}
    blob = bundle(properties=[{"type": "olm.package", "value": value}])
    without, with_gate = only_bundle(blob).version, only_bundle(blob, release_field=True).version
    assert without is not None
    assert with_gate is not None
    assert (without.release, str(without)) == (("b",), "1.0.0+b")
    assert (with_gate.release, str(with_gate)) == (("2",), "1.0.0+b")


def test_a_release_is_no_part_of_the_version_with_the_gate() -> None:
    value = {"packageName": "p", "version": "1.0.0+2"}
    found = only_bundle(
        bundle(properties=[{"type": "olm.package", "value": value}]), release_field=True
    ).version
    assert found is not None
    assert (found.release, str(found)) == (("2",), "1.0.0")


def test_an_empty_release_field_says_that_there_is_none() -> None:
    value = {"packageName": "p", "version": "1.0.0+2", "release": ""}
    version = only_bundle(
        bundle(properties=[{"type": "olm.package", "value": value}]), release_field=True
    ).version
    assert version is not None
    assert (version.release, version.version.build) == ((), ("2",))


def test_all_faults_are_reported_at_once() -> None:
    blobs = [
        {**PACKAGE, "defaultChannel": 3},
        channel(entries=[{"name": "p.v1", "skips": ["a", 1]}, "p.v2", {"skipRange": []}]),
        bundle(image=["i"], properties={}),
        deprecations({"reference": "olm.bundle"}),
    ]
    with pytest.raises(BrokenPackageError) as raised:
        build_package("p", blobs)
    assert raised.value.faults == (
        'olm.package "p": defaultChannel: expected a string, got a number',
        'olm.channel "stable": entries[0].skips[1]: expected a string, got a number',
        'olm.channel "stable": entries[1]: expected an object, got a string',
        'olm.channel "stable": entries[2].skipRange: expected a string, got a list',
        'olm.bundle "p.v1": properties: expected a list, got an object',
        'olm.bundle "p.v1": image: expected a string, got a list',
        "olm.deprecations: entries[0].reference: expected an object, got a string",
    )
    assert raised.value.message.startswith('error loading package "p": olm.package "p": default')
    assert raised.value.message.endswith("; and 2 more")


def test_the_same_bundle_twice_is_one_and_two_different_ones_are_a_fault() -> None:
    assert only_bundle(bundle(), bundle()).name == "p.v1"
    with pytest.raises(BrokenPackageError, match=r"there are two different ones of this name"):
        build_package("p", [bundle(), bundle(image="other")])
