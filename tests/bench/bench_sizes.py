"""Time and memory against the size of a catalog, and the number of objects of a bundle.

    python -m tests.bench.bench_sizes --json build/sizes.json

Catalogs are those of `bench_catalogd`, bundles have ConfigMaps of a line each. Everything is real.
"""

import argparse
import json
import time
from pathlib import Path

import yaml

from e2e.harness.images import catalog_image
from e2e.olm.api import OLM, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import catalog, extension, installer, namespace
from tests.bench.bench_catalogd import Bench, generate
from tests.bench.controller_world import VERSIONS, World
from tests.bench.processes import status_mib
from tests.bench.worlds import olm_world

MEGABYTES = (1, 10, 33, 66, 132, 264)
OBJECTS = (10, 50, 100, 200, 400)
Figures = dict[str, dict[str, float]]


def catalogs() -> Figures:
    """New catalogs of each size: seconds, processor seconds and peak MiB until they are served."""
    with Bench() as bench:
        return {
            str(size): bench.ingest(f"of-{size}", {"catalog.json": b"".join(generate(size))})
            for size in MEGABYTES
        }


def objects() -> Figures:
    """Bundles of each size: seconds and processor seconds of an installation, most MiB so far."""
    with olm_world() as (_, olm, api):
        world, registry = World(olm, api, 0), olm.registry
        specs = {f"of-{count}": _bundle(count) for count in OBJECTS}
        blobs = [package_blobs([spec.publish(registry)]) for spec in specs.values()]
        pushed = registry.push(catalog_image(catalog_files(blobs)), "sizes", tag="latest")
        world.apply(catalog("sizes", pushed.tag_reference))
        api.wait_condition(catalog_path("sizes"), "Serving", "True")
        return {str(count): _install(world, f"of-{count}") for count in OBJECTS}


def _bundle(count: int) -> BundleSpec:
    names = [f"map-{number}" for number in range(count)]
    return BundleSpec(package=f"of-{count}", version=VERSIONS[0], configmaps=names)


def _install(world: World, package: str) -> dict[str, float]:
    world.apply(namespace(package), installer(package))
    world.quiet()
    cpu, started = world.cpu(), time.monotonic()
    world.create_many(f"{OLM}/clusterextensions", [yaml.safe_load(extension(package))])
    world.api.wait_installed(package, VERSIONS[0])
    seconds = time.monotonic() - started
    world.quiet()
    return {
        "seconds": round(seconds, 2),
        "cpu_s": round(world.cpu() - cpu, 2),
        "peak_mib": round(status_mib(world.controller, "VmHWM")),
    }


def main() -> None:
    """Measure, print; JSON where it was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args()
    found = {"catalogs": catalogs(), "objects": objects()}
    print(json.dumps(found, indent=2))
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
