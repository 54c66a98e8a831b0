"""Folders of manifests, as components of a release."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cluster_version.payload.building import Component
from cluster_version.payload.contents import EXTENSIONS
from cluster_version.payload.release import ReleaseError, images_of, read_images
from olm_runtime.errors import TerminalError, of_system


def components(places: Iterable[str]) -> Iterator[Component]:
    """The components in folders, given as `DIR` or `NAME=DIR`. Raises TerminalError.

    A folder without manifests has a folder for each component.
    """
    for place in places:
        name, equals, path = place.partition("=")
        folder = Path(path if equals else place)
        if not folder.is_dir():
            raise TerminalError(f"{folder}: no such folder", hint="give a folder of manifests")
        if _has_manifests(folder):
            yield Component(name if equals else folder.resolve().name, read_files(folder))
            continue
        below = sorted(path for path in folder.iterdir() if path.is_dir() and _has_manifests(path))
        if equals or not below:
            raise TerminalError(
                f"{folder} has no manifests", hint=f"put files in it: {', '.join(EXTENSIONS)}"
            )
        yield from (Component(path.name, read_files(path)) for path in below)


def _has_manifests(folder: Path) -> bool:
    return any(path.suffix in EXTENSIONS for path in folder.iterdir() if path.is_file())


def read_files(folder: Path) -> dict[str, bytes]:
    """The files directly in a folder by name. Raises TerminalError."""
    try:
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    except OSError as error:
        raise of_system(error) from error


def images(file: Path | None, given: Mapping[str, str]) -> dict[str, str]:
    """The images of a release: those of an ImageStream's file, and those given, which count more.

    Raises TerminalError.
    """
    if file is None:
        return dict(given)
    try:
        return images_of(read_images(file.read_bytes())) | dict(given)
    except ReleaseError as error:
        raise TerminalError(f"{file}: {error.message}") from error
    except OSError as error:
        raise of_system(error) from error
