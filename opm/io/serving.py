"""Images of catalogs that serve themselves: on top of an image with opm."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import (
    INDEX_TYPES,
    OCI_CONFIG,
    OCI_LAYER,
    OCI_MANIFEST,
    Descriptor,
    Manifest,
    Platform,
    descriptors,
    read_platform,
)
from opm.image import CONFIGS, Layer, extended, manifest
from opm.io.building import add_index
from opm.io.layout import Layout, files_below

DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
"""The same bytes under Docker's name."""


def add_serving_catalog(
    layout: Layout,
    folder: Path,
    labels: Mapping[str, str],
    platforms: Sequence[Platform],
    base: Descriptor,
) -> Descriptor:
    """The image of a catalog's folder on top of one that is in the layout, for what both are for.

    Raises TerminalError, ImageContentError.
    """
    offered = _manifests(layout, base)
    wanted = {platform: offered[platform] for platform in platforms if platform in offered}
    if not wanted:
        names = ", ".join(map(str, offered))
        raise TerminalError(f"the base image is for {names}", hint="name one of them in --platform")
    layer = layout.add_layer(files_below(folder, f"{CONFIGS}/"))
    return add_index(
        layout, {each: _extended(layout, found, layer, labels) for each, found in wanted.items()}
    )


def _extended(
    layout: Layout, found: Manifest, layer: Layer, labels: Mapping[str, str]
) -> Descriptor:
    config = layout.add(OCI_CONFIG, extended(_read(layout, found.config), layer, labels))
    layers = [*map(_named, found.layers), layer.descriptor]
    return layout.add(OCI_MANIFEST, manifest(config, layers))


def _named(layer: Descriptor) -> Descriptor:
    kind = OCI_LAYER if layer.media_type == DOCKER_LAYER else layer.media_type
    return Descriptor(kind, layer.digest, layer.size)


def _manifests(layout: Layout, base: Descriptor) -> dict[Platform, Manifest]:
    """What a base image is for, with the manifest of each."""
    data = _read(layout, base)
    if base.media_type not in INDEX_TYPES:
        config, *layers = descriptors(data, base.media_type)
        return {read_platform(_read(layout, config)): Manifest(config, tuple(layers))}
    parts = descriptors(data, base.media_type)
    return {key: each for part in parts for key, each in _manifests(layout, part).items()}


def _read(layout: Layout, blob: Descriptor) -> bytes:
    return layout.place(blob.digest).read_bytes()
