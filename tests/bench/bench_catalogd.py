"""Measures catalogd: ingest, answers, restart. Prints a table; `--json FILE` writes the figures.

Everything is real: API server, registry, TLS on loopback. The catalog is generated from a seed,
with blobs as large and as alike as those of real catalogs; `--folder` takes another one.

    python -m tests.bench.bench_catalogd --megabytes 132
    python -m tests.bench.bench_catalogd --megabytes 1000 --ingest-only
"""

import argparse
import asyncio
import json
import random
import ssl
import statistics
import string
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvloop

from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.olm.api import OLM, Api, catalog_path
from e2e.olm.programs import Olm

NAME = "bench"
SEED = 20260101
MEAN_BLOB = 19_000
BUNDLES_PER_PACKAGE = 21
ROUND_SECONDS = 3.0
PARTS = ("ingest", "restart", "serving")


def generate(megabytes: int) -> Iterator[bytes]:
    """FBC as indented JSON; bundles of a package repeat most of their text, as versions do."""
    chance = random.Random(SEED)
    letters = string.ascii_lowercase
    words = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(4000)]
    size, number = 0, 0
    while size < megabytes * 1_000_000:
        package = f"package-{number}"
        common = " ".join(chance.choices(words, k=int(MEAN_BLOB / 9)))
        documents: list[dict[str, Any]] = [
            {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
            {
                "schema": "olm.channel",
                "package": package,
                "name": "stable",
                "entries": [{"name": f"{package}.v1.{n}.0"} for n in range(BUNDLES_PER_PACKAGE)],
            },
        ]
        for n in range(BUNDLES_PER_PACKAGE):
            own = " ".join(chance.choices(words, k=int(chance.expovariate(1 / 400))))
            version = {"packageName": package, "version": f"1.{n}.0"}
            documents.append(
                {
                    "schema": "olm.bundle",
                    "package": package,
                    "name": f"{package}.v1.{n}.0",
                    "image": f"quay.io/org/{package}@sha256:{chance.randbytes(32).hex()}",
                    "properties": [
                        {"type": "olm.package", "value": version},
                        {"type": "olm.csv.metadata", "value": {"description": common + own}},
                    ],
                }
            )
        for document in documents:
            text = json.dumps(document, indent=4).encode() + b"\n"
            size += len(text)
            yield text
        number += 1


@dataclass(slots=True)
class Usage:
    """Of a process tree: seconds of processor time, and the most memory at one moment, in MiB."""

    cpu: float = 0.0
    peak: float = 0.0


def tree(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += tree(int(child))
    return found


def resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def processor(pid: int) -> float:
    """Own time and that of ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100


async def watch(pid: int, usage: Usage) -> None:
    start = processor(pid)
    while True:
        try:
            usage.peak = max(usage.peak, sum(resident(p) for p in tree(pid)))
            usage.cpu = processor(pid) - start
        except OSError:
            continue
        finally:
            await asyncio.sleep(0.02)


@dataclass(frozen=True, slots=True)
class Load:
    """What one client process does."""

    port: int
    ca: str
    targets: tuple[str, ...]
    headers: str
    connections: int
    seconds: float


def run_load(load: Load) -> tuple[list[float], int]:
    """Latencies in seconds and bytes of bodies, of one client process."""
    return uvloop.run(_run_load(load))


async def _run_load(load: Load) -> tuple[list[float], int]:
    trusted = ssl.create_default_context(cafile=load.ca)
    end = time.perf_counter() + load.seconds
    done = await asyncio.gather(*(_client(load, trusted, end, n) for n in range(load.connections)))
    return [t for times, _ in done for t in times], sum(size for _, size in done)


async def _client(
    load: Load, trusted: ssl.SSLContext, end: float, number: int
) -> tuple[list[float], int]:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", load.port, ssl=trusted, server_hostname="localhost", limit=4 << 20
    )
    chance = random.Random(number)
    times, size = [], 0
    while time.perf_counter() < end:
        target = chance.choice(load.targets)
        started = time.perf_counter()
        writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n{load.headers}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith((b"http/1.1 200", b"http/1.1 304")):
            raise RuntimeError(head.decode())
        left = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
        if head.startswith(b"http/1.1 304"):
            left = 0
        size += left
        while left:
            left -= len(await reader.read(min(left, 1 << 20)))
        times.append(time.perf_counter() - started)
    writer.close()
    return times, size


def measure(pool: ProcessPoolExecutor, load: Load, clients: int) -> dict[str, float]:
    """Requests a second, MB a second, and milliseconds at the median and the 99th percentile."""
    workers = min(clients, 2)
    per_worker = max(1, clients // workers)
    loads = [Load(load.port, load.ca, load.targets, load.headers, per_worker, load.seconds)]
    started = time.perf_counter()
    results = list(pool.map(run_load, loads * workers))
    took = time.perf_counter() - started
    times = sorted(t for found, _ in results for t in found)
    return {
        "per_second": round(len(times) / took, 1),
        "mb_per_second": round(sum(size for _, size in results) / took / 1e6, 1),
        "p50_ms": round(statistics.median(times) * 1000, 2),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1000, 2),
    }


def metas(**query: str) -> str:
    return f"/catalogs/{NAME}/api/v1/metas?{urlencode(query)}"


def answers(olm: Olm, etag: str, packages: list[str], bundles: list[str]) -> dict[str, Any]:
    everything = (f"/catalogs/{NAME}/api/v1/all",)
    by_package = tuple(metas(package=package) for package in packages)
    by_name = tuple(
        metas(schema="olm.bundle", package=bundle.partition(".")[0], name=bundle)
        for bundle in bundles
    )
    cases: list[tuple[str, tuple[str, ...], str, tuple[int, ...]]] = [
        ("all plain", everything, "", (1, 8)),
        ("all gzip", everything, "Accept-Encoding: gzip\r\n", (1, 8)),
        ("all zstd", everything, "Accept-Encoding: zstd\r\n", (1, 8)),
        ("all 304", everything, f"If-None-Match: {etag}\r\n", (1, 8)),
        ("metas package", by_package, "", (1, 8, 100)),
        ("metas package gzip", by_package, "Accept-Encoding: gzip\r\n", (1, 8, 100)),
        ("metas name", by_name, "", (1, 8, 100)),
    ]
    port, found = int(olm.catalogs_url.rpartition(":")[2]), {}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for title, targets, headers, clients in cases:
            for count in clients:
                load = Load(port, str(olm.catalogs_ca), targets, headers, 1, ROUND_SECONDS)
                found[f"{title}, {count}"] = measure(pool, load, count)
    return found


async def timed(olm: Olm, work: Callable[[], Awaitable[None]]) -> dict[str, float]:
    if olm.catalogd is None or olm.catalogd.pid is None:
        raise RuntimeError("catalogd does not run")
    usage = Usage()
    watching = asyncio.ensure_future(watch(olm.catalogd.pid, usage))
    started = time.perf_counter()
    await work()
    took = time.perf_counter() - started
    await asyncio.sleep(0.1)
    watching.cancel()
    return {"seconds": round(took, 2), "cpu_s": round(usage.cpu, 2), "peak_mib": round(usage.peak)}


def ingest(olm: Olm, control_plane: ControlPlane, reference: str) -> dict[str, float]:
    body = {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterCatalog",
        "metadata": {"name": NAME},
        "spec": {"source": {"type": "Image", "image": {"ref": reference}}},
    }
    with control_plane.client() as client, Api(control_plane) as api:

        async def work() -> None:
            client.post(f"{OLM}/clustercatalogs", json=body).raise_for_status()
            wait = api.wait_condition
            await asyncio.to_thread(wait, catalog_path(NAME), "Serving", "True", timeout=600)

        return asyncio.run(timed(olm, work))


def restart(olm: Olm, registry: Registry) -> dict[str, float]:
    """From the start of the process to the first byte, with the registry off."""
    registry.stop()
    if olm.catalogd is not None:
        olm.catalogd.stop()
    started = time.perf_counter()
    olm.start_catalogd()
    with olm.client() as client:
        while client.head(f"/catalogs/{NAME}/api/v1/all").status_code != 200:
            time.sleep(0.01)
    return {"seconds": round(time.perf_counter() - started, 2)}


def bench(files: dict[str, bytes], *, ingest_only: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        with ControlPlane(work / "k") as control_plane, Registry(work / "r") as registry:
            olm = Olm(work / "olm", control_plane, registry)
            olm.install()
            pushed = registry.push(catalog_image(files), NAME, tag="v1")
            olm.start_catalogd()
            try:
                found = {"ingest": ingest(olm, control_plane, pushed.tag_reference)}
                if ingest_only:
                    return found
                with olm.client() as client:
                    etag = client.head(
                        f"/catalogs/{NAME}/api/v1/all", headers={"Accept-Encoding": "identity"}
                    ).headers["etag"]
                    channels = client.get(metas(schema="olm.channel")).text.splitlines()
                    bundles = client.get(metas(schema="olm.bundle")).text.splitlines()
                packages = sorted({json.loads(line)["package"] for line in channels})
                names = [json.loads(line)["name"] for line in bundles[:500]]
                found["answers"] = answers(olm, etag, packages, names)
                pid = (olm.catalogd and olm.catalogd.pid) or 0
                found["serving"] = {"mib": round(sum(map(resident, tree(pid))))}
                found["restart"] = restart(olm, registry)
                return found
            finally:
                olm.stop()


def table(found: dict[str, Any]) -> str:
    lines = [f"{part:24} {found[part]}" for part in PARTS if part in found]
    if "answers" not in found:
        return "\n".join(lines)
    columns = ("1/s", "MB/s", "p50 ms", "p99 ms")
    lines.append(f"{'answers, clients':24} " + " ".join(f"{title:>9}" for title in columns))
    for title, row in found["answers"].items():
        lines.append(f"{title:24} " + " ".join(f"{value:9}" for value in row.values()))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=132)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--ingest-only", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.folder:
        root: Path = given.folder
        found = (path for path in root.rglob("*") if path.is_file())
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in found}
    else:
        files = {"catalog.json": b"".join(generate(given.megabytes))}
    figures = bench(files, ingest_only=given.ingest_only)
    sys.stdout.write(table(figures) + "\n")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
