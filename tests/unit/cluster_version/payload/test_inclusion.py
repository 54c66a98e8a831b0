"""Which manifests are for a cluster."""

from typing import Any

import pytest

from cluster_version.names import (
    CAPABILITY,
    DEFAULT_PROFILE,
    FEATURE_GATE,
    FEATURE_SET,
    INCLUDE_PREFIX,
    MAJOR_VERSION,
)
from cluster_version.payload.inclusion import Capabilities, Filters, left_out

PROFILE = f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}"
CLUSTER = Filters(
    exclude="hosted",
    feature_set="",
    profile=DEFAULT_PROFILE,
    feature_gates=("Alpha",),
    major_version=4,
    capabilities=Capabilities(known=("Console", "Storage"), enabled=("Console",)),
)


def manifest(annotations: dict[str, Any] | None, kind: str = "ConfigMap") -> dict[str, Any]:
    meta: dict[str, Any] = {"name": "x", "namespace": "ns"}
    if annotations is not None:
        meta["annotations"] = annotations
    group = {"CustomResourceDefinition": "apiextensions.k8s.io/v1"}.get(kind, "v1")
    return {"apiVersion": group, "kind": kind, "metadata": meta}


@pytest.mark.parametrize(
    ("annotations", "reason"),
    [
        ({}, ""),
        ({FEATURE_SET: "Default"}, ""),
        ({FEATURE_SET: "OKD"}, '"Default" is required'),
        ({FEATURE_SET: "Default, OKD"}, 'unrecognized value " OKD"'),
        ({FEATURE_GATE: " Alpha , -Beta"}, ""),
        ({FEATURE_GATE: "Beta"}, "feature gate Beta is required but not enabled"),
        ({FEATURE_GATE: "-Alpha"}, "feature gate Alpha is enabled but manifest requires"),
        ({FEATURE_GATE: "Alpha", FEATURE_SET: "Default"}, "both feature set and feature gate"),
        ({CAPABILITY: "Console"}, ""),
        ({CAPABILITY: ""}, ""),
        ({CAPABILITY: "Console+Storage"}, "disabled capabilities: Storage"),
        ({CAPABILITY: "Storage+Other"}, "unrecognized capability names: Other"),
        ({PROFILE: "yes"}, f"unrecognized value {PROFILE}=yes"),
        ({"exclude.release.openshift.io/hosted": "true"}, "exclude.release.openshift.io/hosted"),
        ({"exclude.release.openshift.io/hosted": "false"}, ""),
        ({MAJOR_VERSION: "4"}, "major version filtering is only supported for"),
    ],
)
def test_annotations_say_for_whom_a_manifest_is(annotations: dict[str, str], reason: str) -> None:
    found = left_out(manifest({PROFILE: "true"} | annotations), CLUSTER)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4", ""),
        ("-5", ""),
        ("5", "major version 4 does not match any required versions"),
        ("-4", "major version 4 matches excluded version 4"),
        ("4,-4", "inclusion and exclusion requirements overlap: [4]"),
        ("four", 'invalid included major version "four" in annotation: strconv.ParseUint'),
        ("-99999999999999999999", "invalid excluded major version"),
    ],
)
def test_definitions_may_be_of_some_major_versions(text: str, reason: str) -> None:
    annotations = {PROFILE: "true", MAJOR_VERSION: text}
    found = left_out(manifest(annotations, "CustomResourceDefinition"), CLUSTER)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


@pytest.mark.parametrize("annotations", [None, {"a": 1}])
def test_without_annotations_a_manifest_is_for_nobody(annotations: dict[str, Any] | None) -> None:
    assert left_out(manifest(annotations), Filters()) == "no annotations"


def test_no_profile_named_is_none_included() -> None:
    assert left_out(manifest({}), CLUSTER) == f"{PROFILE} unset"


@pytest.mark.parametrize(
    ("override", "is_left_out"),
    [
        ({"kind": "ConfigMap", "group": "", "namespace": "ns", "name": "x"}, True),
        ({"kind": "ConfigMap", "namespace": "ns", "name": "x"}, True),
        ({"kind": "ConfigMap", "namespace": "other", "name": "x"}, False),
        ({"kind": "configmap", "namespace": "ns", "name": "x"}, False),
    ],
)
def test_overridden_objects_are_left_alone(override: dict[str, str], is_left_out: bool) -> None:
    filters = Filters(overrides=[{**override, "unmanaged": True}])
    assert (left_out(manifest({}), filters) == "overridden") is is_left_out


def test_the_first_override_of_an_object_decides() -> None:
    named = {"kind": "ConfigMap", "group": "", "namespace": "ns", "name": "x"}
    overrides = [{**named, "unmanaged": False}, {**named, "unmanaged": True}]
    assert left_out(manifest({}), Filters(overrides=overrides)) == ""
