"""The files of a bundle, from a folder, a tar archive, or an image in a registry.

What reads them is imported when it is needed: commands such as `olm search` seldom do.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olm_runtime.cli.async_work import run_async
from olm_runtime.cli.progress import Progress
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.images.reference import parse_ref

if TYPE_CHECKING:
    from olm_content.bundle.model import RegistryV1
    from olm_runtime.registry.workstation import Registries

CACHED_BUNDLES = 2
"""A batch asks for one bundle in several ways, one after the other: it is parsed once."""


def registries(given: dict[str, Any], *, bulk: bool = False) -> "Registries":
    """What the options of `registry_options` say; pulls are shown as they go.

    `bulk` as in PullSettings.
    """
    from olm_runtime.registry.workstation import Registries

    progress = Progress()
    return Registries(
        plain_http=given["plain_http"],
        cas_dir=Path(given["cas_dir"]) if given["cas_dir"] else None,
        auth_file=Path(given["auth_file"]) if given["auth_file"] else None,
        bulk=bulk,
        on_bytes=lambda image, came, total: progress.show_bytes(f"pulling {image}", came, total),
    )


@lru_cache(maxsize=CACHED_BUNDLES)
def loaded(files: tuple[tuple[str, bytes], ...]) -> "RegistryV1":
    """The bundle made of files by path. Raises BundleError."""
    from olm_content.bundle.reader import load

    return load(dict(files))


def read_source(source: str, access: "Registries") -> dict[str, bytes]:
    """The files of a bundle that count, by their path from its root.

    `source` is a folder, a tar archive (compressed or not), or an image reference. Raises OLMError.
    """
    path = Path(source)
    if path.is_dir():
        return read_bundle(path)
    if path.is_file():
        return _from_archive(path)
    return read_image(source, access)


def read_image(source: str, access: "Registries") -> dict[str, bytes]:
    """Those of an image, never of a file that is called so: catalogs name any. Raises OLMError."""
    _check_reference(source)
    from olm_content.bundle.files import MANIFESTS, METADATA
    from olm_runtime.registry.workstation import pulled

    with pulled(source, access, limits=BUNDLE_LIMITS) as image:
        files = run_async(image.read())
    return {path: data for path, data in files.items() if path.startswith((MANIFESTS, METADATA))}


def _check_reference(source: str) -> None:
    try:
        parse_ref(source)
    except TerminalError as error:
        raise TerminalError(
            f"{source}: no such folder or file",
            hint=f"give a bundle's folder, a tar of it, or an image reference ({error.message})",
        ) from error


def _from_archive(path: Path) -> dict[str, bytes]:
    """A tar of a bundle's root, or of the one folder that is the root."""
    import tempfile

    from olm_content.bundle.files import MANIFESTS
    from olm_runtime.images.layers import Rules
    from olm_runtime.images.oci import Descriptor
    from olm_runtime.registry.client import LayerFile
    from olm_runtime.registry.unpack import unpack

    with tempfile.TemporaryDirectory(prefix="olm-bundle-") as work:
        folder = Path(work)
        layer = LayerFile(path, Descriptor("", "", path.stat().st_size))
        try:
            unpack([layer], folder, Rules())
        except OLMError as error:
            problem = error.message.removeprefix("error reading layer[0]: ")
            raise TerminalError(
                f"{path} is neither a folder nor a tar of a bundle: {problem}",
                hint=error.hint or "give a bundle's folder, a tar of it, or an image reference",
            ) from error
        inner = [entry for entry in folder.iterdir() if entry.is_dir()]
        if not (folder / MANIFESTS).is_dir() and len(inner) == 1:
            folder = inner[0]
        return read_bundle(folder)


def read_bundle(folder: Path) -> dict[str, bytes]:
    """The files of a bundle in a folder that count. Raises OLMError.

    The names of folders end with a slash; what stands there is empty.
    """
    from olm_content.bundle.files import MANIFESTS, METADATA

    try:
        if not folder.is_dir():
            raise TerminalError(f"{folder}: no such folder")
        manifests = folder / MANIFESTS
        paths = [*(folder / METADATA).glob("*"), manifests, *manifests.rglob("*")]
        folders = {
            f"{path.relative_to(folder).as_posix()}/": b"" for path in paths if path.is_dir()
        }
        return folders | {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(paths)
            if path.is_file()
        }
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
