"""The ConfigMap that a bundle is unpacked into, in the form of `opm alpha bundle extract`. Pure.

Its annotations are those of the bundle, and which image it is of. A manifest is a value of `data`,
or compressed by gzip, and in base64, one of `binaryData`.
"""

import base64
import gzip
import re
import zlib
from collections.abc import Mapping
from typing import Any

from api.objects import KubeObject, metadata
from olm_content.bundle.files import ANNOTATIONS_FILE, MANIFESTS, BundleError, files_of
from olm_content.formats.kube_yaml import YamlError, load_all

ANNOTATION_IMAGE, ANNOTATION_ENCODING = "olm.sourceImage", "olm.contentEncoding"
GZIP_BASE64 = "gzip+base64"
MAX_BYTES = 1 << 20
"""Of the data of a ConfigMap."""
_KEY = re.compile(r"[^-._a-zA-Z0-9]")
_GZIP = b"\x1f\x8b"


def filled_config_map(
    config_map: KubeObject,
    files: Mapping[str, bytes],
    image: str,
    *,
    compress: bool = True,
    limit: int = MAX_BYTES,
) -> KubeObject:
    """The same with a bundle's files. Raises BundleError, also for data of more than `limit` bytes.

    What is too large in base64 alone is written without, which others do not read.
    """
    manifests = files_of(files, MANIFESTS)
    if not manifests:
        raise BundleError("the image has no manifests: it is no bundle")
    noted = _annotations(files)
    if image:
        noted[ANNOTATION_IMAGE] = image
    contents = {_KEY.sub("_", path.removeprefix(MANIFESTS)): files[path] for path in manifests}
    if not compress:
        data: dict[str, Any] = {"data": {name: _text(name, contents[name]) for name in contents}}
    else:
        contents = {name: gzip.compress(each, mtime=0) for name, each in contents.items()}
        encoded = {name: base64.b64encode(each) for name, each in contents.items()}
        if _size(encoded) <= limit:
            contents, noted[ANNOTATION_ENCODING] = encoded, GZIP_BASE64
        data = {
            "binaryData": {name: base64.b64encode(each).decode() for name, each in contents.items()}
        }
    if (size := _size(contents)) > limit:
        raise BundleError(f"the manifests take {size} bytes, and may take {limit}")
    annotations = (metadata(config_map).get("annotations") or {}) | noted
    return {**config_map, "metadata": {**metadata(config_map), "annotations": annotations}, **data}


def read_config_map(config_map: KubeObject) -> tuple[KubeObject, ...]:
    """The objects that a ConfigMap holds, in the order of its keys. Raises BundleError."""
    files = {name: text.encode() for name, text in (config_map.get("data") or {}).items()}
    for name, value in (config_map.get("binaryData") or {}).items():
        files[name] = _unpacked(name, value)
    return tuple(each for name in sorted(files) for each in _documents(name, files[name]))


def is_filled(config_map: KubeObject) -> bool:
    """Whether a bundle was unpacked into it."""
    return bool(config_map.get("binaryData") or config_map.get("data"))


def _annotations(files: Mapping[str, bytes]) -> dict[str, str]:
    found = _documents(ANNOTATIONS_FILE, files.get(ANNOTATIONS_FILE, b""))
    annotations = (found[0].get("annotations") if found else None) or {}
    return {str(key): str(value) for key, value in annotations.items()}


def _size(contents: Mapping[str, bytes]) -> int:
    return sum(map(len, contents.values()))


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{name} is no text: {error}") from error


def _unpacked(name: str, value: str) -> bytes:
    """The file behind a value of binaryData: of gzip, perhaps in base64 once more."""
    try:
        content = base64.b64decode(value)
        if not content.startswith(_GZIP):
            content = base64.b64decode(content, validate=True)
        return gzip.decompress(content)
    except (ValueError, EOFError, OSError, zlib.error) as error:
        raise BundleError(f"{name} is not compressed by gzip: {error}") from error


def _documents(name: str, content: bytes) -> list[Any]:
    try:
        return [each for each in load_all(content) if isinstance(each, dict)]
    except YamlError as error:
        raise BundleError(f"{name} cannot be read: {error.message}") from error
