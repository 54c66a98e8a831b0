"""Figures of `olm search`, from the start of the program to its last line.

    PYTHONPATH=. python tests/bench/bench_search.py [FOLDER...]

Four generated catalogs, and each folder given. `first`: nothing is kept yet.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import orjson

CATALOGS, PACKAGES, BUNDLES = 4, 300, 20
TEXT_BYTES = 4_000
WARM = 15


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as name:
        made = [generated(Path(name), number) for number in range(CATALOGS)]
        cache = Path(name, "cache")
        for title, folders in (
            (f"{CATALOGS} generated catalogs of {PACKAGES} packages", made),
            *((folder, [Path(folder)]) for folder in sys.argv[1:]),
        ):
            size = sum(f.stat().st_size for each in folders for f in each.rglob("*") if f.is_file())
            first = run(folders, cache)
            warm = sorted(run(folders, cache) for _ in range(WARM))
            print(f"{title}, {size / 1e6:.0f} MB")
            print(f"  first {first:6.0f} ms")
            print(f"  kept  {statistics.median(warm):6.0f} ms median, {warm[-1]:.0f} ms worst")


def run(folders: list[Path], cache: Path) -> float:
    """One search, in ms."""
    command = [str(Path(sys.executable).with_name("olm")), "search", "operator", "storage"]
    command += [f"--catalog={folder}" for folder in folders]
    started = time.perf_counter()
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return (time.perf_counter() - started) * 1000


def generated(root: Path, number: int) -> Path:
    """A catalog as large as real ones, from a fixed seed."""
    folder = root / f"catalog-{number}"
    folder.mkdir()
    noise = Random(number)
    lines = (orjson.dumps(blob) for at in range(PACKAGES) for blob in package(at, noise))
    (folder / "catalog.json").write_bytes(b"\n".join(lines))
    return folder


def package(at: int, noise: Random) -> Iterator[dict[str, object]]:
    """The blobs of a package with a chain of bundles."""
    name = f"package-{at:04}-operator"
    words = [noise.choice(("storage", "queue", "mesh", "logs", "keys")) for _ in range(3)]
    names = [f"{name}.v1.{each}.0" for each in range(BUNDLES)]
    entries = [
        {"name": each} | ({"replaces": names[i - 1]} if i else {}) for i, each in enumerate(names)
    ]
    yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
    yield {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries}
    for each, bundle in enumerate(names):
        csv = {
            "displayName": name.title(),
            "keywords": words,
            "provider": {"name": "Example"},
            "description": noise.randbytes(TEXT_BYTES // 2).hex(),
        }
        version = {"packageName": name, "version": f"1.{each}.0"}
        yield {
            "schema": "olm.bundle",
            "package": name,
            "name": bundle,
            "image": f"registry.example.com/{bundle}",
            "properties": [
                {"type": "olm.package", "value": version},
                {"type": "olm.csv.metadata", "value": csv},
            ],
        }


if __name__ == "__main__":
    main()
