"""Images built by buildah on Debian's packages, with no engine and no registry; only for root.

Storage lies in the cache folder, so a base is made once.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from e2e.harness.errors import HarnessError
from e2e.harness.gobuild import cache_folder

SUITE = "bookworm"
BASE_RECIPE = (
    "--variant=essential",
    "--include=python3-minimal,libpython3-stdlib,ca-certificates",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/zoneinfo/*",
)
PYTHON_VERSION = "3.11"
"""The one that the suite has."""


def digest(*parts: object, files: tuple[Path, ...] = ()) -> str:
    """A name for what is made of these parts and the contents of these files."""
    summed = hashlib.sha256(repr(parts).encode())
    for path in files:
        summed.update(path.name.encode() + b"\0" + path.read_bytes())
    return summed.hexdigest()[:16]


def base() -> str:
    """The name of an image with Debian's Python, made at its first use (a minute).

    Errors: HarnessError with what a tool said.
    """
    name = f"localhost/debian-python:{digest(SUITE, BASE_RECIPE)}"
    if exists(name):
        return name
    archive = _storage() / "base.tar"
    archive.parent.mkdir(parents=True, exist_ok=True)
    print("image of Debian and Python: making it once", file=sys.stderr, flush=True)
    _run("mmdebstrap", "--quiet", *BASE_RECIPE, SUITE, str(archive))
    container = _buildah("from", "scratch").strip()
    _buildah("add", container, str(archive), "/")
    _buildah("commit", "--rm", container, name)
    archive.unlink()
    return name


def exists(name: str) -> bool:
    """Whether the storage has an image of that name."""
    return bool(_buildah("images", "--quiet", "--filter", f"reference={name}").strip())


def build(dockerfile: Path, context: Path, name: str, arguments: Mapping[str, str]) -> None:
    """Builds an image; its base has to be in the storage. Errors: HarnessError."""
    given = [f"--build-arg={key}={value}" for key, value in arguments.items()]
    # Without --layers: their cache takes an ENV that an argument changes for the same.
    _buildah("bud", "--isolation=chroot", "--pull-never", f"--file={dockerfile}",
             f"--tag={name}", *given, str(context))  # fmt: skip
    _buildah("rmi", "--prune")  # what had the name before


def write_layout(name: str, layout: Path, tag: str) -> None:
    """Adds an image to an OCI layout on disk. Errors: HarnessError."""
    _buildah("push", name, f"oci:{layout}:{tag}")


def aside(target: Path) -> Path:
    """An empty folder beside `target`, to be renamed to it when it is complete."""
    partial = target.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    return partial


def _storage() -> Path:
    return cache_folder() / "buildah"


def _buildah(*arguments: str) -> str:
    root, run = (f"--{name}={_storage() / name}" for name in ("root", "runroot"))
    return _run("buildah", "--storage-driver=overlay", root, run, *arguments)


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
