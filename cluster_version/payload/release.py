"""What a release says of itself. Source of the rules: upstream's notes, sections 3.2 and 5.4."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from api.objects import GVK, KubeObject, gvk_of, name_of
from olm_content.formats.go_text import quote
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.versions import Version, VersionError, parse_version
from olm_runtime.errors import TerminalError

KIND = "cincinnati-metadata-v0"
IMAGE_STREAM = GVK("image.openshift.io", "v1", "ImageStream")
MULTI = "Multi"
"""The architecture of a release that is for several; others do not name theirs."""

METADATA_FILE = "release-metadata"
IMAGES_FILE = "image-references"

_URL = "url"
_ARCHITECTURE = "release.openshift.io/architecture"
_CHANNELS = "io.openshift.upgrades.graph.release.channels"


class ReleaseError(TerminalError):
    """A release cannot be used; `reason` is that of the condition, where there is one."""

    def __init__(self, message: str, *, reason: str = "", hint: str = "") -> None:
        super().__init__(message, reason=reason, hint=hint)


@dataclass(frozen=True, slots=True)
class Release:
    """A release as the status names it; `channels` are sorted."""

    version: str
    image: str = ""
    url: str = ""
    channels: tuple[str, ...] = ()
    architecture: str = ""


def described(version: str, image: str, metadata: Mapping[str, Any]) -> tuple[Release, list[str]]:
    """A release by the metadata of its node or image, and what of that cannot be read."""
    problems: list[str] = []
    url = _text(metadata, _URL, "URL", problems)
    if url and (problem := _url_problem(url)):
        problems.append(f"invalid release URL: {problem}")
        url = ""
    architecture = _text(metadata, _ARCHITECTURE, _ARCHITECTURE, problems)
    if architecture not in (None, MULTI.lower()):
        problems.append(f"unrecognized {_ARCHITECTURE} value {quote(architecture)}")
        architecture = None
    channels = _channels(metadata, problems)
    return Release(version, image, url or "", channels, MULTI if architecture else ""), problems


def _text(metadata: Mapping[str, Any], key: str, name: str, problems: list[str]) -> str | None:
    value = metadata.get(key)
    if key not in metadata or isinstance(value, str):
        return value
    problems.append(f"{name} is not a string: {_as_go_prints(value)}")
    return None


def _channels(metadata: Mapping[str, Any], problems: list[str]) -> tuple[str, ...]:
    text = _text(metadata, _CHANNELS, _CHANNELS, problems)
    if text is None:
        return ()
    if not text:
        problems.append(f"{_CHANNELS} is an empty string")
        return ()
    named = text.split(",")
    empty = [place for place, name in enumerate(named) if not name]
    problems += (
        f"{_CHANNELS} entry {place} is an empty string: {quote(text)}" for place in reversed(empty)
    )
    if len(empty) == len(named):
        problems.append(f"no non-empty channels in {_CHANNELS} []")
    return tuple(sorted(filter(None, named)))


def _url_problem(text: str) -> str:
    try:
        urlsplit(text)
    except ValueError as error:
        return f"parse {quote(text)}: {error}"
    return ""


def _as_go_prints(value: Any) -> str:
    """As Go's `%v` prints decoded JSON."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case list():
            return f"[{' '.join(map(_as_go_prints, value))}]"
        case dict():
            members = (f"{key}:{_as_go_prints(each)}" for key, each in sorted(value.items()))
            return f"map[{' '.join(members)}]"
        case _:
            return str(value)


def read_metadata(content: bytes) -> tuple[Release, Version]:
    """The release of a `release-metadata` file, without image. Raises ReleaseError."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ReleaseError(f"unmarshal Cincinnati metadata: {error}") from error
    if not isinstance(document, dict):
        raise ReleaseError("unmarshal Cincinnati metadata: it is no object")
    if document.get("kind") != KIND:
        kind = quote(str(document.get("kind") or ""))
        raise ReleaseError(f"unrecognized Cincinnati metadata kind {kind}")
    text = document.get("version") or ""
    if not isinstance(text, str):
        raise ReleaseError("unmarshal Cincinnati metadata: its version is no text")
    if not text:
        raise ReleaseError("missing required Cincinnati metadata version")
    try:
        version = parse_version(text)
    except VersionError as error:
        problem = f"invalid Cincinnati metadata version {quote(text)}: {error.message}"
        raise ReleaseError(problem) from error
    more = document.get("metadata") or {}
    if not isinstance(more, dict):
        raise ReleaseError("unmarshal Cincinnati metadata: its metadata is no object")
    return described(text, "", more)[0], version


def read_images(content: bytes) -> KubeObject:
    """The ImageStream of an `image-references` file. Raises ReleaseError."""
    try:
        found = next(load_all(content), None)
    except YamlError as error:
        raise ReleaseError(f"unmarshal {IMAGES_FILE}: {error.message}") from error
    if not isinstance(found, dict):
        raise ReleaseError(f"unmarshal {IMAGES_FILE}: it is no object")
    gvk = gvk_of(found)
    if gvk != IMAGE_STREAM:
        raise ReleaseError(f"{IMAGES_FILE} is a *{gvk.version}.{gvk.kind}, not a v1 ImageStream")
    return found


def check_images(release: Release, images: KubeObject) -> None:
    """Raises ReleaseError for images of another release."""
    if name_of(images) != release.version:
        found = f"version from {IMAGES_FILE} ({name_of(images)})"
        raise ReleaseError(f"{found} differs from {METADATA_FILE} ({release.version})")


def images_of(stream: KubeObject) -> dict[str, str]:
    """The images of an `image-references` file by name."""
    tags = (stream.get("spec") or {}).get("tags") or ()
    return {tag["name"]: (tag.get("from") or {}).get("name") or "" for tag in tags}
