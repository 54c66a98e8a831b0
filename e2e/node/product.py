"""An image of our programs for the node: their dependencies once, their sources as they are now."""

import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from e2e.harness.errors import HarnessError
from e2e.harness.gobuild import cache_folder
from e2e.harness.images import Image, image_in_layout
from e2e.node import buildah

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements" / "runtime.txt"
PACKAGES = ("api", "olm_shared", "catalogd", "operator_controller", "opm", "olm_cli")
DEPENDENCIES = Path(__file__).with_name("dependencies.Dockerfile")
PROGRAMS = Path(__file__).with_name("programs.Dockerfile")
TAG = "tested"


def product_image() -> Image:
    """The image, from the cache or built now. Errors: HarnessError."""
    return image_in_layout(layout(), TAG)


def layout() -> Path:
    """The OCI layout with the image, from the cache or built now. Errors: HarnessError."""
    dependencies = _dependencies()
    files = tuple(path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    key = buildah.digest(dependencies, files=(PROGRAMS, ROOT / "pyproject.toml", *files))
    target = cache_folder() / "programs" / key
    if not target.is_dir():
        shutil.rmtree(target.parent, ignore_errors=True)  # of other states of the sources
        partial = buildah.aside(target)
        name = f"localhost/olmv1:{TAG}"
        with _programs() as context:
            buildah.build(PROGRAMS, context, name, {"BASE": dependencies})
        buildah.write_layout(name, partial, TAG)
        partial.replace(target)
    return target


def _dependencies() -> str:
    base = buildah.base()
    key = buildah.digest(base, files=(REQUIREMENTS, DEPENDENCIES))
    name = f"localhost/olmv1-dependencies:{key}"
    if not buildah.exists(name):
        print("image of our dependencies: making it once", file=sys.stderr, flush=True)
        with TemporaryDirectory() as folder:
            _install(Path(folder, "site"))
            buildah.build(DEPENDENCIES, Path(folder), name, {"BASE": base})
    return name


def _install(target: Path) -> None:
    argv = (
        *(str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet"),
        *("--require-hashes", "--only-binary=:all:", "--link-mode=copy", f"--target={target}"),
        f"--python-version={buildah.PYTHON_VERSION}",
        f"--python-platform={platform.machine()}-manylinux_2_28",
        f"--requirement={REQUIREMENTS}",
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HarnessError(f"{' '.join(argv)}: {done.stderr.strip()}")


@contextmanager
def _programs() -> Iterator[Path]:
    """A folder with the sources, and the console scripts that an installation would make."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for package in PACKAGES:
            source, target = ROOT / package, folder / "programs" / package
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "bin").mkdir()
        for name, entry in scripts.items():
            module, function = entry.split(":")
            script = folder / "bin" / name
            script.write_text(
                f"#!/usr/bin/python3\nimport sys\n\nfrom {module} import {function}\n\n"
                f"sys.exit({function}())\n"
            )
            script.chmod(0o755)
        yield folder
