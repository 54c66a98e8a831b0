"""A release on top of another image: the program that applies it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from olm_runtime.images.oci import INDEX_TYPES, OCI_LAYER, OCI_MANIFEST, Descriptor
from olm_runtime.registry.layout_files import blob_path
from opm.image import EPOCH, Layer, described
from opm.io.layout import Layout

_DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


def add_on_top(layout: Layout, base: Descriptor, files: Mapping[str, Path]) -> Descriptor:
    """An image of a layout with one more layer of files, for each platform that it is for.

    Attestations of the base are left out: they are of other images. Raises TerminalError.
    """
    layer = layout.add_layer(files)
    if base.media_type not in INDEX_TYPES:
        return _extended(layout, base, layer)
    document = _read(layout, base.digest)
    entries = []
    for entry in document["manifests"]:
        if (entry.get("platform") or {}).get("architecture") in (None, "unknown"):
            continue
        image = Descriptor(entry["mediaType"], entry["digest"], entry["size"])
        made = _extended(layout, image, layer)
        entries.append({**described(made), "platform": entry["platform"]})
    return layout.add(base.media_type, _json({**document, "manifests": entries}))


def _extended(layout: Layout, image: Descriptor, layer: Layer) -> Descriptor:
    """An image for one platform with one more layer."""
    manifest = _read(layout, image.digest)
    config = _read(layout, manifest["config"]["digest"])
    config["rootfs"]["diff_ids"].append(layer.diff_id)
    history = {"created": EPOCH, "created_by": "olm cluster release new"}
    config["history"] = [*(config.get("history") or ()), history]
    stored = layout.add(manifest["config"]["mediaType"], _json(config))
    is_oci = image.media_type == OCI_MANIFEST
    added = {**described(layer.descriptor), "mediaType": OCI_LAYER if is_oci else _DOCKER_LAYER}
    layers = [*manifest["layers"], added]
    return layout.add(
        image.media_type, _json({**manifest, "config": described(stored), "layers": layers})
    )


def _read(layout: Layout, digest: str) -> Any:
    return json.loads(blob_path(layout.root, digest).read_bytes())


def _json(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
