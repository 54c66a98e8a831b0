"""Builds the greeter's images with buildah on a base of Debian packages; no engine, no registry.

The result is an OCI layout in the cache, named by everything that went into it, with a tag a
version. Only root can do this.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from e2e.harness.errors import HarnessError
from e2e.harness.gobuild import cache_folder
from e2e.harness.images import Image, image_in_layout

FOLDER = Path(__file__).parent
WORDS = {"0.1.0": "Hello", "0.2.0": "Good day"}
"""What each version says; the only difference between them."""
BASE = "localhost/greeter-base"
SUITE = "bookworm"
BASE_RECIPE = (
    "--variant=essential",
    "--include=python3-minimal,libpython3-stdlib",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    "--dpkgopt=path-exclude=/usr/share/zoneinfo/*",
)


def layout() -> Path:
    """The layout with all versions, from the cache or built now (two minutes).

    Errors: HarnessError with what a tool said.
    """
    digest = hashlib.sha256(repr((SUITE, BASE_RECIPE, WORDS)).encode())
    for name in ("Dockerfile", "main.py"):
        digest.update((FOLDER / name).read_bytes())
    target = cache_folder() / "greeter" / digest.hexdigest()[:16]
    if not target.is_dir():
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        print("greeter: building its images once", file=sys.stderr, flush=True)
        _build(partial)
        partial.replace(target)
    return target


def image(version: str) -> Image:
    """The image of one version. Errors: HarnessError."""
    return image_in_layout(layout(), version)


def _build(target: Path) -> None:
    storage = cache_folder() / "buildah"
    buildah = ("buildah", "--storage-driver=overlay", f"--root={storage / 'root'}",
               f"--runroot={storage / 'run'}")  # fmt: skip
    archive = target.with_suffix(".tar")
    _run("mmdebstrap", "--quiet", *BASE_RECIPE, SUITE, str(archive))
    container = _run(*buildah, "from", "scratch").strip()
    _run(*buildah, "add", container, str(archive), "/")
    _run(*buildah, "commit", "--rm", container, BASE)
    archive.unlink()
    for version, words in WORDS.items():
        name = f"localhost/greeter:{version}"
        _run(*buildah, "bud", "--isolation=chroot", "--pull-never", f"--tag={name}",
             f"--build-arg=BASE={BASE}", f"--build-arg=VERSION={version}",
             f"--build-arg=WORDS={words}", str(FOLDER))  # fmt: skip
        _run(*buildah, "push", name, f"oci:{target}:{version}")


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
