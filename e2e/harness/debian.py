"""Programs of Debian packages that are only unpacked: nothing is installed, nothing started."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from e2e.harness.errors import BinaryUnavailable
from e2e.harness.gobuild import cache_folder


def debian_program(package: str) -> Path:
    """The program that a package is named after: on PATH, in the cache, or downloaded into it.

    Raises BinaryUnavailable.
    """
    if found := shutil.which(package):
        return Path(found)
    folder = cache_folder() / "debian"
    folder.mkdir(parents=True, exist_ok=True)
    unpacked = folder / package
    with (folder / f"{package}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not unpacked.exists():
            with tempfile.TemporaryDirectory(dir=folder) as name:
                _unpack(package, Path(name)).rename(unpacked)
    return unpacked / "usr" / "bin" / package


def _unpack(package: str, folder: Path) -> Path:
    try:
        _run(folder, "apt-get", "-qq", "download", package)
    except BinaryUnavailable:
        if os.geteuid() != 0:
            raise
        _run(folder, "apt-get", "-qq", "update")
        _run(folder, "apt-get", "-qq", "download", package)
    [archive] = folder.glob("*.deb")
    _run(folder, "dpkg-deb", "--extract", archive.name, "unpacked")
    return folder / "unpacked"


def _run(folder: Path, *command: str) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise BinaryUnavailable(f"{' '.join(command)}: {said.strip()}") from error
