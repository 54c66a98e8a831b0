"""Every rule of catalogs: a good one passes, and each broken one is reported where it is broken."""

import copy
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from olm_catalogs.validate import Fault, check
from olm_content.fbc.documents import parse
from olm_content.fbc.records import Place, record

Blob = dict[str, Any]


def bundle(name: str, version: str) -> Blob:
    return {
        "schema": "olm.bundle",
        "package": "foo",
        "name": name,
        "image": f"example.com/foo:v{version}",
        "properties": [
            {"type": "olm.package", "value": {"packageName": "foo", "version": version}},
            {"type": "olm.gvk", "value": {"group": "a.example", "version": "v1", "kind": "Foo"}},
        ],
        "relatedImages": [{"name": "", "image": f"example.com/foo:v{version}"}],
    }


def catalog() -> list[Blob]:
    return [
        {"schema": "olm.package", "name": "foo", "defaultChannel": "stable"},
        {
            "schema": "olm.channel",
            "package": "foo",
            "name": "stable",
            "entries": [
                {"name": "foo.v1"},
                {"name": "foo.v2", "replaces": "foo.v1"},
                {"name": "foo.v3", "replaces": "foo.v2", "skipRange": "<3.0.0"},
            ],
        },
        bundle("foo.v1", "1.0.0"),
        bundle("foo.v2", "2.0.0"),
        bundle("foo.v3", "3.0.0"),
        {
            "schema": "olm.deprecations",
            "package": "foo",
            "entries": [
                {"reference": {"schema": "olm.package"}, "message": "gone"},
                {"reference": {"schema": "olm.channel", "name": "stable"}, "message": "gone"},
                {"reference": {"schema": "olm.bundle", "name": "foo.v1"}, "message": "gone"},
            ],
        },
        {"schema": "example.com.custom", "package": "foo", "anything": [1]},
    ]


PACKAGE, CHANNEL, V1, V2, V3, DEPRECATIONS = range(6)


def faults(blobs: list[Blob]) -> list[Fault]:
    text = b"\n".join(map(orjson.dumps, blobs))
    return check(record(blob, Place("index.json", blob.line)) for blob in parse(text, path="x"))


def test_a_good_catalog_has_no_faults() -> None:
    assert faults(catalog()) == []
    assert faults([]) == []


Change = Callable[[list[Blob]], Any]


def entries(blobs: list[Blob]) -> list[Blob]:
    found: list[Blob] = blobs[CHANNEL]["entries"]
    return found


def deprecations(blobs: list[Blob]) -> list[Blob]:
    found: list[Blob] = blobs[DEPRECATIONS]["entries"]
    return found


