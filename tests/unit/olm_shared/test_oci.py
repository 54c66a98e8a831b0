"""Manifests, and who may be told credentials."""

import json
from typing import Any

import pytest

from olm_shared.image_ref import parse_ref
from olm_shared.limits import Limits
from olm_shared.oci import (
    DOCKER_INDEX,
    OCI_INDEX,
    OCI_MANIFEST,
    Descriptor,
    ImageContentError,
    Manifest,
    Platform,
    read_labels,
    read_manifest,
    sha256_digest,
    verify,
)
from olm_shared.registry_auth import credential_for, host_of, may_send_credentials

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


@pytest.mark.parametrize(
    ("realm", "registry", "plain", "allowed"),
    [
        ("https://quay.io/v2/auth", "quay.io", False, True),
        ("https://auth.docker.io/token", "docker.io", False, True),
        ("https://gitlab.com/jwt/auth", "registry.gitlab.com", False, True),
        ("https://auth.example.com/t", "registry.example.com", False, True),
        ("https://127.0.0.1:5001/token", "127.0.0.1:5000", False, True),
        ("https://evil.com/token", "quay.io", False, False),
        ("https://quay.io.evil.com/token", "quay.io", False, False),
        ("https://evilquay.io/token", "quay.io", False, False),
        ("https://shop.co.uk/token", "registry.co.uk", False, False),
        ("https://auth.registry.co.uk/token", "registry.co.uk", False, True),
        ("https://127.0.0.2/token", "127.0.0.1", False, False),
        ("https://evil.0.0.1/token", "127.0.0.1", False, False),
        ("http://quay.io/token", "quay.io", False, False),
        ("http://localhost:1/token", "localhost:5000", True, True),
        ("ftp://quay.io/token", "quay.io", True, False),
        ("https://", "quay.io", False, False),
        ("https://quay.io@evil.com/", "quay.io", False, False),
    ],
)
def test_credentials_stay_on_the_registrys_site(
    realm: str, registry: str, *, plain: bool, allowed: bool
) -> None:
    assert may_send_credentials(realm, registry, plain_http=plain) is allowed


AUTHS = {
    "quay.io": {"auth": "host"},
    "quay.io/org": {"auth": "org"},
    "https://index.docker.io/v1/": {"auth": "hub"},
    "empty.io": {},
    "odd.io": "text",
}


@pytest.mark.parametrize(
    ("reference", "credential"),
    [
        ("quay.io/other/cat:v1", "host"),
        ("quay.io/org/cat:v1", "org"),
        ("quay.io/organic/cat:v1", "host"),
        ("docker.io/org/cat:v1", "hub"),
        ("empty.io/org/cat:v1", ""),
        ("odd.io/org/cat:v1", ""),
        ("quay.io.evil.com/org/cat:v1", ""),
    ],
)
def test_the_longest_key_that_covers_the_repository_wins(reference: str, credential: str) -> None:
    assert credential_for(AUTHS, parse_ref(reference)) == credential


def test_host_of() -> None:
    assert host_of("Quay.io:443") == "quay.io"
    assert host_of("[::1]:5000") == "::1"
