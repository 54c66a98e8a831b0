"""A release as its image has it, read for a cluster.

Source of the rules: upstream's notes, section 5.4.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from api.objects import metadata
from cluster_version.payload.features import Features
from cluster_version.payload.hashes import fnv64
from cluster_version.payload.inclusion import Filters, left_out
from cluster_version.payload.manifests import Manifest, ManifestError, parse_manifests
from cluster_version.payload.release import (
    IMAGES_FILE,
    METADATA_FILE,
    Release,
    ReleaseError,
    check_images,
    read_images,
    read_metadata,
)
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from olm_content.formats import go_json

INTEGRITY = "UpdatePayloadIntegrity"
EXTENSIONS = (".yaml", ".yml", ".json")

_ACTION = re.compile(rb"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Payload:
    """A release and its manifests for a cluster, in the order in which they are loaded.

    architecture  that of the machine unless the release names its own
    hash          of all its manifests
    created       when it was made, as its file of images says
    candidates    those that clusters like this one may have, by its features
    features      by which the manifests were chosen among these; None if they were not
    """

    release: Release
    architecture: str
    manifests: tuple[Manifest, ...]
    hash: str
    created: str = ""
    candidates: tuple[Manifest, ...] = ()
    features: Features | None = None


def load(
    files: Mapping[str, bytes], image: str, filters: Filters, *, machine: str, folder: str
) -> Payload:
    """The payload of an image.

    `files` are by path, and folders by path with a slash at the end; `machine` is the architecture
    of this machine as Go names it; `folder` is where errors say that the files are. Raises
    ReleaseError.
    """
    _require(files, folder)
    found, version = read_metadata(files[f"{RELEASE_FOLDER}/{METADATA_FILE}"])
    release = replace(found, image=image)
    images = read_images(files[f"{RELEASE_FOLDER}/{IMAGES_FILE}"])
    check_images(release, images)
    asked = replace(filters, major_version=version.major, feature_set=None, feature_gates=None)
    manifests: list[Manifest] = []
    problems: list[str] = []
    for name, content in _manifest_files(files, image, asked.profile or ""):
        try:
            parsed = list(parse_manifests(name, content))
        except ManifestError as error:
            problems.append(f"parse {name}: {error.message}")
            continue
        manifests += (each for each in parsed if not left_out(each.object, asked))
    if problems:
        listed = problems[0] if len(problems) == 1 else f"[{', '.join(dict.fromkeys(problems))}]"
        text = f"Error loading manifests from {folder}: {listed}"
        raise ReleaseError(text, reason=INTEGRITY)
    architecture = release.architecture or machine
    created = metadata(images).get("creationTimestamp") or ""
    loaded = Payload(release, architecture, (), "", created, tuple(manifests))
    return _chosen(loaded, filters)


def for_features(payload: Payload, features: Features) -> Payload:
    """The payload with the manifests for a cluster of these features."""
    if payload.features == features:
        return payload
    filters = Filters(feature_set=features.feature_set, feature_gates=features.gates)
    return _chosen(payload, filters)


def _chosen(payload: Payload, filters: Filters) -> Payload:
    """The payload with those candidates that the features of a cluster are asked for."""
    feature_set, gates = filters.feature_set, filters.feature_gates
    asked = Filters(feature_set=feature_set, feature_gates=gates)
    manifests = tuple(each for each in payload.candidates if not left_out(each.object, asked))
    is_same = manifests == payload.manifests and payload.hash  # which takes time
    return replace(
        payload,
        manifests=manifests,
        hash=payload.hash if is_same else _hash(manifests),
        features=None if gates is None else Features(feature_set or "", frozenset(gates)),
    )


def _require(files: Mapping[str, bytes], folder: str) -> None:
    folders = {path.partition("/")[0] for path in files if "/" in path}
    for name in (OPERATOR_FOLDER, RELEASE_FOLDER):
        if name not in folders:
            raise ReleaseError(f"stat {folder}/{name}: no such file or directory")
    for name in (METADATA_FILE, IMAGES_FILE):
        path = f"{RELEASE_FOLDER}/{name}"
        if path not in files:
            raise ReleaseError(f"stat {folder}/{path}: no such file or directory")


def _manifest_files(
    files: Mapping[str, bytes], image: str, profile: str
) -> Iterator[tuple[str, bytes]]:
    """Names and contents: first the operator's, then those of the release, by name."""
    values = {b".ReleaseImage": image.encode(), b".ClusterProfile": profile.encode()}
    for name, content in _in_folder(files, OPERATOR_FOLDER):
        filled = _filled(content, values)
        if filled is not None:
            yield name, filled
    yield from _in_folder(files, RELEASE_FOLDER)


def _in_folder(files: Mapping[str, bytes], folder: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(files, key=str.encode):
        parent, _, name = path.rpartition("/")
        if parent == folder and name.endswith(EXTENSIONS):
            yield name, files[path]


def _filled(template: bytes, values: Mapping[bytes, bytes]) -> bytes | None:
    """A template with its values; None where it asks for what there is not."""
    if any(found[1] not in values for found in _ACTION.finditer(template)):
        return None
    return _ACTION.sub(lambda found: values[found[1]], template)


def _hash(manifests: Iterable[Manifest]) -> str:
    texts = (go_json.dumps(each.object, sort_keys=True).encode() for each in manifests)
    return base64.urlsafe_b64encode(fnv64(texts).to_bytes(8)).decode()
