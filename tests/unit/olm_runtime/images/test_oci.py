"""Manifests."""

import json
from typing import Any

import pytest

from olm_runtime.images.limits import Limits
from olm_runtime.images.oci import (
    DOCKER_INDEX,
    OCI_INDEX,
    OCI_MANIFEST,
    Descriptor,
    ImageContentError,
    Manifest,
    Platform,
    inner_digests,
    read_labels,
    read_manifest,
    sha256_digest,
    verify,
)

HERE = Platform("linux", "amd64")
DIGEST = "sha256:" + "ab" * 32


def descriptor(**changes: Any) -> dict[str, Any]:
    return {"mediaType": "m", "digest": DIGEST, "size": 3, **changes}


def read(document: Any, media_type: str = "") -> Manifest | Descriptor:
    return read_manifest(json.dumps(document).encode(), media_type, HERE, Limits())


def test_an_image_is_its_configuration_and_layers() -> None:
    found = read({"mediaType": OCI_MANIFEST, "config": descriptor(), "layers": [descriptor()]})
    expected = Descriptor("m", DIGEST, 3)
    assert found == Manifest(expected, (expected,))


@pytest.mark.parametrize("media_type", [OCI_INDEX, DOCKER_INDEX, ""])
def test_an_index_gives_the_manifest_for_the_platform(media_type: str) -> None:
    entries = [
        descriptor(size=1, platform={"os": "linux", "architecture": "arm64"}),
        descriptor(size=2, platform={"os": "linux", "architecture": "amd64"}),
    ]
    assert read({"manifests": entries}, f"{media_type}; charset=utf-8") == Descriptor(
        "m", DIGEST, 2
    )


def test_an_index_has_inner_manifests_and_an_image_has_none() -> None:
    other = "sha256:" + "cd" * 32
    index = {"manifests": [descriptor(), descriptor(digest=other)]}
    assert inner_digests(json.dumps(index).encode()) == (DIGEST, other)
    image = {"config": descriptor(), "layers": [descriptor()]}
    assert inner_digests(json.dumps(image).encode()) == ()
    with pytest.raises(ImageContentError, match="digest is missing"):
        inner_digests(json.dumps({"manifests": [3]}).encode())


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ([], "is no JSON object"),
        ({}, "is no container image"),
        ({"mediaType": OCI_INDEX, "manifests": []}, "it has nothing"),
        ({"mediaType": OCI_INDEX, "manifests": [3]}, "has no manifest for linux/amd64"),
        ({"mediaType": OCI_INDEX, "manifests": {}}, 'no list "manifests"'),
        ({"config": descriptor(), "layers": {}}, 'no list "layers"'),
        ({"config": 3, "layers": []}, "invalid descriptor: digest is missing"),
        ({"config": descriptor(digest="sha256:x"), "layers": []}, "invalid checksum digest"),
        ({"config": descriptor(size=-1), "layers": []}, "size is missing"),
        ({"config": descriptor(size=1 << 40), "layers": []}, "is larger than"),
        ({"config": descriptor(), "layers": [descriptor(size=1 << 40)]}, "are larger than"),
        ({"config": descriptor(), "layers": [descriptor()] * 257}, "more than 256 layers"),
    ],
)
def test_what_is_no_manifest_says_why(document: Any, fault: str) -> None:
    with pytest.raises(ImageContentError, match=fault):
        read(document)


def test_junk_is_no_json() -> None:
    with pytest.raises(ImageContentError, match="manifest is no JSON"):
        read_manifest(b"<html>", "", HERE, Limits())


def test_bytes_must_match_their_digest() -> None:
    verify(b"x", sha256_digest(b"x"), "manifest")
    with pytest.raises(ImageContentError, match=f"does not match its digest: expected {DIGEST}"):
        verify(b"x", DIGEST, "manifest")


@pytest.mark.parametrize(
    ("config", "labels"),
    [({"config": {"Labels": {"a": "b"}}}, {"a": "b"}), ({"config": None}, {}), ({}, {})],
)
def test_labels(config: Any, labels: dict[str, str]) -> None:
    assert read_labels(json.dumps(config).encode()) == labels
