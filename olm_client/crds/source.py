"""CustomResourceDefinitions from files, folders and archives of bundles, and images."""

import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from api.objects import CRD_KIND, KubeObject, gvk_of, name_of
from olm_client.bundle_files import read_image, read_source
from olm_client.crds.report import Definitions
from olm_client.object_files import objects_in, read_file
from olm_client.usage import RequestError
from olm_content.bundle.files import MANIFESTS
from olm_content.kube_types import go_types
from olm_runtime.errors import TerminalError
from olm_runtime.registry.workstation import Registries

MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def definitions(source: str, access: Registries) -> Definitions:
    """The definitions in a file, a folder of manifests, or a bundle, by name. Raises OLMError.

    A bundle is a folder, a tar archive of one, or an image reference.
    """
    return _collected(_files(source, access))


def definitions_of_image(image: str, access: Registries) -> Definitions:
    """Those of the bundle in an image, which a catalog may name. Raises OLMError."""
    return _collected(_manifests(image, read_image(image, access)))


def _collected(files: Iterable[tuple[str, bytes]]) -> Definitions:
    found: Definitions = {}
    for file, content in files:
        for obj in objects_in(file, content):
            if obj.get("kind") != CRD_KIND:
                continue
            name = name_of(obj)
            if name in found:
                raise TerminalError(f"{file}: CustomResourceDefinition {name} is there twice")
            found[name] = as_definition(obj, file)
    return found


def _files(source: str, access: Registries) -> Iterable[tuple[str, bytes]]:
    path = Path(source)
    if path.exists() and not _is_bundle(path):
        paths = sorted(path.iterdir()) if path.is_dir() else [path]
        manifests = [p for p in paths if p.suffix in MANIFEST_SUFFIXES] if path.is_dir() else paths
        return ((str(file), read_file(file)) for file in manifests)
    return _manifests(source, read_source(source, access))


def _manifests(source: str, files: Mapping[str, bytes]) -> Iterable[tuple[str, bytes]]:
    return (
        (f"{source}: {name}", content)
        for name, content in files.items()
        if name.startswith(MANIFESTS) and PurePosixPath(name).suffix in MANIFEST_SUFFIXES
    )


def _is_bundle(path: Path) -> bool:
    if path.is_dir():
        return (path / MANIFESTS).is_dir()
    return path.is_file() and tarfile.is_tarfile(path)


def as_definition(value: Any, where: str) -> KubeObject:
    """The value in the shapes of the API. Raises TerminalError where it is no definition."""
    if not isinstance(value, dict) or value.get("kind") != CRD_KIND:
        raise RequestError(f"{where}: expected a {CRD_KIND}")
    group, version = gvk_of(value).group, gvk_of(value).version
    if (group, version) != ("apiextensions.k8s.io", "v1"):
        raise TerminalError(
            f"{where}: {name_of(value)} is of {value.get('apiVersion')}; "
            "only apiextensions.k8s.io/v1 can be compared"
        )
    try:
        typed: KubeObject = go_types.read(CRD_KIND, value)
    except go_types.ShapeError as error:
        raise TerminalError(f"{where}: {name_of(value)}: {error}") from error
    return typed
