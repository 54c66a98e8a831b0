from typing import Any

import orjson
import pytest

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.package_manifests.manifests import Entry, entry_of, newest_first, read_package
from tests.unit.olm_classic.package_manifests.catalog import csv, manifest, package_of


def test_the_status_says_what_the_catalog_and_the_heads_say() -> None:
    package = package_of(channels={"stable": "hello.v1.0.0", "alpha": "hello.v2.0.0"})
    package.deprecation.message = "use other"
    package.channels[1].deprecation.message = "use stable"
    heads = {
        "hello.v1.0.0": csv(
            displayName="Hello", provider={"name": "ACME", "url": ""}, nativeAPIs=[{"kind": "A"}],
            relatedImages=[{"name": "a", "image": "r/a"}], icon=[{"base64data": "QQ=="}],
        ),
        "hello.v2.0.0": csv(version="2.0.0"),
    }  # fmt: skip
    found = manifest(package, heads, {"stable": [Entry("hello.v1.0.0", "1.0.0", "old")]})
    assert found.status == {
        "catalogSource": "operators",
        "catalogSourceDisplayName": "All Operators",
        "catalogSourcePublisher": "ACME",
        "catalogSourceNamespace": "olm",
        "provider": {"name": "ACME"},
        "packageName": "hello",
        "deprecation": {"message": "use other"},
        "channels": [
            {
                "name": "alpha",
                "currentCSV": "hello.v2.0.0",
                "currentCSVDesc": {
                    "icon": [],
                    "version": "2.0.0",
                    "provider": {},
                    "customresourcedefinitions": {},
                    "apiservicedefinitions": {},
                },
                "deprecation": {"message": "use stable"},
                "entries": [],
            },
            {
                "name": "stable",
                "currentCSV": "hello.v1.0.0",
                "currentCSVDesc": {
                    "icon": [],
                    "version": "1.0.0",
                    "provider": {"name": "ACME"},
                    "customresourcedefinitions": {},
                    "apiservicedefinitions": {},
                    "displayName": "Hello",
                    "nativeApis": [{"kind": "A"}],
                    "relatedImages": ["r/a"],
                },
                "entries": [
                    {"name": "hello.v1.0.0", "version": "1.0.0", "deprecation": {"message": "old"}}
                ],
            },
        ],
        "defaultChannel": "stable",
    }


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, {"operatorframework.io/os.linux", "operatorframework.io/arch.amd64"}),
        (
            {"operatorframework.io/arch.arm64": "supported"},
            {"operatorframework.io/os.linux", "operatorframework.io/arch.arm64"},
        ),
        (
            {"operatorframework.io/os.windows": "supported"},
            {"operatorframework.io/os.windows", "operatorframework.io/arch.amd64"},
        ),
    ],
)
def test_what_runs_where_is_said_by_labels(labels: dict[str, str], expected: set[str]) -> None:
    head = orjson.dumps({"metadata": {"labels": labels}, "spec": {}}).decode()
    found = manifest(package_of(), {"hello.v1.0.0": head}).metadata["labels"]
    assert {key for key in found if key.startswith("operatorframework.io/")} == expected


def test_no_content_says_that_it_is_of_another_catalog() -> None:
    lie = {"catalog": "redhat", "catalog-namespace": "x", "provider": "Somebody", "own": "yes"}
    head = orjson.dumps({"metadata": {"labels": lie}, "spec": {"provider": {"name": "ACME"}}})
    found = manifest(package_of(), {"hello.v1.0.0": head.decode()}).metadata
    assert found["creationTimestamp"] == "2026-01-01T00:00:00Z"
    assert found["labels"] | {"operatorframework.io/os.linux": ""} == {
        "team": "a",
        "own": "yes",
        "catalog": "operators",
        "catalog-namespace": "olm",
        "provider": "ACME",
        "provider-url": "",
        "operatorframework.io/os.linux": "",
        "operatorframework.io/arch.amd64": "supported",
    }


@pytest.mark.parametrize(
    "unreadable", ["", "nonsense", "[]", "{}", '{"spec": []}', csv(version="one"), csv(version=1)]
)
def test_a_channel_without_a_head_that_can_be_read_is_left_out(unreadable: str) -> None:
    package = package_of(channels={"stable": "bad", "beta": "good", "alpha": "good"})
    heads = {"bad": unreadable, "good": csv()}
    found = manifest(package, heads).status
    assert [channel["name"] for channel in found["channels"]] == ["alpha", "beta"]
    assert found["defaultChannel"] == "alpha"
    assert read_package(package_of(channels={"stable": "bad"}), heads, {}) is None


def test_entries_are_shown_by_descending_version() -> None:
    entries = [
        Entry("a", "1.9.0"), Entry("b", "1.10.0"), Entry("c", "none"), Entry("d", "1.10.0-rc.1"),
        Entry("e", ""),
    ]  # fmt: skip
    assert [entry.name for entry in newest_first(entries)] == ["b", "d", "a", "c", "e"]


def test_bundles_that_are_called_deprecated_are_no_entries() -> None:
    bundle = messages.Bundle(csvName="a", version="1.0.0")
    assert entry_of(bundle) == Entry("a", "1.0.0")
    bundle.deprecation.message = "why"
    assert entry_of(bundle) == Entry("a", "1.0.0", "why")
    bundle.properties.add(type="olm.deprecated", value="{}")
    assert entry_of(bundle) is None


def test_fields_of_wrong_types_do_no_harm() -> None:
    spec: dict[str, Any] = {
        "provider": "ACME", "icon": {}, "relatedImages": [1, {"image": 2}],
        "customresourcedefinitions": [],
    }  # fmt: skip
    described = manifest(package_of(), {"hello.v1.0.0": csv(**spec)}).status["channels"][0]
    assert described["currentCSVDesc"]["provider"] == {}
    assert "relatedImages" not in described["currentCSVDesc"]
