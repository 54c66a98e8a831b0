"""Which certificates of registries are trusted: the system's roots and a folder of CAs."""

import contextlib
import os
import ssl
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from time import monotonic

from olm_runtime.errors import TransientError

CA_SUFFIXES = (".crt", ".pem", ".cer")
ROOTS_SECONDS = 5.0
"""To look at all files with the system's roots takes a quarter of a small pull."""


def registry_trust(cas_dir: Path | None, cluster_file: Path | None = None) -> ssl.SSLContext:
    """A client context: the system's roots plus the CAs in `cas_dir`, as they are now.

    `cluster_file` has further ones.

    SSL_CERT_FILE takes the place of the system's file. SSL_CERT_DIR names folders, separated by
    colons, of which every file counts: as in Go, and not only what OpenSSL finds by a hashed name.
    Raises TransientError naming the file of `cas_dir` that is no certificate.
    """
    context = ssl.create_default_context()
    for file in _files_of_environment():
        with contextlib.suppress(OSError, ssl.SSLError):  # as in Go: other files may lie there
            context.load_verify_locations(cafile=file)
    for file in (*_files_of(cas_dir), *([cluster_file] if cluster_file else [])):
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError) as error:
            raise TransientError(
                f"cannot read registry CA {file}: {error}", hint="it must be PEM certificates"
            ) from error
    return context


def shared_registry_trust(cas_dir: Path | None, cluster_file: Path | None = None) -> ssl.SSLContext:
    """As `registry_trust`, one context for all who leave it as it is, while no file changes.

    Reading the system's roots takes longer than the rest of a small pull.
    """
    return _remembered(cas_dir, cluster_file, trust_state(cas_dir, cluster_file))


@lru_cache(maxsize=2)
def _remembered(cas_dir: Path | None, cluster_file: Path | None, _: object) -> ssl.SSLContext:
    return registry_trust(cas_dir, cluster_file)


def trust_state(cas_dir: Path | None, cluster_file: Path | None = None) -> tuple[object, ...]:
    """Differs when a file that `registry_trust` reads came, went or changed.

    Of folders with the system's roots, which are hundreds of files, that shows after some seconds.
    """
    system = ssl.get_default_verify_paths().cafile
    files = [Path(system)] if system else []
    if cas_dir is not None:
        with contextlib.suppress(OSError):
            files += sorted(cas_dir.iterdir())
    if cluster_file is not None:
        files.append(cluster_file)
    folders = os.environ.get("SSL_CERT_DIR", "")
    roots = _state_of_folders(system, folders, monotonic() // ROOTS_SECONDS)
    return *map(_state_of, files), *roots


@lru_cache(maxsize=1)
def _state_of_folders(*_: object) -> tuple[object, ...]:
    return tuple(map(_state_of, _files_of_environment()))


def _files_of(cas_dir: Path | None) -> list[Path]:
    if cas_dir is None:
        return []
    try:
        return sorted(p for p in cas_dir.iterdir() if p.suffix in CA_SUFFIXES and p.is_file())
    except OSError as error:
        raise TransientError(f"cannot read the folder of registry CAs: {error}") from error


def _state_of(file: Path) -> object:
    try:
        found = file.stat()
    except OSError:
        return file
    return file, found.st_mtime_ns, found.st_ino, found.st_size


def _files_of_environment() -> Iterator[Path]:
    """Each once: next to a file there are usually links to it by the hash of its subject.

    The system's own file is left out, as it is read in any case.
    """
    system = ssl.get_default_verify_paths().cafile
    read = {_inode(Path(system))} if system else set()
    for folder in filter(None, os.environ.get("SSL_CERT_DIR", "").split(":")):
        with contextlib.suppress(OSError):
            for path in sorted(Path(folder).iterdir()):
                inode = _inode(path)
                if inode is not None and inode not in read:
                    read.add(inode)
                    yield path


def _inode(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; None if it is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
