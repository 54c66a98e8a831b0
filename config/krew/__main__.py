"""Makes the archives of `kubectl olm` and an index of them for krew: `make krew` writes build/krew.

An archive is for one platform. It has our package, the libraries of requirements/runtime.txt for
each version of Python, and a launcher that takes the Python that is there. Libraries that are the
same for all versions are in it once; those of daemons alone are left out. The same files give the
same archive.

The index is plugins/olm.yaml with the archives' digests, and with the address below which they are
published (KREW_URL).
"""

import argparse
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
MANIFEST = ROOT / "plugins" / "olm.yaml"
REQUIREMENTS = ROOT / "requirements" / "runtime.txt"
LAUNCHER = ("kubectl-olm", "run.py")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS: Mapping[str, str] = {
    "linux/amd64": "x86_64-manylinux_2_28",
    "linux/arm64": "aarch64-manylinux_2_28",
    "darwin/arm64": "aarch64-apple-darwin",
}
"""Krew's name of a platform, and uv's."""
OF_DAEMONS = frozenset(
    {
        *("fastapi", "graphql-core", "grpcio", "grpcio-health-checking", "grpcio-reflection"),
        *("iso8601", "kopf", "prometheus-client", "protobuf", "python-json-logger"),
        *("starlette", "uvicorn"),
    }
)
"""Libraries that no command of `olm` imports."""
OF_THIS_MACHINE = ("direct_url.json", "INSTALLER", "REQUESTED", "uv_build.json", "uv_cache.json")
"""What an installer notes of itself next to a library."""
_NAME = re.compile(r"[a-z0-9._-]+")


def main() -> None:
    """Writes archives and index; prints where they are."""
    parser = argparse.ArgumentParser(prog="python -m config.krew", description=__doc__)
    parser.add_argument("--python", action="append", help=f"default: {', '.join(PYTHONS)}")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="default: all")
    parser.add_argument("--url", required=True, help="the address below which archives will be")
    parser.add_argument("--compression", type=int, default=6, help="1 is quick, 9 is small")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "krew")
    given = parser.parse_args()
    shutil.rmtree(given.output, ignore_errors=True)
    (given.output / "plugins").mkdir(parents=True)
    archives = {}
    for platform in given.platform or PLATFORMS:
        path = given.output / f"kubectl-olm_{platform.replace('/', '_')}.tar.gz"
        make_archive(path, platform, given.python or PYTHONS, given.compression)
        archives[platform] = path
        sys.stdout.write(f"{path}  {path.stat().st_size >> 20} MiB\n")
    index = given.output / "plugins" / MANIFEST.name
    index.write_text(yaml.safe_dump(manifest(archives, given.url), sort_keys=False))
    sys.stdout.write(f"{index}\n")


def make_archive(target: Path, platform: str, pythons: Sequence[str], compression: int) -> None:
    """Writes the archive for a platform."""
    with tempfile.TemporaryDirectory(prefix="olm-krew-") as work:
        folder = Path(work)
        wheel = _wheel(folder / "wheel")
        chosen = folder / "requirements.txt"
        chosen.write_text(without(REQUIREMENTS.read_text(), OF_DAEMONS))
        lib = folder / "archive" / "lib"
        for python in pythons:
            _install(lib / python, PLATFORMS[platform], python, "-r", chosen, "--require-hashes")
            _install(lib / python, PLATFORMS[platform], python, wheel)
        _share(lib, [lib / python for python in pythons])
        for name in LAUNCHER:
            shutil.copy(HERE / name, lib.parent / name)
        shutil.copy(ROOT / "LICENSE", lib.parent / "LICENSE")
        _write(target, lib.parent, compression)


def manifest(archives: Mapping[str, Path], url: str) -> dict[str, Any]:
    """The manifest of the repository for these archives."""
    found: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
    platforms = []
    for each in found["spec"]["platforms"]:
        labels = each["selector"]["matchLabels"]
        path = archives.get(f"{labels['os']}/{labels['arch']}")
        if path is not None:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            platforms.append({**each, "uri": f"{url.rstrip('/')}/{path.name}", "sha256": digest})
    found["spec"]["platforms"] = platforms
    return found


def without(requirements: str, names: Iterable[str]) -> str:
    """Requirements, with the lines of their hashes, less those of some names."""
    left_out = frozenset(names)
    blocks = re.split(r"\n(?=[a-z])", requirements)
    return "\n".join(block for block in blocks if _name_of(block) not in left_out)


def _name_of(block: str) -> str:
    match = _NAME.match(block)
    return match[0] if match else ""


def _wheel(folder: Path) -> Path:
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # what was deleted since would be in
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    _run(*pip, "--wheel-dir", str(folder), str(ROOT))
    [found] = folder.glob("*.whl")
    return found


def _install(target: Path, platform: str, python: str, *what: str | Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    where = ("--target", target, "--python-platform", platform, "--python-version", python)
    _run(uv, "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", *where, *what)


def _run(*argv: str | Path) -> None:
    subprocess.run([str(word) for word in argv], check=True)


def _share(lib: Path, versions: Sequence[Path]) -> None:
    """Moves what all versions of Python have alike to a folder of its own."""
    shared = lib / "any"
    shared.mkdir()
    for version in versions:
        for name in ("bin", ".lock"):
            _remove(version / name)
        for name in OF_THIS_MACHINE:
            for path in version.glob(f"*.dist-info/{name}"):
                path.unlink()
    first, *others = versions
    if not others:
        return
    for entry in sorted(first.iterdir()):
        digest = _digest(entry)
        if all(_digest(other / entry.name) == digest for other in others):
            entry.rename(shared / entry.name)
            for other in others:
                _remove(other / entry.name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    """Of a file, or of all files below a folder and their names; RECORD lists its neighbours."""
    digest = hashlib.sha256()
    for file in _files(path) if path.is_dir() else [path]:
        if file.name != "RECORD" and file.is_file():
            digest.update(f"{file.relative_to(path)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if "__pycache__" not in path.parts)


def _write(target: Path, folder: Path, compression: int) -> None:
    """Krew reads folders and plain files; no time and no owner, so that it is always the same."""
    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=compression, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive,
    ):
        for path in _files(folder):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path.name == LAUNCHER[0] else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)


if __name__ == "__main__":
    main()
