"""`opm mirror` beside skopeo: the same images between two registries on loopback, in turns.

Run: python -m tests.bench.bench_mirror [--runs N] [--bundles N] [--operands N] [--megabytes N]

Images are a catalog of bundles, each of which names an operand for two platforms; operands share
layers. Each run fills a new registry, over TLS. skopeo (Debian package `skopeo`) copies them both
ways it has: `skopeo copy --all` for each image, and `skopeo sync --all` of all by one process.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from e2e.harness.images import Platform, build_image, build_index, bundle_image, catalog_image
from e2e.harness.registry import Registry
from tests.bench.bench_opm import Cost, cost, typical

BUNDLE = Path(__file__).parents[2] / "e2e" / "demo" / "bundles" / "hello-operator" / "0.1.0"
PLATFORMS = (Platform(), Platform(architecture="arm64"))
MIB = 1 << 20
TARGET_PATH = "mirrored"


@dataclass(frozen=True, slots=True)
class Published:
    """What is to be copied: references by tag, of which the first is the catalog's."""

    registry: Registry
    catalog: str
    images: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """The catalog and its images."""
        return (self.catalog, *self.images)


def publish(registry: Registry, *, bundles: int, operands: int, megabytes: int) -> Published:
    """Pushes a catalog; an operand's own layer has `megabytes`, that of all twice as many."""
    chance = random.Random(18)
    shared = {"base": chance.randbytes(2 * megabytes * MIB)}
    blobs: list[dict[str, object]] = []
    images: list[str] = []
    pushed = []
    for number in range(operands):
        parts = [
            build_image([shared, {"own": chance.randbytes(megabytes * MIB)}], platform=platform)
            for platform in PLATFORMS
        ]
        pushed.append(registry.push(build_index(parts), f"team/operand-{number}", tag="v1"))
    bundle = bundle_image(BUNDLE)
    for number in range(bundles):
        package = f"package-{number}"
        there = registry.push(bundle, f"team/{package}", tag="v1")
        operand = pushed[number % len(pushed)]
        blobs += _package(package, there.reference, operand.reference)
        images.append(f"{registry.address}/team/{package}:v1")
    images += [f"{registry.address}/team/operand-{number}:v1" for number in range(operands)]
    text = "\n".join(map(json.dumps, blobs)).encode()
    registry.push(catalog_image({"index.json": text}), "team/catalog", tag="v1")
    return Published(registry, f"{registry.address}/team/catalog:v1", tuple(images))


def _package(package: str, image: str, operand: str) -> list[dict[str, object]]:
    name, value = f"{package}.v1.0.0", {"packageName": package, "version": "1.0.0"}
    return [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {
            "schema": "olm.channel",
            "package": package,
            "name": "stable",
            "entries": [{"name": name}],
        },
        {
            "schema": "olm.bundle",
            "package": package,
            "name": name,
            "image": image,
            "properties": [{"type": "olm.package", "value": value}],
            "relatedImages": [{"name": "operand", "image": operand}],
        },
    ]


@contextmanager
def new_mirror(source: Registry, work: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """An empty registry: its address, and an environment in which both are trusted."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        home = Path(folder, "home")
        home.mkdir()
        with Registry(Path(folder, "registry")) as mirror:
            files = [r.ca_file for r in (source, mirror) if r.ca_file]
            trusted = home / "ca.pem"
            trusted.write_bytes(b"".join(file.read_bytes() for file in files))
            variables = {"HOME": str(home), "SSL_CERT_FILE": str(trusted), "TMPDIR": folder}
            yield mirror.address, os.environ | variables


def by_opm(published: Published, mirror: str, home: Path) -> Sequence[str]:
    """The command of ours."""
    opm = str(Path(sys.executable).with_name("opm"))
    target, files = f"{mirror}/{TARGET_PATH}", str(home / "files")
    return [opm, "mirror", published.catalog, target, "--output-dir", files]


def by_skopeo_copy(published: Published, mirror: str, home: Path) -> Sequence[str]:
    """A copy for each image."""
    lines = ["set -e"]
    for image in published.all:
        target = f"{mirror}/{TARGET_PATH}/{image.partition('/')[2]}"
        lines.append(f"skopeo copy -q --all docker://{image} docker://{target}")
    script = home / "copy.sh"
    script.write_text("\n".join(lines))
    return ["sh", str(script)]


def by_skopeo_sync(published: Published, mirror: str, home: Path) -> Sequence[str]:
    """All images by one process."""
    images = {image.partition("/")[2].partition(":")[0]: ["v1"] for image in published.all}
    file = home / "sync.yaml"
    file.write_text(yaml.safe_dump({published.registry.address: {"images": images}}))
    target = f"{mirror}/{TARGET_PATH}"
    return ["skopeo", "sync", "--all", "--src", "yaml", "--dest", "docker", str(file), target]


WAYS: dict[str, Callable[[Published, str, Path], Sequence[str]]] = {
    "opm mirror": by_opm,
    "skopeo copy --all, each": by_skopeo_copy,
    "skopeo sync --all": by_skopeo_sync,
}


def main() -> None:
    """Prints a line for each way, and what ours takes beside it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--bundles", type=int, default=40)
    arguments.add_argument("--operands", type=int, default=10)
    arguments.add_argument("--megabytes", type=int, default=10)
    given = arguments.parse_args()
    ways = {name: way for name, way in WAYS.items() if "skopeo" not in name or _has_skopeo()}
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder, Registry(Path(folder, "source")) as source:
        published = publish(
            source, bundles=given.bundles, operands=given.operands, megabytes=given.megabytes
        )
        for _ in range(given.runs):
            for name, way in ways.items():
                with new_mirror(source, Path(folder)) as (mirror, environment):
                    command = way(published, mirror, Path(environment["HOME"]))
                    costs[name].append(cost(command, environment))
    _show(costs)


def _has_skopeo() -> bool:
    return shutil.which("skopeo") is not None


def _show(costs: dict[str, list[Cost]]) -> None:
    ours = costs["opm mirror"]
    for name, found in costs.items():
        here = typical(found)
        ratios = [mine.wall / other.wall for mine, other in zip(ours, found, strict=True)]
        print(
            f"{name:26} {here.wall:6.2f} s {here.cpu:6.2f} CPU s"
            f"   opm takes {statistics.median(ratios):.2f} of it"
            f" ({min(ratios):.2f} to {max(ratios):.2f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
