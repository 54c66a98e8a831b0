"""Container images made from bytes, with no container engine.

Pure but for reading a folder that is given. The same input gives the same digests, on every
machine whose zlib compresses alike: entries are sorted, times are zero, owners are root.
"""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

BUNDLE_LABEL_PREFIX = "operators.operatorframework.io."
CATALOG_LABEL = "operators.operatorframework.io.index.configs.v1"
CATALOG_ROOT = "configs"
TAG_ANNOTATION = "org.opencontainers.image.ref.name"
EPOCH = "1970-01-01T00:00:00Z"


class Compression(StrEnum):
    """How a layer is compressed. ZSTD needs the package zstandard."""

    NONE = "none"
    GZIP = "gzip"
    ZSTD = "zstd"


@dataclass(frozen=True, slots=True)
class MediaTypes:
    """The names that one family of image formats uses."""

    manifest: str
    index: str
    config: str
    layers: Mapping[Compression, str]


class Family(Enum):
    """The two families of image formats in use."""

    OCI = MediaTypes(
        manifest="application/vnd.oci.image.manifest.v1+json",
        index="application/vnd.oci.image.index.v1+json",
        config="application/vnd.oci.image.config.v1+json",
        layers={
            Compression.NONE: "application/vnd.oci.image.layer.v1.tar",
            Compression.GZIP: "application/vnd.oci.image.layer.v1.tar+gzip",
            Compression.ZSTD: "application/vnd.oci.image.layer.v1.tar+zstd",
        },
    )
    DOCKER = MediaTypes(
        manifest="application/vnd.docker.distribution.manifest.v2+json",
        index="application/vnd.docker.distribution.manifest.list.v2+json",
        config="application/vnd.docker.container.image.v1+json",
        layers={
            Compression.NONE: "application/vnd.docker.image.rootfs.diff.tar",
            Compression.GZIP: "application/vnd.docker.image.rootfs.diff.tar.gzip",
            Compression.ZSTD: "application/vnd.docker.image.rootfs.diff.tar.zstd",
        },
    )


@dataclass(frozen=True, slots=True)
class Platform:
    """What an image runs on."""

    os: str = "linux"
    architecture: str = "amd64"


@dataclass(frozen=True, slots=True)
class Blob:
    """Content with its media type; a manifest, a configuration or a layer."""

    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        """The digest that the content is addressed by."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"

    def descriptor(self, **extra: Any) -> dict[str, Any]:
        """How another document refers to this one."""
        size = len(self.content)
        return {"mediaType": self.media_type, "digest": self.digest, "size": size, **extra}


@dataclass(frozen=True, slots=True)
class Image:
    """One image: its manifest and the blobs that the manifest names."""

    manifest: Blob
    blobs: tuple[Blob, ...]
    platform: Platform


@dataclass(frozen=True, slots=True)
class ImageIndex:
    """One reference for several platforms."""

    manifest: Blob
    images: tuple[Image, ...]


Files = Mapping[str, bytes]


def tar(files: Files) -> bytes:
    """An archive of files by path, with the folders above them; paths are relative to the root.

    For other content (links, devices, paths that lead out) make the archive with `tarfile`:
    `build_image` takes archives too.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as writer:
        for path in _with_folders(files):
            entry = tarfile.TarInfo(path)
            content = files.get(path)
            if content is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                writer.addfile(entry)
            else:
                entry.size, entry.mode = len(content), 0o644
                writer.addfile(entry, io.BytesIO(content))
    return archive.getvalue()


def build_image(
    layers: Sequence[Files | bytes],
    *,
    labels: Mapping[str, str] | None = None,
    family: Family = Family.OCI,
    compression: Compression = Compression.GZIP,
    platform: Platform = Platform(),
    runs: Sequence[str] = (),
) -> Image:
    """An image from layers, each a mapping of path to content or a finished tar archive.

    `runs` is the command of its containers, for images that are run.
    """
    archives = [layer if isinstance(layer, bytes) else tar(layer) for layer in layers]
    media_type = family.value.layers[compression]
    blobs = [Blob(media_type, _compressed(archive, compression)) for archive in archives]
    runtime = {"Labels": dict(labels or {})} | ({"Entrypoint": list(runs)} if runs else {})
    config = Blob(family.value.config, _json(_configuration(archives, runtime, platform)))
    manifest = {
        "schemaVersion": 2,
        "mediaType": family.value.manifest,
        "config": config.descriptor(),
        "layers": [blob.descriptor() for blob in blobs],
    }
    return Image(Blob(family.value.manifest, _json(manifest)), (config, *blobs), platform)


