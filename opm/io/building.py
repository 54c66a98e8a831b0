"""From a catalog's or bundle's folder to an image in a layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from olm_content.bundle.files import MANIFESTS, METADATA
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.images.oci import OCI_CONFIG, OCI_INDEX, OCI_MANIFEST, Descriptor, Platform
from opm.bundle import read_bundle, to_record
from opm.image import (
    CATALOG_LABELS,
    CONFIGS,
    bundle_labels,
    configuration,
    index,
    manifest,
)
from opm.io.layout import Layout, files_below

TESTS = "tests/"
PLATFORMS = "linux/amd64,linux/arm64,linux/ppc64le,linux/s390x"
"""What images are made for by default: their content is the same for all."""


def add_catalog(
    layout: Layout, folder: Path, labels: Mapping[str, str], platforms: Sequence[Platform]
) -> Descriptor:
    """The image of a catalog's folder: everything in it below /configs. Raises TerminalError."""
    files = files_below(folder, f"{CONFIGS}/")
    return add_image(layout, files, {**CATALOG_LABELS, **labels}, platforms)


def add_bundle(
    layout: Layout, folder: Path, labels: Mapping[str, str], platforms: Sequence[Platform]
) -> Descriptor:
    """The image of a bundle's folder: manifests/, metadata/ and tests/. Raises TerminalError."""
    files: dict[str, Path] = {}
    for part in (MANIFESTS, METADATA, TESTS):
        files |= files_below(folder / part, part)
    metadata = {
        path: file.read_bytes() for path, file in files.items() if path.startswith(METADATA)
    }
    return add_image(layout, files, {**bundle_labels(metadata), **labels}, platforms)


def check_bundle(folder: Path) -> tuple[str, ...]:
    """Remarks about a bundle. Raises TerminalError if no catalog could have it."""
    files = {
        path: file.read_bytes()
        for part in (MANIFESTS, METADATA)
        for path, file in files_below(folder / part, part).items()
    }
    try:
        bundle = read_bundle(files)
        to_record(bundle, "")
    except OLMError as error:
        raise TerminalError(f"{folder}: {error.message}", hint=error.hint) from error
    return bundle.remarks


def add_image(
    layout: Layout,
    files: Mapping[str, Path],
    labels: Mapping[str, str],
    platforms: Sequence[Platform],
) -> Descriptor:
    """An image of files by their path in it: a manifest, or an index for several platforms."""
    layers = [layout.add_layer(files)]
    manifests = {}
    for platform in platforms:
        config = layout.add(OCI_CONFIG, configuration(layers, labels, platform))
        manifests[platform] = layout.add(
            OCI_MANIFEST, manifest(config, [each.descriptor for each in layers])
        )
    return add_index(layout, manifests)


def add_index(layout: Layout, manifests: Mapping[Platform, Descriptor]) -> Descriptor:
    """What names the manifest of each platform; of one alone the manifest itself."""
    if len(manifests) == 1:
        return next(iter(manifests.values()))
    return layout.add(OCI_INDEX, index(manifests))