def package_value(blobs: list[Blob]) -> Blob:
    value: Blob = blobs[V1]["properties"][0]["value"]
    return value


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (lambda c: c.append(c[PACKAGE]), 8, "duplicate package"),
        (lambda c: c[PACKAGE].update(defaultChannel=""), 1, "default channel must be set"),
        (
            lambda c: c[PACKAGE].update(defaultChannel="beta"),
            1,
            'default channel "beta" not found in channels list',
        ),
        (lambda c: c[V1].update(package="bar"), 3, 'unknown package "bar"'),
        (lambda c: c[V1].update(package=""), 3, "package must be set"),
        (lambda c: c[CHANNEL].update(name=""), 2, "channel name must not be empty"),
        (lambda c: c.append(c[CHANNEL]), 8, "duplicate channel"),
        (lambda c: c[CHANNEL].update(entries=[]), 2, "must contain at least one bundle"),
        (lambda c: entries(c).append({"name": "foo.v1"}), 2, 'duplicate entry "foo.v1"'),
        (
            lambda c: entries(c)[0].update(name="foo.v0"),
            2,
            "no olm.bundle blobs found for channel entries foo.v0",
        ),
        (lambda c: entries(c)[0].update(name="foo.v0"), 3, "not found in any channel entries"),
        (lambda c: entries(c)[2].update(skips=[""]), 2, 'entry "foo.v3": skips[0] is empty'),
        (lambda c: entries(c)[2].update(skipRange=">x"), 2, 'invalid skipRange ">x"'),
        (
            lambda c: entries(c)[1].update(replaces=""),
            2,
            "multiple channel heads found in graph: foo.v1, foo.v3",
        ),
        (
            lambda c: entries(c)[0].update(replaces="foo.v3"),
            2,
            "no channel head found in graph",
        ),
        (
            lambda c: entries(c)[0].update(replaces="foo.v2"),
            2,
            "detected cycle in replaces chain of upgrade graph: foo.v2 -> foo.v1 -> foo.v2",
        ),
        (
            lambda c: entries(c)[2].update(replaces="", skips=["foo.v2"]),
            2,
            "channel contains one or more stranded bundles: foo.v1",
        ),
        (lambda c: c.append(c[V1]), 8, "duplicate bundle"),
        (lambda c: c[V1].update(image=""), 3, "bundle image must be set"),
        (lambda c: c[V1].update(image="Bad/Image"), 3, "image: invalid image pull spec"),
        (
            lambda c: c[V1]["relatedImages"][0].update(image="a b"),
            3,
            "relatedImages[0].image: invalid image pull spec",
        ),
        (
            lambda c: c[V1].update(properties=[]),
            3,
            'must have exactly 1 "olm.package" property, found 0',
        ),
        (
            lambda c: c[V1]["properties"].append(c[V1]["properties"][0]),
            3,
            'must have exactly 1 "olm.package" property, found 2',
        ),
        (
            lambda c: package_value(c).update(packageName="bar"),
            3,
            'package does not match "olm.package" property "bar"',
        ),
        (lambda c: package_value(c).update(version="1.0"), 3, 'invalid version "1.0"'),
        (lambda c: package_value(c).update(version=1), 3, "version: expected a string"),
        (lambda c: package_value(c).update(release="1"), 3, "does not match normalized name"),
        (
            lambda c: package_value(c).update(version="1.0.0+b", release="1"),
            3,
            "cannot use build metadata",
        ),
        (
            lambda c: package_value(c).update(version="2.0.0"),
            4,
            "duplicate version 2.0.0 in bundles foo.v1, foo.v2",
        ),
        (lambda c: c[V1]["properties"][1].update(value=None), 3, "value must be set"),
        (
            lambda c: c[V1]["properties"].append(
                {"type": "olm.bundle.object", "value": {"data": "YTogWw=="}}
            ),
            3,
            "the object in it cannot be read",
        ),
        (lambda c: c.append(c[DEPRECATIONS]), 8, "expected a maximum of one deprecation"),
        (lambda c: deprecations(c)[0].update(message=""), 6, "message must be set"),
        (lambda c: deprecations(c)[0]["reference"].update(name="x"), 6, "must not be named"),
        (lambda c: deprecations(c)[1]["reference"].update(name="x"), 6, "channel not found"),
        (lambda c: deprecations(c)[2]["reference"].update(name="x"), 6, "bundle not found"),
        (lambda c: deprecations(c)[0]["reference"].update(schema=""), 6, "schema must be set"),
        (lambda c: deprecations(c)[0]["reference"].update(schema="x"), 6, "cannot deprecate an"),
        (lambda c: deprecations(c).append(deprecations(c)[0]), 6, "duplicate entry for"),
    ],
)
def test_each_rule(change: Change, line: int, message: str) -> None:
    blobs = copy.deepcopy(catalog())
    change(blobs)
    found = [(fault.place, fault.message) for fault in faults(blobs) if not fault.warning]
    assert any(place == Place("index.json", line) and message in text for place, text in found), (
        found
    )


def test_a_package_needs_channels() -> None:
    assert [fault.message for fault in faults(catalog()[:1])] == [
        "package must contain at least one channel"
    ]


@pytest.mark.parametrize("name", ["Foo", "foo_bar", "-foo", "f" * 64])
def test_names_of_packages(name: str) -> None:
    blobs = [{"schema": "olm.package", "name": name, "defaultChannel": "a"}]
    assert any("invalid package name" in fault.message for fault in faults(blobs))


def test_all_faults_are_reported_at_once_in_the_order_of_the_file() -> None:
    blobs = catalog()
    blobs[V3]["image"] = ""
    blobs[V1]["image"] = ""
    blobs[PACKAGE]["defaultChannel"] = ""
    assert [fault.place.line for fault in faults(blobs)] == [1, 3, 5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.append({"schema": "olm.future", "package": "foo"}), "reserved"),
        (lambda c: c[V1]["properties"][1]["value"].update(kind=""), "kind '' is none"),
        (
            lambda c: c[V1]["properties"].append(
                {"type": "olm.package.required", "value": {"packageName": "x", "versionRange": "?"}}
            ),
            "versionRange '?' is no version range",
        ),
    ],
)
def test_what_only_the_documents_ask_for_is_a_warning(change: Change, message: str) -> None:
    blobs = copy.deepcopy(catalog())
    change(blobs)
    (fault,) = faults(blobs)
    assert fault.warning
    assert message in fault.message
