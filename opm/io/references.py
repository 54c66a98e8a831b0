"""What a command is given to the records in it: a catalog or a bundle, a folder, file or image."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from olm_catalogs.io.folder import read_folder
from olm_content.bundle.files import MANIFESTS, METADATA, BundleError
from olm_content.bundle.reader import Contents
from olm_content.fbc.documents import FbcError
from olm_content.fbc.files import CatalogFormat
from olm_content.fbc.records import Place, Record, RecordError, record, rendered
from olm_content.names import LABEL_BUNDLE_PACKAGE, LABEL_INDEX_CONFIGS, LABEL_INDEX_DATABASE
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.file_trees import read_files
from olm_runtime.images.reference import parse_ref
from olm_runtime.registry.workstation import Registries, pulled
from opm.bundle import read_bundle, to_record

SQLITE_MAGIC = b"SQLite format 3\x00"
DEPRECATION = "warning: SQLite catalogs are deprecated; `opm migrate` makes file-based ones of them"

ImageFor = Callable[[Contents], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How references are read: registries, the image of a bundle folder, where remarks go.

    The first three are those of `workstation.Registries`.
    """

    plain_http: bool = False
    skip_tls_verify: bool = False
    auth_file: Path | None = None
    image_for: ImageFor = lambda _: ""
    remark: Callable[[str], None] = field(default=lambda text: click.echo(text, err=True))
    bundles_allowed: bool = True

    @property
    def registries(self) -> Registries:
        """How registries are reached."""
        return Registries(
            plain_http=self.plain_http,
            skip_tls_verify=self.skip_tls_verify,
            auth_file=self.auth_file,
        )


def read_reference(reference: str, how: Reading) -> list[Record]:
    """The records of a reference, as `opm render` shows them. Raises OLMError."""
    try:
        return [rendered(each) for each in _records(reference, how)]
    except OLMError as error:
        message = f'render reference "{reference}": {error.message}'
        raise TerminalError(message, hint=error.hint) from error


def _records(reference: str, how: Reading) -> Iterable[Record]:
    path = Path(reference)
    if path.is_dir():
        if is_bundle_folder(path):
            return [_bundle(path, how.image_for, how)]
        return read_folder(path)
    if path.is_file():
        return _database(path, how)
    return _image(reference, how)


def is_bundle_folder(folder: Path) -> bool:
    """Whether it holds a bundle: folders `manifests` and `metadata`."""
    return (folder / MANIFESTS).is_dir() and (folder / METADATA).is_dir()


def read_all(root: Path) -> tuple[list[Record], list[FbcError | RecordError]]:
    """Every record of a catalog folder that can be read, and what is wrong with the others."""
    records: list[Record] = []
    faults: list[FbcError | RecordError] = []
    for path, blobs in read_files(root, CatalogFormat(empty_too=True)):
        try:
            for blob in blobs:
                try:
                    records.append(record(blob, Place(path, blob.line)))
                except RecordError as error:
                    faults.append(error)
        except FbcError as error:
            faults.append(error)
    return records, faults


def _bundle(folder: Path, image_for: ImageFor, how: Reading) -> Record:
    if not how.bundles_allowed:
        raise TerminalError("this is a bundle, and a catalog is needed")
    bundle = read_bundle(bundle_files(folder))
    for remark in bundle.remarks:
        how.remark(f"{folder}: {remark}")
    return to_record(bundle, image_for(bundle))


@contextmanager
def bundle_image(reference: str, how: Reading) -> Iterator[tuple[Contents, Path]]:
    """The bundle in an image, and its folder, until the context ends. Raises OLMError."""
    with pulled(reference, how.registries) as image:
        if not is_bundle_folder(image.folder):
            raise TerminalError(
                f"{reference} is no bundle: it has no folders {MANIFESTS} and {METADATA}"
            )
        try:
            bundle = read_bundle(bundle_files(image.folder))
        except OLMError as error:
            raise TerminalError(f"{reference}: {error.message}", hint=error.hint) from error
        for remark in bundle.remarks:
            how.remark(f"{reference}: {remark}")
        yield bundle, image.folder


def bundle_files(folder: Path) -> dict[str, bytes]:
    """The files of a bundle folder by their path in it. Raises TerminalError."""
    try:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for part in (MANIFESTS, METADATA)
            for path in sorted((folder / part).iterdir())
            if path.is_file()
        }
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error


def _image(reference: str, how: Reading) -> list[Record]:
    _check_reference(reference)
    try:
        with pulled(reference, how.registries) as image:
            root, labels = image.folder, image.labels
            if LABEL_INDEX_DATABASE in labels:
                return _database(inside_image(root, labels[LABEL_INDEX_DATABASE]), how)
            if LABEL_INDEX_CONFIGS in labels:
                return list(read_folder(inside_image(root, labels[LABEL_INDEX_CONFIGS])))
            if LABEL_BUNDLE_PACKAGE in labels:
                return [_bundle(root, lambda _: reference, how)]
    except (BundleError, TerminalError) as error:
        hint = error.hint or "give an image reference, a catalog folder or a bundle folder"
        raise TerminalError(error.message, hint=hint) from error
    shown = "".join(f"\n  {key}={value}" for key, value in sorted(labels.items()))
    raise TerminalError(
        f"the kind of image cannot be told from its labels{shown or ': it has none'}",
        hint=f"a catalog has the label {LABEL_INDEX_CONFIGS}, a bundle {LABEL_BUNDLE_PACKAGE}",
    )


def _check_reference(reference: str) -> None:
    try:
        parse_ref(reference)
    except TerminalError as error:
        message = f"there is no such file or folder, and {error.message}"
        raise TerminalError(message, hint=error.hint) from error


def inside_image(root: Path, label: str) -> Path:
    """The path that a label names within an image."""
    path = (root / label.lstrip("/")).resolve()
    if not path.is_relative_to(root.resolve()) or not path.exists():
        raise TerminalError(f'the image has no "{label}", which its label names')
    return path


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    with path.open("rb") as file:
        return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC


def no_database(path: Path) -> TerminalError:
    """The error for a file that was taken for one."""
    return TerminalError(
        f"{path} is no SQLite database",
        hint="such as /database/index.db of an index image is wanted; file-based catalogs are "
        "changed with `opm render` and `opm build`",
    )


def _database(path: Path, how: Reading) -> list[Record]:
    if not is_database(path):
        raise TerminalError(
            f"{path} is neither a folder nor an SQLite database",
            hint="give a catalog's folder rather than a file in it",
        )
    from opm.index.records import to_records
    from opm.io.database import read_database

    how.remark(DEPRECATION)
    return to_records(read_database(path))
