"""Figures of OLM Classic's resolution: four catalogs of 330 packages each, as for catalogd.

Run: python tests/bench/bench_classic_resolution.py [--megabytes 141]

Each catalog is served by `opm serve`'s server on loopback and read by catalog-operator's parts.
Every other package requires an API of another, so that a plan has two bundles.
"""

import argparse
import asyncio
import gc
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from olm_catalogs.io.cache import make_cache, open_cache
from olm_catalogs.io.server import make_server
from olm_classic.io.registry import RegistryConnection, Target
from olm_classic.io.resolution import Resolver
from olm_classic.io.snapshots import Snapshots
from olm_classic.resolve import Namespace, Resolution, SourceKey
from olm_runtime.clocks import utc_now
from tests.bench.bench_catalogd import generate
from tests.bench.processes import resident_mib

CATALOGS = 4
WARM = 50
LOADED_SECONDS = 2.0
"""In which a process that waits has loaded its modules."""
KEYS = [SourceKey(f"c{number}", "olm") for number in range(CATALOGS)]


def main() -> None:
    """Measures and prints a table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=141)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="olmv1-bench-") as name:
        figures = asyncio.run(measure(Path(name), given.megabytes))
    for key, value in figures.items():
        print(f"{key:64} {value:8.1f}")
    print(json.dumps(figures))


async def measure(folder: Path, megabytes: int) -> dict[str, float]:
    source = folder / "catalog"
    source.mkdir()
    (source / "catalog.json").write_bytes(b"".join(documents(megabytes)))
    make_cache(folder / "cache", source)
    snapshots = Snapshots(folder / "snapshots")
    catalog = open_cache(folder / "cache", source)
    packages = sorted(catalog.index.packages)
    server = make_server(catalog)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    connection = RegistryConnection(Target(f"127.0.0.1:{port}"), lambda: None, clock=utc_now)
    try:
        indexed = await index(snapshots, connection)
    finally:
        await connection.close()
        await server.stop(None)
    return {
        "packages of each of four catalogs": len(packages),
        **indexed,
        **await resolved(snapshots, packages),
    }


async def index(snapshots: Snapshots, connection: RegistryConnection) -> dict[str, float]:
    gc.collect()
    before, started = resident_mib(os.getpid()), time.perf_counter()
    for key in KEYS:
        await snapshots.refresh(key, connection)
    seconds = (time.perf_counter() - started) / CATALOGS
    gc.collect()
    reader = snapshots.reader(KEYS[0])
    size = reader.file.stat().st_size / 1e6 if reader else 0.0
    return {
        "to write the index of a catalog (s)": seconds,
        "an index on disk (MB)": size,
        "process above before, four indexes written (MiB)": resident_mib(os.getpid()) - before,
    }


async def resolved(snapshots: Snapshots, packages: list[str]) -> dict[str, float]:
    colds, prepared, before = [], [], processor_of_children()
    for _ in range(5):
        cold = Resolver()
        colds.append(await once(cold, snapshots, packages[0]))
        await cold.close()
    processor = (processor_of_children() - before) / 5
    for _ in range(5):
        cold = Resolver()
        cold.prepare()
        await asyncio.sleep(LOADED_SECONDS)
        prepared.append(await once(cold, snapshots, packages[0]))
        await cold.close()
    resolver = Resolver()
    await once(resolver, snapshots, packages[0])
    warms = [await once(resolver, snapshots, packages[0]) for _ in range(WARM)]
    others = [await once(resolver, snapshots, name) for name in packages[10 : 10 + WARM]]
    for name in packages:
        await once(resolver, snapshots, name)
    (worker,) = resolver._idle
    memory = resident_mib(worker._process.pid)
    await resolver.close()
    return {
        "resolution cold: a new process, median of 5 (ms)": statistics.median(colds),
        "processor time of that process and the resolution (ms)": processor * 1000,
        "resolution cold: a process that waited, median of 5 (ms)": statistics.median(prepared),
        "warm, p50 (ms)": statistics.median(warms),
        "process warm, package never read before, p50 (ms)": statistics.median(others),
        "process after all packages (MiB)": memory,
    }


async def once(resolver: Resolver, snapshots: Snapshots, package: str) -> float:
    started = time.perf_counter()
    found = await resolver.resolve_namespace(namespace(snapshots, package))
    check(found, package)
    return (time.perf_counter() - started) * 1000


def check(found: Resolution, package: str) -> None:
    if not any(each.entry.package == package for each in found.planned):
        raise RuntimeError(f"{package} is not in the plan")


def namespace(snapshots: Snapshots, package: str) -> Namespace:
    spec = {"name": package, "source": "c1", "sourceNamespace": "olm"}
    return Namespace(
        "ns",
        "olm",
        ({"metadata": {"name": "og"}, "spec": {}},),
        ({"metadata": {"name": "s"}, "spec": spec},),
        (),
        tuple(snapshots.catalog(key, number) for number, key in enumerate(KEYS)),
    )


def documents(megabytes: int) -> Iterator[bytes]:
    """The catalog of catalogd's figures, with APIs."""
    for text in generate(megabytes):
        value = orjson.loads(text)
        if value["schema"] == "olm.bundle":
            number = int(value["package"].rpartition("-")[2])
            value["properties"].append(api("olm.gvk", number))
            if number % 2:
                value["properties"].append(api("olm.gvk.required", number - 1))
        yield orjson.dumps(value) + b"\n"


def api(kind: str, number: int) -> dict[str, object]:
    value = {"group": "example.com", "version": "v1", "kind": f"Kind{number}"}
    return {"type": kind, "value": value}


def processor_of_children() -> float:
    """Seconds that processes took which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
