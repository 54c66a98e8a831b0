"""The files of a bundle, from a folder, a tar archive, or an image in a registry."""

import asyncio
import os
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_shared.errors import OLMError, TerminalError
from olm_shared.image_ref import ImageRef, parse_ref
from olm_shared.layers import Rules
from operator_controller.bundle.loader import MANIFESTS
from operator_controller.bundle.review import METADATA

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """How to reach registries: without TLS, with CAs of a folder, with credentials of a file."""

    plain_http: bool = False
    cas_dir: Path | None = None
    auth_file: Path | None = None


def registry_options(command: Command) -> Command:
    """Adds the options for bundles that are read from a registry."""
    options = (
        click.option("--plain-http", is_flag=True, help="Speak to the registry without TLS."),
        click.option("--cas-dir", metavar="DIR", help="Folder of CA files to trust as well."),
        click.option(
            "--auth-file", metavar="FILE", help="Docker configuration file with credentials."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def registries(given: dict[str, Any]) -> Registries:
    """What the options of `registry_options` say."""
    auth_file = given["auth_file"] or _docker_config()
    return Registries(
        plain_http=given["plain_http"],
        cas_dir=Path(given["cas_dir"]) if given["cas_dir"] else None,
        auth_file=Path(auth_file),
    )


def _docker_config() -> Path:
    return Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker") / "config.json"


def read_source(source: str, access: Registries) -> dict[str, bytes]:
    """The files of a bundle that count, by their path from its root.

    `source` is a folder, a tar archive (compressed or not), or an image reference. Raises OLMError.
    """
    path = Path(source)
    if path.is_dir():
        return read_bundle(path)
    if path.is_file():
        return _from_archive(path)
    reference = _reference(source)
    with tempfile.TemporaryDirectory(prefix="olm-bundle-") as work:
        return asyncio.run(_from_registry(reference, access, Path(work)))


def _reference(source: str) -> ImageRef:
    try:
        return parse_ref(source)
    except TerminalError as error:
        raise TerminalError(
            f"{source}: no such folder or file",
            hint=f"give a bundle's folder, a tar of it, or an image reference ({error.message})",
        ) from error


async def _from_registry(reference: ImageRef, access: Registries, work: Path) -> dict[str, bytes]:
    from olm_shared.limits import BUNDLE_LIMITS
    from olm_shared.runtime.image_store import ImageStore
    from olm_shared.runtime.registry import PullSettings

    settings = PullSettings(
        cas_dir=access.cas_dir,
        auth_file=access.auth_file,
        plain_http=frozenset({reference.registry} if access.plain_http else ()),
        limits=BUNDLE_LIMITS,
    )
    store = ImageStore(work, lambda: settings, jitter=random.random)
    files = await (await store.pull(str(reference), owner="bundle")).read()
    await asyncio.to_thread(store.forget, "bundle")
    return {path: data for path, data in files.items() if path.startswith((MANIFESTS, METADATA))}


def _from_archive(path: Path) -> dict[str, bytes]:
    """A tar of a bundle's root, or of the one folder that is the root."""
    from olm_shared.oci import Descriptor
    from olm_shared.runtime.registry import LayerFile
    from olm_shared.runtime.unpack import unpack

    with tempfile.TemporaryDirectory(prefix="olm-bundle-") as work:
        folder = Path(work)
        layer = LayerFile(path, Descriptor("", "", path.stat().st_size))
        try:
            unpack([layer], folder, Rules())
        except OLMError as error:
            raise TerminalError(f"{path}: {error.message}", hint=error.hint) from error
        inner = [entry for entry in folder.iterdir() if entry.is_dir()]
        if not (folder / MANIFESTS).is_dir() and len(inner) == 1:
            folder = inner[0]
        return read_bundle(folder)


def read_bundle(folder: Path) -> dict[str, bytes]:
    """The files of a bundle in a folder that count. Raises OLMError."""
    try:
        if not folder.is_dir():
            raise TerminalError(f"{folder}: no such folder")
        paths = [
            *sorted((folder / METADATA).glob("*")),
            *sorted((folder / MANIFESTS).rglob("*")),
        ]
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in paths
            if path.is_file()
        }
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
