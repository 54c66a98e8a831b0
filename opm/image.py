"""What an image of files is described by: configuration, manifest and index, as JSON. Pure.

The same content gives the same bytes, on whatever machine and whenever: no times, no names of
builders. (Source: OCI image specification v1.)
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from olm_content.bundle.files import ANNOTATIONS_FILE, BundleError
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import (
    LABEL_BUNDLE_MANIFESTS,
    LABEL_BUNDLE_MEDIATYPE,
    LABEL_BUNDLE_METADATA,
    LABEL_BUNDLE_PACKAGE,
    LABEL_INDEX_CONFIGS,
)
from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import OCI_INDEX, OCI_MANIFEST, Descriptor, Platform, read_labels

EPOCH = "1970-01-01T00:00:00Z"
CONFIGS = "configs"
CATALOG_LABELS = {LABEL_INDEX_CONFIGS: f"/{CONFIGS}"}
SERVES: Mapping[str, Any] = {
    "Entrypoint": ["/bin/opm"],
    "Cmd": ["serve", f"/{CONFIGS}", "--cache-dir=/tmp/cache", "--cache-enforce-integrity=false"],
}
"""How a catalog on top of an image with opm is served; its cache is made at the start."""
_BUNDLE_LABELS = {
    LABEL_BUNDLE_MEDIATYPE: "registry+v1",
    LABEL_BUNDLE_MANIFESTS: "manifests/",
    LABEL_BUNDLE_METADATA: "metadata/",
}
_PLATFORM = re.compile(r"([a-z0-9]+)/([a-z0-9_]+)")


@dataclass(frozen=True, slots=True)
class Layer:
    """A compressed layer, and the digest of its archive before it was compressed."""

    descriptor: Descriptor
    diff_id: str


def configuration(layers: Sequence[Layer], labels: Mapping[str, str], platform: Platform) -> bytes:
    """The image's configuration."""
    return _json(
        {
            "created": EPOCH,
            "architecture": platform.architecture,
            "os": platform.os,
            "config": {"Labels": dict(labels)},
            "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
            "history": [{"created": EPOCH, "created_by": "opm build"} for _ in layers],
        }
    )


def extended(base: bytes, layer: Layer, labels: Mapping[str, str]) -> bytes:
    """The configuration of an image with opm that has a catalog on top, and serves it.

    Raises ImageContentError for a configuration that is none.
    """
    merged = {**read_labels(base), **CATALOG_LABELS, **labels}
    document = orjson.loads(base)
    runs = {**(document.get("config") or {}), **SERVES, "Labels": merged}
    below = (document.get("rootfs") or {}).get("diff_ids") or ()
    history = [*(document.get("history") or ()), {"created": EPOCH, "created_by": "opm build"}]
    rootfs = {"type": "layers", "diff_ids": [*below, layer.diff_id]}
    return _json({**document, "config": runs, "rootfs": rootfs, "history": history})


def manifest(config: Descriptor, layers: Iterable[Descriptor]) -> bytes:
    """The manifest of the image for one platform."""
    return _json(
        {
            "schemaVersion": 2,
            "mediaType": OCI_MANIFEST,
            "config": described(config),
            "layers": [described(layer) for layer in layers],
        }
    )


def index(manifests: Mapping[Platform, Descriptor]) -> bytes:
    """The index that names the manifest of each platform."""
    entries = [
        {
            **described(entry),
            "platform": {"architecture": platform.architecture, "os": platform.os},
        }
        for platform, entry in manifests.items()
    ]
    return _json({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": entries})


def described(blob: Descriptor) -> dict[str, Any]:
    """How another document names a blob."""
    return {"mediaType": blob.media_type, "digest": blob.digest, "size": blob.size}


def parse_platforms(text: str) -> tuple[Platform, ...]:
    """Reads `os/architecture,...`, each once, in order. Raises TerminalError."""
    found = []
    for part in text.split(","):
        match = _PLATFORM.fullmatch(part.strip())
        if match is None:
            raise TerminalError(
                f'platform "{part}" is none', hint="write linux/amd64, several with commas"
            )
        found.append(Platform(*match.groups()))
    return tuple(dict.fromkeys(found))


def bundle_labels(files: Mapping[str, bytes]) -> dict[str, str]:
    """The labels of a bundle image: what its metadata/annotations.yaml says.

    Raises BundleError for one without the package's name: catalogs would not know it for a bundle.
    """
    path = ANNOTATIONS_FILE
    try:
        document = next(iter(load_all(files[path])), None)
    except KeyError as error:
        raise BundleError(f"the bundle has no {path}") from error
    except YamlError as error:
        raise BundleError(f"{path}: {error.message}") from error
    annotations = document.get("annotations") if isinstance(document, dict) else None
    annotations = annotations if isinstance(annotations, dict) else {}
    if not annotations.get(LABEL_BUNDLE_PACKAGE):
        raise BundleError(
            f"{path} does not say {LABEL_BUNDLE_PACKAGE}",
            hint="give the package's name under annotations",
        )
    # A number with a point has lost what was written: 1.10 is 1.1 by now.
    wrong = [key for key, value in annotations.items() if not isinstance(value, str | bool | int)]
    if wrong:
        raise BundleError(f"{path}: {wrong[0]} is no text", hint="put its value in quotes")
    return {**_BUNDLE_LABELS, **{key: _text(value) for key, value in annotations.items()}}


def _text(value: str | bool | int) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _json(document: Mapping[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
