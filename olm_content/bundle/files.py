"""The files of a bundle, by their path from its root."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_content.formats.kube_yaml import YamlError, load_all
from olm_runtime.errors import TransientError

MANIFESTS, METADATA = "manifests/", "metadata/"
ANNOTATIONS_FILE = f"{METADATA}annotations.yaml"
PROPERTIES_FILE = f"{METADATA}properties.yaml"
DEPENDENCIES_FILE = f"{METADATA}dependencies.yaml"


class BundleError(TransientError):
    """The files are no registry+v1 bundle that can be used.

    Tried again, as the next version of the package may be picked instead.
    """


def paths_in(files: Mapping[str, bytes], folder: str) -> list[str]:
    """The paths below a folder, in the order of a walk through it."""
    return sorted((path for path in files if path.startswith(folder)), key=_steps)


def _steps(path: str) -> list[str]:
    return path.split("/")


def files_of(files: Mapping[str, bytes], folder: str) -> list[str]:
    """The paths of the files in the folder itself."""
    paths = paths_in(files, folder)
    return [path for path in paths if path != folder and "/" not in path.removeprefix(folder)]


def first_documents(
    files: Mapping[str, bytes], paths: Iterable[str], remarks: list[str]
) -> Iterator[tuple[str, Any]]:
    """Path and first document of these files; those that cannot be read are remarked."""
    for path in paths:
        try:
            yield path, next(load_all(files[path]), None)
        except YamlError as error:
            remarks.append(f"{path}: cannot be read, passed over: {error.message}")
