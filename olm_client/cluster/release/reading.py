"""Release images as commands read them: from a registry, or the folder of one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cluster_version.payload.release import ReleaseError
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import TerminalError, of_system
from olm_runtime.images.reference import parse_ref
from olm_runtime.registry.workstation import Registries, pulled


@dataclass(frozen=True, slots=True)
class ReleaseImage:
    """A release image: its files by path, and how it is named; both names empty for a folder."""

    files: Mapping[str, bytes]
    image: str
    digest: str


@contextmanager
def release_errors(source: str) -> Iterator[None]:
    """Names the image in what is wrong with the release in it."""
    try:
        yield
    except ReleaseError as error:
        raise TerminalError(f"{source}: {error.message}") from error


def read_release_image(source: str, access: Registries) -> ReleaseImage:
    """A release image by its reference, or a folder with its content. Raises OLMError."""
    folder = Path(source)
    if folder.is_dir():
        return ReleaseImage(_read(folder), "", "")
    try:
        parse_ref(source)
    except TerminalError as error:
        hint = f"give an image reference, or the folder of a release ({error.message})"
        raise TerminalError(f"{source}: no such folder", hint=hint) from error
    with pulled(source, access, roots=(OPERATOR_FOLDER, RELEASE_FOLDER)) as found:
        files = run_async(found.read())
        return ReleaseImage(files, str(found.ref), found.ref.digest)


def _read(folder: Path) -> dict[str, bytes]:
    """The files that a release image has, in a folder. Raises TerminalError."""
    try:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for name in (OPERATOR_FOLDER, RELEASE_FOLDER)
            for path in sorted((folder / name).glob("*"))
            if path.is_file()
        }
    except OSError as error:
        raise of_system(error) from error
