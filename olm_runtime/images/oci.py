"""Image manifests, indexes and configurations as registries hold them. Pure: bytes in, facts out.

Both families of media types are read: OCI image spec v1 and Docker image manifest v2 schema 2.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

from olm_runtime.errors import TransientError
from olm_runtime.images.limits import Limits, raise_hint
from olm_runtime.images.reference import digest_fault

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_CONFIG = "application/vnd.oci.image.config.v1+json"
OCI_LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
INDEX_TYPES = frozenset({OCI_INDEX, DOCKER_INDEX})
MANIFEST_TYPES = (OCI_MANIFEST, OCI_INDEX, DOCKER_MANIFEST, DOCKER_INDEX)


class ImageContentError(TransientError):
    """A manifest or blob that is not what it should be. The tag may move, so it is tried again."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a manifest says of a blob; `size` in bytes."""

    media_type: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Platform:
    """An operating system and processor architecture, in Go's words."""

    os: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A single image: its configuration and its layers, lowest first."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


def sha256_digest(data: bytes) -> str:
    """`sha256:` and the hexadecimal sum."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def verify(data: bytes, digest: str, what: str) -> None:
    """Raises ImageContentError when the bytes do not have that digest."""
    algorithm, _, expected = digest.partition(":")
    actual = hashlib.new(algorithm, data).hexdigest()
    if actual != expected:
        raise ImageContentError(
            f"{what} does not match its digest: expected {digest}, got {algorithm}:{actual}"
        )


def read_manifest(
    data: bytes, media_type: str, platform: Platform, limits: Limits
) -> Manifest | Descriptor:
    """A manifest's content, or, for an index, the descriptor of the manifest for the platform.

    Raises ImageContentError when it is neither, has nothing for the platform, or is too large.
    """
    document = _object(data, "manifest")
    kind = _media_type(document, media_type)
    if kind in INDEX_TYPES:
        return _choose(_list(document, "manifests"), platform)
    if "config" not in document or "layers" not in document:
        raise ImageContentError(
            f"manifest of media type {kind or 'unknown'} is no container image",
            hint="give the reference of a catalog or bundle image",
        )
    layers = _list(document, "layers")
    if len(layers) > limits.layers:
        raise ImageContentError(
            f"image has more than {limits.layers} layers", hint=raise_hint("layers")
        )
    manifest = Manifest(_descriptor(document["config"]), tuple(map(_descriptor, layers)))
    if manifest.config.size > limits.config_bytes:
        raise ImageContentError(
            f"image configuration is larger than {limits.config_bytes} bytes",
            hint=raise_hint("config_bytes"),
        )
    if sum(layer.size for layer in manifest.layers) > limits.compressed_bytes:
        raise ImageContentError(
            f"layers are larger than {limits.compressed_bytes} bytes together",
            hint=raise_hint("compressed_bytes"),
        )
    return manifest


def descriptors(data: bytes, media_type: str) -> tuple[Descriptor, ...]:
    """What a manifest or index is made of: configuration and layers, or manifests.

    Raises ImageContentError.
    """
    document = _object(data, "manifest")
    if media_type in INDEX_TYPES:
        return tuple(map(_descriptor, _list(document, "manifests")))
    return tuple(map(_descriptor, (document.get("config"), *_list(document, "layers"))))


def entries(index: bytes) -> Sequence[Any]:
    """The manifests of an index as it has them, with what we do not read. ImageContentError."""
    found = _list(_object(index, "manifest"), "manifests")
    for each in found:
        _descriptor(each)
    return found


def inner_digests(manifest: bytes) -> tuple[str, ...]:
    """The digests of the manifests of an index; of another manifest none. ImageContentError."""
    document = _object(manifest, "manifest")
    if "manifests" not in document:
        return ()
    return tuple(_descriptor(each).digest for each in _list(document, "manifests"))


def described(data: bytes, media_type: str) -> Descriptor:
    """What would be said of a manifest or index that came with this header. ImageContentError."""
    kind = _media_type(_object(data, "manifest"), media_type)
    return Descriptor(kind, sha256_digest(data), len(data))


def read_labels(data: bytes) -> Mapping[str, str]:
    """The labels in an image configuration. Raises ImageContentError."""
    config = _object(data, "image configuration").get("config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    if not isinstance(labels, dict):
        return MappingProxyType({})
    return MappingProxyType({str(key): str(value) for key, value in labels.items()})


def read_platforms(data: bytes) -> tuple[Platform, ...]:
    """What the manifests of an index are for, in their order. Raises ImageContentError."""
    return tuple(map(_platform, _list(_object(data, "index"), "manifests")))


def read_platform(data: bytes) -> Platform:
    """What an image configuration is for. Raises ImageContentError."""
    return _platform({"platform": _object(data, "image configuration")})


def _platform(entry: Any) -> Platform:
    where = entry.get("platform") if isinstance(entry, dict) else None
    where = where if isinstance(where, dict) else {}
    return Platform(str(where.get("os") or ""), str(where.get("architecture") or ""))


def _choose(entries: Sequence[Any], platform: Platform) -> Descriptor:
    offered = []
    for entry in entries:
        found = _platform(entry)
        if found == platform:
            return _descriptor(entry)
        offered.append(str(found))
    names = ", ".join(sorted(set(offered))) or "nothing"
    raise ImageContentError(f"image index has no manifest for {platform}; it has {names}")


def _media_type(document: Mapping[str, Any], header: str) -> str:
    kind = str(document.get("mediaType") or header.partition(";")[0].strip())
    if kind not in MANIFEST_TYPES and "manifests" in document:
        return OCI_INDEX
    return kind


def _descriptor(value: Any) -> Descriptor:
    entry = value if isinstance(value, dict) else {}
    digest, size = entry.get("digest"), entry.get("size")
    fault = digest_fault(digest) if isinstance(digest, str) else "digest is missing"
    if fault or not isinstance(size, int) or size < 0:
        raise ImageContentError(f"manifest has an invalid descriptor: {fault or 'size is missing'}")
    return Descriptor(str(entry.get("mediaType") or ""), str(digest), size)


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        parsed = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ImageContentError(f"{what} is no JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise ImageContentError(f"{what} is no JSON object")
    return parsed


def _list(document: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise ImageContentError(f'manifest has no list "{key}"')
    return value
