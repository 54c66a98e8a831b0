"""Releases as their images have them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from cluster_version.names import DEFAULT_PROFILE, FEATURE_GATE, FEATURE_SET, INCLUDE_PREFIX
from cluster_version.payload.contents import Payload, for_features, load
from cluster_version.payload.features import Features
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.release import Release, ReleaseError, described

FILTERS = Filters(exclude="", feature_set="", profile=DEFAULT_PROFILE, feature_gates=())
INCLUDED = {f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}": "true"}


def manifest(name: str, **data: str) -> bytes:
    return annotated(name, {}, data)


def annotated(name: str, annotations: dict[str, str], data: dict[str, str] | None = None) -> bytes:
    meta = {"name": name, "namespace": "ns", "annotations": INCLUDED | annotations}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data or {}}
    return json.dumps(document).encode()


def release(**changed: bytes | None) -> dict[str, bytes]:
    """The files of a release; a change of None takes one away."""
    metadata = {"kind": "cincinnati-metadata-v0", "version": "4.5.0"}
    images = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "metadata": {"name": "4.5.0"},
    }
    files: dict[str, bytes | None] = {
        "manifests/": b"",
        "release-manifests/release-metadata": json.dumps(metadata).encode(),
        "release-manifests/image-references": json.dumps(images).encode(),
        **changed,
    }
    return {path: content for path, content in files.items() if content is not None}


def loaded(files: dict[str, bytes]) -> Payload:
    return load(files, "registry/release@sha256:0", FILTERS, machine="amd64", folder="here")


def test_manifests_are_loaded_by_name_the_operators_own_first() -> None:
    files = release(
        **{
            "release-manifests/0000_10_a_2.yaml": manifest("second"),
            "release-manifests/0000_10_B_1.yaml": manifest("first"),
            "release-manifests/0000_10_a_3.json": manifest("third"),
            "release-manifests/notes.txt": b"no manifest",
            "manifests/0000_90_own_1.yaml": manifest("own", image="{{.ReleaseImage}}"),
            "manifests/0000_91_own_1.yaml": manifest("unknown", image="{{.Unknown}}"),
        }
    )
    payload = loaded(files)
    names = [each.identity.name for each in payload.manifests]
    assert names == ["own", "first", "second", "third"]
    assert payload.manifests[0].object["data"] == {"image": "registry/release@sha256:0"}
    assert payload.release == Release("4.5.0", "registry/release@sha256:0")
    assert payload.architecture == "amd64"


def test_the_hash_follows_what_is_included() -> None:
    first = loaded(release(**{"release-manifests/a.yaml": manifest("a")}))
    same = loaded(release(**{"release-manifests/b.yaml": manifest("a")}))
    other = loaded(release(**{"release-manifests/a.yaml": manifest("a", key="value")}))
    assert first.hash == same.hash != other.hash
    assert loaded(release()).hash == "y_Kc5IQiIyU="


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"manifests/": None}, "stat here/manifests: no such file or directory"),
        (
            {"release-manifests/image-references": None},
            "stat here/release-manifests/image-references: no such file or directory",
        ),
        (
            {"release-manifests/release-metadata": b'{"kind": "other"}'},
            'unrecognized Cincinnati metadata kind "other"',
        ),
        (
            {"release-manifests/release-metadata": b'{"kind": "cincinnati-metadata-v0"}'},
            "missing required Cincinnati metadata version",
        ),
        ({"release-manifests/release-metadata": b"[1"}, "unmarshal Cincinnati metadata: "),
        (
            {"release-manifests/image-references": b"apiVersion: v1\nkind: ConfigMap"},
            "image-references is a *v1.ConfigMap, not a v1 ImageStream",
        ),
    ],
)
def test_what_is_no_release_is_refused(changed: dict[str, bytes | None], message: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        loaded(release(**changed))
    assert caught.value.message.startswith(message)
    assert caught.value.reason == ""


def test_manifests_are_chosen_anew_when_the_features_of_the_cluster_change() -> None:
    annotations = {
        "all": {},
        "default": {FEATURE_SET: "Default,OKD"},
        "preview": {FEATURE_SET: "TechPreviewNoUpgrade"},
        "with": {FEATURE_GATE: "Alpha"},
        "without": {FEATURE_GATE: "-Alpha"},
    }
    files = {
        f"release-manifests/{name}.yaml": annotated(name, of) for name, of in annotations.items()
    }
    left = annotated("other", {f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}": "false"})
    first = loaded(release(**files, **{"release-manifests/other.yaml": left}))

    def names(payload: Payload) -> list[str]:
        return [each.object["metadata"]["name"] for each in payload.manifests]

    assert names(first) == ["all", "default", "without"]
    assert for_features(first, Features()) is first
    preview = for_features(first, Features("TechPreviewNoUpgrade", frozenset({"Alpha"})))
    assert names(preview) == ["all", "preview", "with"]
    assert preview.hash != first.hash
    gated = for_features(preview, Features(gates=frozenset({"Alpha"})))
    assert names(gated) == ["all", "default", "with"]
    assert for_features(gated, Features()) == first
    same = for_features(first, Features(gates=frozenset({"Beta"})))
    assert (names(same), same.hash) == (names(first), first.hash)


def test_images_are_those_of_the_release() -> None:
    images = b"apiVersion: image.openshift.io/v1\nkind: ImageStream\nmetadata: {name: 4.5.1}"
    with pytest.raises(ReleaseError) as caught:
        loaded(release(**{"release-manifests/image-references": images}))
    differs = "version from image-references (4.5.1) differs from release-metadata (4.5.0)"
    assert caught.value.message == differs


def test_all_broken_files_are_reported_at_once() -> None:
    twice = manifest("a") + b"\n---\n" + manifest("a")
    files = release(
        **{"release-manifests/1.yaml": twice, "release-manifests/2.yaml": b"kind: ConfigMap"}
    )
    with pytest.raises(ReleaseError) as caught:
        loaded(files)
    assert caught.value.reason == "UpdatePayloadIntegrity"
    assert caught.value.message.startswith("Error loading manifests from here: [parse 1.yaml: dup")
    assert ", parse 2.yaml: error parsing: Resource with fields" in caught.value.message


@pytest.mark.parametrize(
    ("metadata", "release", "problem"),
    [
        ({"url": "https://errata"}, Release("v", "i", url="https://errata"), ""),
        ({"url": 3}, Release("v", "i"), "URL is not a string: 3"),
        (
            {"release.openshift.io/architecture": "multi"},
            Release("v", "i", architecture="Multi"),
            "",
        ),
        (
            {"release.openshift.io/architecture": "s390x"},
            Release("v", "i"),
            'unrecognized release.openshift.io/architecture value "s390x"',
        ),
        (
            {"io.openshift.upgrades.graph.release.channels": "b,,a"},
            Release("v", "i", channels=("a", "b")),
            'io.openshift.upgrades.graph.release.channels entry 1 is an empty string: "b,,a"',
        ),
        (
            {"io.openshift.upgrades.graph.release.channels": ["a", None, {"b": True}]},
            Release("v", "i"),
            "io.openshift.upgrades.graph.release.channels is not a string: [a <nil> map[b:true]]",
        ),
    ],
)
def test_metadata_describe_a_release(
    metadata: dict[str, Any], release: Release, problem: str
) -> None:
    found, problems = described("v", "i", metadata)
    assert found == replace(release)
    assert problems == ([problem] if problem else [])
