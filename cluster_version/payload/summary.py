"""What is in a release image, for people and for programs."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from api.objects import metadata
from cluster_version.payload.contents import EXTENSIONS
from cluster_version.payload.release import (
    IMAGES_FILE,
    METADATA_FILE,
    ReleaseError,
    check_images,
    images_of,
    read_images,
    read_metadata,
)
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER


def summary(files: Mapping[str, bytes]) -> dict[str, Any]:
    """What a release says of itself; `files` are those of its image by path. Raises ReleaseError.

    version, created, previous, metadata, images by name, and how many manifests there are.
    """
    for name in (METADATA_FILE, IMAGES_FILE):
        if f"{RELEASE_FOLDER}/{name}" not in files:
            raise ReleaseError(f"it is no release image: it has no {RELEASE_FOLDER}/{name}")
    content = files[f"{RELEASE_FOLDER}/{METADATA_FILE}"]
    release, _ = read_metadata(content)
    images = read_images(files[f"{RELEASE_FOLDER}/{IMAGES_FILE}"])
    check_images(release, images)
    document = orjson.loads(content)
    return {
        "version": release.version,
        "created": metadata(images).get("creationTimestamp") or "",
        "previous": document.get("previous") or [],
        "metadata": document.get("metadata") or {},
        "manifests": sum(map(_is_manifest, files)),
        "images": images_of(images),
    }


def _is_manifest(path: str) -> bool:
    return path.startswith((f"{OPERATOR_FOLDER}/", f"{RELEASE_FOLDER}/")) and path.endswith(
        EXTENSIONS
    )


def summary_lines(image: str, digest: str, found: Mapping[str, Any]) -> Iterator[str]:
    """The same as lines; `image` is the pull spec by digest."""
    yield f"Name:       {found['version']}"
    yield f"Digest:     {digest}"
    yield f"Created:    {found['created']}"
    yield f"Manifests:  {found['manifests']}"
    yield ""
    yield f"Pull From: {image}"
    yield ""
    yield "Release Metadata:"
    yield f"  Version:  {found['version']}"
    if found["previous"]:
        yield f"  Upgrades: {', '.join(found['previous'])}"
    if found["metadata"]:
        yield "  Metadata:"
        yield from (f"    {key}: {value}" for key, value in sorted(found["metadata"].items()))
    if found["images"]:
        yield ""
        yield "Images:"
        width = max(map(len, found["images"]))
        yield from (f"  {name:{width}}  {place}" for name, place in sorted(found["images"].items()))