def build_index(images: Sequence[Image], *, family: Family = Family.OCI) -> ImageIndex:
    """An index over images of several platforms."""
    entries = [
        image.manifest.descriptor(
            platform={"os": image.platform.os, "architecture": image.platform.architecture}
        )
        for image in images
    ]
    index = {"schemaVersion": 2, "mediaType": family.value.index, "manifests": entries}
    return ImageIndex(Blob(family.value.index, _json(index)), tuple(images))


def bundle_image(
    folder: Path, *, family: Family = Family.OCI, compression: Compression = Compression.GZIP
) -> Image:
    """A registry+v1 bundle image from a folder with manifests/ and metadata/.

    As with a bundle's Dockerfile each folder is a layer, and the annotations are repeated as
    labels. Errors: FileNotFoundError without metadata/annotations.yaml.
    """
    document = yaml.safe_load((folder / "metadata" / "annotations.yaml").read_bytes())
    labels = {
        name: str(value)
        for name, value in document["annotations"].items()
        if name.startswith(BUNDLE_LABEL_PREFIX)
    }
    layers = [read_folder(folder / part, root=part) for part in ("manifests", "metadata")]
    return build_image(layers, labels=labels, family=family, compression=compression)


def catalog_image(
    content: Files | Path,
    *,
    family: Family = Family.OCI,
    compression: Compression = Compression.GZIP,
    platform: Platform = Platform(),
) -> Image:
    """A file-based catalog image: a folder, or files by path, below /configs."""
    files = read_folder(content) if isinstance(content, Path) else content
    layer = {f"{CATALOG_ROOT}/{path}": data for path, data in files.items()}
    return build_image(
        [layer],
        labels={CATALOG_LABEL: f"/{CATALOG_ROOT}"},
        family=family,
        compression=compression,
        platform=platform,
    )


def derived_image(base: Image, layer: Files, *, runs: Sequence[str]) -> Image:
    """An OCI image with one layer more, whose containers run another command."""
    archive = tar(layer)
    added = Blob(base.blobs[-1].media_type, gzip.compress(archive, mtime=0))
    config = json.loads(base.blobs[0].content)
    config["config"] |= {"Entrypoint": list(runs), "Cmd": None}
    config["rootfs"]["diff_ids"].append(f"sha256:{hashlib.sha256(archive).hexdigest()}")
    config["history"].append({"created": EPOCH, "created_by": "olmv1 harness"})
    described = Blob(base.blobs[0].media_type, _json(config))
    manifest = json.loads(base.manifest.content)
    manifest["config"] = described.descriptor()
    manifest["layers"].append(added.descriptor())
    whole = Blob(base.manifest.media_type, _json(manifest))
    return Image(whole, (described, *base.blobs[1:], added), base.platform)


def image_in_layout(folder: Path, tag: str) -> Image:
    """An image of an OCI layout on disk. Errors: LookupError if no image there has the tag."""
    for listed in json.loads((folder / "index.json").read_bytes())["manifests"]:
        if listed.get("annotations", {}).get(TAG_ANNOTATION) == tag:
            manifest = _stored(folder, listed)
            named = json.loads(manifest.content)
            parts = (named["config"], *named["layers"])
            return Image(manifest, tuple(_stored(folder, part) for part in parts), Platform())
    raise LookupError(f"no image {tag} in the layout {folder}")


def read_folder(folder: Path, *, root: str = "") -> dict[str, bytes]:
    """All files below a folder by path, as if the folder lay at `root`.

    Errors: FileNotFoundError if there is no such folder.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}")
    return {
        str(PurePosixPath(root, path.relative_to(folder).as_posix())): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _stored(folder: Path, descriptor: Mapping[str, str]) -> Blob:
    path = folder / "blobs" / descriptor["digest"].replace(":", "/")
    return Blob(descriptor["mediaType"], path.read_bytes())


def _with_folders(paths: Iterable[str]) -> list[str]:
    parents = {
        str(parent)
        for path in paths
        for parent in PurePosixPath(path).parents
        if str(parent) != "."
    }
    return sorted(parents.union(paths))


def _configuration(
    archives: Sequence[bytes], runtime: Mapping[str, Any], platform: Platform
) -> dict[str, Any]:
    return {
        "created": EPOCH,
        "architecture": platform.architecture,
        "os": platform.os,
        "config": dict(runtime),
        "rootfs": {
            "type": "layers",
            "diff_ids": [f"sha256:{hashlib.sha256(archive).hexdigest()}" for archive in archives],
        },
        "history": [{"created": EPOCH, "created_by": "olmv1 harness"} for _ in archives],
    }


def _compressed(archive: bytes, compression: Compression) -> bytes:
    match compression:
        case Compression.NONE:
            return archive
        case Compression.GZIP:
            return gzip.compress(archive, mtime=0)
        case Compression.ZSTD:
            import zstandard

            return zstandard.ZstdCompressor().compress(archive)


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
