"""Copies images as they are, between registries and OCI image layouts on disk."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import ImageRef, parse_ref
from olm_runtime.registry import workstation
from opm.io.layout import Layout

PREFIX = "oci:"


@dataclass(frozen=True, slots=True)
class OnDisk:
    """An image in a layout, by the name it has there."""

    folder: Path
    name: str

    def __str__(self) -> str:
        return f"{PREFIX}{self.folder}:{self.name}"


Place = ImageRef | OnDisk


def parse_place(text: str) -> Place:
    """A reference, or `oci:FOLDER:NAME`. Raises TerminalError, InvalidRefError."""
    if not text.startswith(PREFIX):
        return parse_ref(text)
    folder, _, name = text.removeprefix(PREFIX).partition(":")
    if not folder or not name:
        raise TerminalError(f"{text}: no name of an image", hint="write oci:FOLDER:NAME")
    return OnDisk(Path(folder), name)


def copy(source: Place, target: Place, access: workstation.Registries) -> str:
    """Copies an image; where it is now, by digest in a registry. Raises OLMError."""
    if isinstance(source, OnDisk) and isinstance(target, OnDisk):
        raise TerminalError(f"{source} and {target} are folders", hint="one must be in a registry")
    with _layout(source, target) as layout:
        if isinstance(source, OnDisk):
            image = layout.find(source.name)
        else:
            image = workstation.fetch_whole(source, layout.place, access)
        if isinstance(target, OnDisk):
            layout.name(image, [target.name])
            return str(target)
        if target.digest and target.digest != image.digest:
            raise TerminalError(
                f"{source} is {image.digest}, not {target.digest}",
                hint="give the target a tag, or the digest of the source",
            )
        return str(workstation.push(layout.root, image, target, access))


@contextmanager
def _layout(source: Place, target: Place) -> Iterator[Layout]:
    """The layout among the two, or one that is forgotten."""
    for place in (source, target):
        if isinstance(place, OnDisk):
            if place is source and not place.folder.is_dir():
                raise TerminalError(f"{place.folder}: no such directory")
            yield Layout(place.folder)
            return
    with tempfile.TemporaryDirectory(prefix="opm-copy-") as folder:
        yield Layout(Path(folder, "layout"))
