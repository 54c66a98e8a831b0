"""The files of a release, from the manifests of its components.

Source of the rules: upstream's notes, section 5.4, and the documents, section 4: each image is
named by its digest.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import orjson

from api.objects import KubeObject, annotations_of
from api.wire import timestamp
from cluster_version.payload.contents import EXTENSIONS
from cluster_version.payload.manifests import ManifestError, parse_manifests
from cluster_version.payload.release import (
    IMAGES_FILE,
    KIND,
    METADATA_FILE,
    ReleaseError,
    images_of,
    read_images,
)
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from olm_content.versions import VersionError, parse_version

SNAPSHOT = b"0.0.1-snapshot"
"""What manifests of components say in place of the version of the release."""
RUNLEVEL = "50"
"""Of files that name none."""

_NO_OPERATOR = b"This release does not bring the program that applies it.\n"
_HINT = "give --image NAME=IMAGE@sha256:..."
_ORDERED = re.compile(r"0000_\d\d_")
_SNAPSHOT = re.compile(re.escape(SNAPSHOT) + rb"(?![-\w.])")
_DIGEST = re.compile(r"\S+@sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Component:
    """The folder of a component's manifests: contents by file name.

    A file `image-references` says which images the manifests name, and for which of the release
    they stand.
    """

    name: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Draft:
    """A release to be made.

    images    of the release by name, each by digest
    operator  manifests of the operator itself, templates, by file name
    metadata  what is said of the release next to its version: `url`, channels
    """

    version: str
    created: datetime
    components: Sequence[Component]
    images: Mapping[str, str]
    operator: Mapping[str, bytes] = field(default_factory=dict)
    previous: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


def files_of(draft: Draft) -> dict[str, bytes]:
    """The files of a release image by path.

    Raises ReleaseError for what no cluster would take.
    """
    for version in (draft.version, *draft.previous):
        _check_version(version)
    for name, image in draft.images.items():
        _check_image(name, image)
    release = _manifests(draft)
    operator = {name: content for name, content in draft.operator.items() if _is_manifest(name)}
    if not release and not operator:
        raise ReleaseError("there are no manifests")
    release[METADATA_FILE] = orjson.dumps(_metadata(draft), option=orjson.OPT_INDENT_2)
    release[IMAGES_FILE] = orjson.dumps(_image_stream(draft), option=orjson.OPT_INDENT_2)
    operator = operator or {"README": _NO_OPERATOR}  # a release needs the folder
    return {
        **{f"{OPERATOR_FOLDER}/{name}": content for name, content in operator.items()},
        **{f"{RELEASE_FOLDER}/{name}": content for name, content in release.items()},
    }


def ignored(components: Iterable[Component]) -> Iterator[str]:
    """Manifests that no cluster would have, for they have no annotations; by file and object."""
    for component in components:
        for name, content in sorted(component.files.items()):
            for manifest in parse_manifests(name, content) if _is_manifest(name) else ():
                if not annotations_of(manifest.object):
                    yield f"{component.name}/{name}: {manifest.identity}"


def _manifests(draft: Draft) -> dict[str, bytes]:
    """The manifests of all components under the names that say when they are applied."""
    found: dict[str, bytes] = {}
    for component in draft.components:
        replaced = _placeholders(component, draft.images)
        for name, content in sorted(component.files.items()):
            if not _is_manifest(name):
                continue
            ordered = file_name(component.name, name)
            if ordered in found:
                raise ReleaseError(f"{component.name}/{name}: there are two files {ordered}")
            made = _SNAPSHOT.sub(draft.version.encode(), content)
            for place, image in replaced:
                made = place.sub(image, made)
            _check_manifests(f"{component.name}/{name}", name, made)
            found[ordered] = made
    return found


def file_name(component: str, name: str) -> str:
    """The name of a component's file in a release; one without a runlevel is of the usual one."""
    return name if _ORDERED.match(name) else f"0000_{RUNLEVEL}_{component}_{name}"


def _placeholders(
    component: Component, images: Mapping[str, str]
) -> list[tuple[re.Pattern[bytes], bytes]]:
    """Which images of a component's manifests are to be replaced, by which."""
    if IMAGES_FILE not in component.files:
        return []
    found = []
    for name, image in images_of(read_images(component.files[IMAGES_FILE])).items():
        if name not in images:
            problem = f"{component.name}/{IMAGES_FILE} wants an image {name}"
            raise ReleaseError(f"{problem}, and the release has none", hint=_HINT)
        place = rb"(?<![-\w./:@])" + re.escape(image.encode()) + rb"(?![-\w/:@]|\.\w)"
        found.append((re.compile(place), images[name].encode()))
    return found


def _is_manifest(name: str) -> bool:
    return name.endswith(EXTENSIONS)


def _check_manifests(place: str, name: str, content: bytes) -> None:
    try:
        list(parse_manifests(name, content))
    except ManifestError as error:
        raise ReleaseError(f"{place}: {error.message}") from error


def _check_version(version: str) -> None:
    try:
        parse_version(version)
    except VersionError as error:
        raise ReleaseError(f'"{version}" is no version: {error.message}') from error


def _check_image(name: str, image: str) -> None:
    if not _DIGEST.fullmatch(image):
        problem = f"image {name}: {image or 'nothing'} does not name a digest"
        raise ReleaseError(problem, hint=_HINT)


def _metadata(draft: Draft) -> KubeObject:
    return {
        "kind": KIND,
        "version": draft.version,
        "previous": list(draft.previous),
        **({"metadata": dict(draft.metadata)} if draft.metadata else {}),
    }


def _image_stream(draft: Draft) -> KubeObject:
    tags = [
        {"name": name, "from": {"kind": "DockerImage", "name": image}}
        for name, image in sorted(draft.images.items())
    ]
    metadata = {"name": draft.version, "creationTimestamp": timestamp(draft.created)}
    return {
        "kind": "ImageStream",
        "apiVersion": "image.openshift.io/v1",
        "metadata": metadata,
        "spec": {"lookupPolicy": {"local": False}, "tags": tags},
    }
