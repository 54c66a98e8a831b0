"""Figures of resolution: the command line cold, the controller's path warm, memory. `make bench`.

`OLMV1_BENCH_TIMES` makes the four catalogs so many times as large (default 1: 100 MB each).
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import orjson

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter
from api.olm.v1.kinds import CATALOG
from e2e.harness.images import Compression, catalog_image
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.manifests import catalog, installer, namespace
from e2e.olm.programs import Olm
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.memory import return_unused
from olm_runtime.watch.lister import listed
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogs import CatalogClient
from operator_controller.resolve import Request, resolve
from tests.bench.processes import resident_mib
from tests.bench.worlds import olm_world

CATALOGS = 4
PACKAGES = 100
BUNDLES = 40
BUNDLE_BYTES = 25_000
IN_USE = 50
WARM = 500
COLD = 5
TIMES = int(os.environ.get("OLMV1_BENCH_TIMES", "1"))
CORPUS = Path(os.environ.get("OLMV1_CORPUS", Path(__file__).parents[3] / "shared" / "corpus"))


def main() -> None:
    """Measure and print a table, then the same as JSON."""
    figures = {}
    if (CORPUS / "catalog").is_dir():
        figures["olm resolve, cold, real catalog, median of 5 (ms)"] = cold()
    with olm_world() as (folder, olm, api):
        for number in range(CATALOGS):
            offer(olm, number)
        for number in range(CATALOGS):
            api.wait_condition(catalog_path(f"c{number}"), "Serving", "True", timeout=600)
        figures |= asyncio.run(warm(olm, folder / "cache"))
        figures |= controller(olm, api)
    for key, value in figures.items():
        print(f"{key:60} {value:8.2f}")
    print(json.dumps(figures))


def cold() -> float:
    """A process from nothing to its answer."""
    command = [str(Path(sys.executable).with_name("olm")), "resolve"]
    command += ["--catalog", f"real={CORPUS / 'catalog'}", "--package", "project-quay", "--explain"]
    times = []
    for _ in range(COLD):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def offer(olm: Olm, number: int) -> None:
    files = {f"{i:05}/catalog.json": package(i, number) for i in range(PACKAGES * TIMES)}
    layers = catalog_image(files, compression=Compression.NONE)  # noise, so zlib is time lost
    image = olm.registry.push(layers, f"bench/c{number}", tag="latest")
    olm.control_plane.kubectl("apply", "-f", "-", stdin=prioritised(number, image.tag_reference))


def prioritised(number: int, image: str) -> str:
    """Catalogs of different rank, so that the choice between them is none by chance."""
    return catalog(f"c{number}", image).replace("spec:\n", f"spec:\n  priority: {number}\n")


def package(index: int, catalog_number: int) -> bytes:
    """A package of forty bundles with the metadata that real ones carry, a megabyte in all."""
    name = f"package-{index:05}"
    return b"\n".join(map(orjson.dumps, blobs(name, catalog_number)))


def blobs(name: str, catalog_number: int) -> Iterator[dict[str, object]]:
    yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
    bundles = [f"{name}.v1.{i}.0" for i in range(BUNDLES)]
    noise = Random(f"{name} {catalog_number}")  # what is all the same is refused as a zip bomb
    entries = [
        {"name": each, **({"replaces": bundles[i - 1]} if i else {})}
        for i, each in enumerate(bundles)
    ]
    yield {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries}
    for i, each in enumerate(bundles):
        version = {"packageName": name, "version": f"1.{i}.0"}
        about = {"description": noise.randbytes(BUNDLE_BYTES // 2).hex()}
        yield {
            "schema": "olm.bundle",
            "package": name,
            "name": each,
            "image": f"registry.example.com/{name}:v1.{i}.0",
            "properties": [
                {"type": "olm.package", "value": version},
                {"type": "olm.csv.metadata", "value": about},
            ],
        }


async def warm(olm: Olm, cache: Path) -> dict[str, float]:
    """What a reconcile does: list the catalogs, take the package of each, choose."""
    access = load_access(str(olm.control_plane.kubeconfig))
    async with KubeClient.connect(access) as kube:
        client = CatalogClient(
            await listed(kube, CATALOG), Catalogd(olm.catalogs_ca.parent), CatalogCache(cache)
        )
        client.list_catalogs()
        return_unused()  # as the program does from time to time
        idle = resident_mib(os.getpid())
        first = await once(client, "package-00000")
        for i in range(IN_USE):
            await once(client, f"package-{i:05}")
        times = sorted([await once(client, f"package-{i % IN_USE:05}") for i in range(WARM)])
        return_unused()
        after = resident_mib(os.getpid())
        await client.close()
    return {
        f"{CATALOGS} catalogs, each (MB)": PACKAGES * TIMES * BUNDLES * BUNDLE_BYTES / 1e6,
        "first resolution of a package, asked of all four (ms)": first,
        "warm, p50 (ms)": times[WARM // 2],
        "warm, p99 (ms)": times[WARM * 99 // 100],
        "client above idle, 50 packages of 4 catalogs (MiB)": after - idle,
    }


def controller(olm: Olm, api: Api) -> dict[str, float]:
    """The memory of operator-controller itself, before and after extensions were resolved.

    They ask for a version that no catalog has, so that nothing but resolving is done for them.
    """
    if olm.operator_controller is None:
        raise RuntimeError("operator-controller does not run")
    process = olm.operator_controller.pid
    idle = resident_mib(process)
    olm.control_plane.kubectl(
        "apply", "-f", "-", stdin=namespace("bench") + "---" + installer("bench")
    )
    names = [f"package-{i:05}" for i in range(IN_USE)]
    resolve_all(olm, api, names[:1])
    first = resident_mib(process)
    resolve_all(olm, api, names[1:])
    after = resident_mib(process)
    return {
        "operator-controller, idle (MiB)": idle,
        "operator-controller above idle, 1 extension (MiB)": first - idle,
        f"operator-controller above idle, {IN_USE} extensions (MiB)": after - idle,
    }


def resolve_all(olm: Olm, api: Api, names: list[str]) -> None:
    olm.control_plane.kubectl("apply", "-f", "-", stdin="---".join(map(extension, names)))
    for name in names:
        api.wait_condition(
            extension_path(name), "Progressing", "True", message="no bundles found", timeout=120
        )


def extension(package: str) -> str:
    return f"""
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {{name: {package}}}
spec:
  namespace: bench
  serviceAccount: {{name: installer}}
  source: {{sourceType: Catalog, catalog: {{packageName: {package}, version: 99.x}}}}
"""


async def once(client: CatalogClient, name: str) -> float:
    started = time.perf_counter()
    desired = CatalogFilter(package_name=name, version="1.x")
    installed = BundleMetadata(name=f"{name}.v1.20.0", version="1.20.0")
    found = resolve(
        Request(desired, installed), await client.contents(client.list_catalogs(), name)
    )
    if found.bundle != f"{name}.v1.21.0":
        raise RuntimeError(f"chose {found.bundle}")
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    main()
