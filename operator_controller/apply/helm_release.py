"""What upstream's controller installed as a Helm release, read from its Secrets.

A release is JSON, compressed, in the key `chunk` of an index Secret and of those that the index
names. Its labels say which bundle it is; its manifest is the objects, one JSON text a line.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.objects import KubeObject, labels_of, metadata
from api.olm.v1 import names
from olm_rollout.ownership import controller_of
from olm_runtime.errors import TerminalError
from operator_controller.apply.pack import sanitised
from operator_controller.apply.revisions import BundleIdentity

INDEX_TYPE = "operatorframework.io/index.v1"
MAX_RELEASE_BYTES = 64 * 1024 * 1024
"""Of a release when decompressed: a bound against content that grows without end."""

_GZIP = 31
_OWNER_LABELS = frozenset({names.LABEL_OWNER_KIND, names.LABEL_OWNER_NAME})


class ReleaseError(TerminalError):
    """The release of an extension cannot be read."""


@dataclass(frozen=True, slots=True)
class Release:
    """Which bundle is installed, and its objects as they were rendered."""

    bundle: BundleIdentity
    objects: tuple[KubeObject, ...]


def selector(extension: str) -> str:
    """The labels of the index Secrets of an extension's releases."""
    return f"owner={names.UPSTREAM_FIELD_MANAGER},name={names.label_value(extension)}"


def deployed(secrets: Iterable[KubeObject], extension_uid: str) -> KubeObject | None:
    """The index Secret of the release that is installed: the newest that was deployed."""
    found = [
        secret
        for secret in secrets
        if secret.get("type") == INDEX_TYPE
        and labels_of(secret).get("status") == "deployed"
        and (controller_of(secret) or {}).get("uid") == extension_uid
    ]
    return max(found, key=_version, default=None)


def _version(secret: KubeObject) -> int:
    text = labels_of(secret).get("version", "")
    return int(text) if text.isascii() and text.isdigit() else 0


def parse_release(chunks: Sequence[bytes]) -> Release:
    """The release of its chunks, in order. Raises ReleaseError."""
    try:
        release = orjson.loads(_inflated(b"".join(chunks)))
        labels = release["labels"]
        objects = [orjson.loads(line) for line in release["manifest"].splitlines() if line.strip()]
        return Release(_bundle(labels), tuple(map(_rendered, objects)))
    except (zlib.error, orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(f"it is no release of an extension: {error}") from error


def _inflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=_GZIP)
    plain = inflater.decompress(data, MAX_RELEASE_BYTES)
    if not inflater.eof:
        raise ReleaseError(f"it is cut short, or larger than {MAX_RELEASE_BYTES} bytes")
    return plain


def _bundle(labels: dict[str, str]) -> BundleIdentity:
    return BundleIdentity(
        name=labels[names.ANNOTATION_BUNDLE_NAME],
        version=labels[names.ANNOTATION_BUNDLE_VERSION],
        package=labels[names.ANNOTATION_PACKAGE_NAME],
        image=labels[names.ANNOTATION_BUNDLE_REFERENCE],
        release=labels.get(names.ANNOTATION_BUNDLE_RELEASE),
    )


def _rendered(applied: KubeObject) -> KubeObject:
    """An object as it was before upstream labelled it with its owner."""
    obj = sanitised(applied)
    labels = {k: v for k, v in labels_of(obj).items() if k not in _OWNER_LABELS}
    meta: dict[str, Any] = {k: v for k, v in metadata(obj).items() if k != "labels"}
    return {**obj, "metadata": meta | ({"labels": labels} if labels else {})}
