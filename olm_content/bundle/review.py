"""Every fault in the files of a bundle, for its author: where `load` stops at the first.

Includes what installs all the same but is surely not what the author meant: keys given twice,
more than one service version.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from api.objects import CRD_KIND
from olm_content.bundle.files import (
    ANNOTATIONS_FILE,
    DEPENDENCIES_FILE,
    MANIFESTS,
    PROPERTIES_FILE,
    BundleError,
)
from olm_content.bundle.manifests import manifests
from olm_content.bundle.reader import load
from olm_content.bundle.types import typed
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import CSV_KIND, LABEL_BUNDLE_PACKAGE

_TYPED = (CSV_KIND, CRD_KIND)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What is wrong, in which file; the file is empty for the bundle as a whole."""

    file: str
    message: str

    def __str__(self) -> str:
        """`file: message`, without repeating a file that the message names."""
        named = not self.file or self.file in self.message
        return self.message if named else f"{self.file}: {self.message}"


def file_faults(files: Mapping[str, bytes]) -> list[Fault]:
    """Faults of the files one by one and of the bundle they make, by file; none if it loads."""
    found = [*_metadata_faults(files)]
    csvs = []
    for path in sorted(path for path in files if path.startswith(MANIFESTS)):
        found += _duplicate_keys(path, files[path])
        try:
            for _, obj in manifests({path: files[path]}):
                if obj["kind"] in _TYPED:
                    typed(path, obj["kind"], obj)
                csvs += [path] if obj["kind"] == CSV_KIND else []
        except BundleError as error:
            found.append(Fault(path, _described(error)))
    if len(csvs) > 1:
        found.append(Fault(csvs[-1], f"{len(csvs)} ClusterServiceVersions: only the last counts"))
    return sorted({*found, *_whole_faults(files, found)})


def _metadata_faults(files: Mapping[str, bytes]) -> Iterator[Fault]:
    for path in (ANNOTATIONS_FILE, PROPERTIES_FILE, DEPENDENCIES_FILE):
        if path in files:
            yield from _duplicate_keys(path, files[path])
    if ANNOTATIONS_FILE not in files:
        yield Fault(ANNOTATIONS_FILE, f"is missing; it has to say {LABEL_BUNDLE_PACKAGE}")


def _whole_faults(files: Mapping[str, bytes], found: list[Fault]) -> Iterator[Fault]:
    """What only loading everything shows, unless it is known of a file already."""
    try:
        load(files)
    except BundleError as error:
        known = any(_described(error) == fault.message for fault in found)
        if not known and not error.message.startswith(f"open {ANNOTATIONS_FILE}"):
            yield Fault("", _described(error))


def _described(error: BundleError) -> str:
    """What is wrong, and where: the hint knows the object and the field."""
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _duplicate_keys(path: str, data: bytes) -> Iterator[Fault]:
    """Keys given twice; text that cannot be read at all is a fault that reading it shows."""
    try:
        for _ in load_all(data, unique_keys=True):
            pass
    except YamlError as error:
        if "already set in map" in error.message:
            yield Fault(path, error.message)
