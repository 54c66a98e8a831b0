"""Images built by buildah on the base of our own image, with no engine; only for root.

Storage lies in the cache folder, so a base is made once.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from e2e.harness.errors import CannotRun, HarnessError
from e2e.harness.gobuild import cache_folder

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "image" / "build.sh"
"""What `make image` runs."""
ARCHIVE = ROOT / "build" / "image.tar"
"""What it leaves: an OCI archive."""
MAX_CACHED = 3
"""Images of so many states of the sources are cached: another run may be using one."""
NO_PACKAGES = 3
"""What it ends with where Debian packages cannot be had."""


def digest(*parts: object, files: tuple[Path, ...] = ()) -> str:
    """A name for what is made of these parts and the contents of these files."""
    summed = hashlib.sha256(repr(parts).encode())
    for path in files:
        summed.update(path.name.encode() + b"\0" + path.read_bytes())
    return summed.hexdigest()[:16]


def base() -> str:
    """The name of the image with Debian's Python that ours is made on; made at its first use.

    Errors: CannotRun if Debian packages cannot be had; HarnessError with what a tool said.
    """
    with _alone():
        return _script("--base").strip()


def build_ours(name: str, layout: Path) -> None:
    """Builds the image of our programs as `make image` does, into an OCI layout on disk.

    Its tag there is the name. Errors: as `base`.
    """
    _script(name)
    _run("tar", f"--directory={layout}", "--extract", f"--file={ARCHIVE}")
    _prune()


def build(dockerfile: Path, context: Path, name: str, arguments: Mapping[str, str]) -> None:
    """Builds an image; its base has to be in the storage. Errors: HarnessError."""
    given = [f"--build-arg={key}={value}" for key, value in arguments.items()]
    # Without --layers: their cache takes an ENV that an argument changes for the same.
    _buildah("bud", "--isolation=chroot", "--pull-never", f"--file={dockerfile}",
             f"--tag={name}", *given, str(context))  # fmt: skip
    _prune()


def write_layout(name: str, layout: Path, tag: str) -> None:
    """Adds an image to an OCI layout on disk. Errors: HarnessError."""
    _buildah("push", name, f"oci:{layout}:{tag}")


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """The folder `target`, which `make` fills if it is not there; of its siblings the last stay.

    Two callers at once make it once, and builds of one storage follow each other.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with _alone():
        if not target.is_dir():
            partial = target.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            make(partial)
            partial.replace(target)
            made = sorted(target.parent.iterdir(), key=lambda path: path.stat().st_mtime)
            for old in made[:-MAX_CACHED]:
                shutil.rmtree(old)
    return target


@contextmanager
def _alone() -> Iterator[None]:
    _storage().mkdir(parents=True, exist_ok=True)
    with (_storage() / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _storage() -> Path:
    return cache_folder() / "buildah"


def _prune() -> None:
    _buildah("rm", "--all")  # what a build that failed left, which would hold its images
    _buildah("rmi", "--prune")  # what had a name before


def _buildah(*arguments: str) -> None:
    root, run = (f"--{name}={_storage() / name}" for name in ("root", "runroot"))
    _run("buildah", "--storage-driver=overlay", root, run, *arguments)


def _script(argument: str) -> str:
    done = _done(str(SCRIPT), argument)
    if done.returncode == NO_PACKAGES:
        raise CannotRun(done.stderr.strip().rpartition("\n")[2].removeprefix("error: "))
    return _checked(done)


def _run(*argv: str) -> str:
    return _checked(_done(*argv))


def _done(*argv: str) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ) | {"OLMV1_STORAGE": str(_storage())}
    return subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)


def _checked(done: "subprocess.CompletedProcess[str]") -> str:
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()
        raise HarnessError(f"{' '.join(done.args)}: {said}")
    return done.stdout
