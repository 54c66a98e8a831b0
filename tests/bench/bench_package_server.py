"""Measures package-server behind the API server's proxy. Prints a table.

Everything is real: API server, TLS on loopback, catalogs by `opm serve`. They are generated from a
seed, or given as folders of file-based catalogs.

    python -m tests.bench.bench_package_server
    python -m tests.bench.bench_package_server --catalogs 4 --packages 330
    python -m tests.bench.bench_package_server --folder ../shared/corpus/catalog
"""

import argparse
import random
import statistics
import string
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import yaml

from api.operators.names import V1ALPHA1
from e2e.harness.controlplane import ControlPlane
from e2e.olm.catalog_servers import CatalogServer
from e2e.olm.package_server import NAMESPACE, PackageServer
from e2e.olm.programs import CONFIG
from tests.bench.catalogd.usage import memory

SEED = 20260101
VERSIONS, CHANNELS = 20, 3
DESCRIPTION_WORDS = 1500
ROUNDS = 60
API = f"/apis/packages.operators.coreos.com/v1/namespaces/{NAMESPACE}/packagemanifests"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


def generate(packages: int, number: int) -> Iterator[dict[str, Any]]:
    """A catalog: packages of 3 channels and 20 versions, with texts as long as real ones."""
    chance = random.Random(SEED + number)
    words = ["".join(chance.choices(string.ascii_lowercase, k=7)) for _ in range(4000)]
    for index in range(packages):
        name = f"package-{number}-{index:03}"
        text = " ".join(chance.choices(words, k=DESCRIPTION_WORDS))
        yield {"schema": "olm.package", "name": name, "defaultChannel": "channel-0"}
        names = [f"{name}.v1.{version}.0" for version in range(VERSIONS)]
        for channel in range(CHANNELS):
            last = names[: VERSIONS - channel]
            entries = [
                {"name": each} | ({"replaces": before} if before else {})
                for before, each in zip([None, *last], last, strict=False)
            ]
            yield {
                "schema": "olm.channel", "package": name, "name": f"channel-{channel}",
                "entries": entries,
            }  # fmt: skip
        for version, each in enumerate(names):
            yield {
                "schema": "olm.bundle",
                "package": name,
                "name": each,
                "image": f"registry.example.com/{name}:{version}",
                "properties": [
                    {
                        "type": "olm.package",
                        "value": {"packageName": name, "version": f"1.{version}.0"},
                    },
                    {
                        "type": "olm.csv.metadata",
                        "value": {"displayName": name, "description": text},
                    },
                ],
            }


def install(control_plane: ControlPlane) -> None:
    """The CRDs that package-server reads."""
    definitions = (CONFIG / "crd" / "classic").glob("*.yaml")
    control_plane.apply("\n---\n".join(file.read_text() for file in definitions))
    control_plane.apply((CONFIG / "rbac" / "classic" / "namespaces.yaml").read_text())


def announce(control_plane: ControlPlane, name: str, address: str) -> None:
    """A CatalogSource of a server."""
    source = {
        "apiVersion": V1ALPHA1,
        "kind": "CatalogSource",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"sourceType": "grpc", "address": address, "displayName": name},
    }
    control_plane.apply(yaml.safe_dump(source))


def timed(client: httpx.Client, path: str, **headers: str) -> tuple[float, float, int]:
    """Median and 99th percentile in milliseconds, and the bytes that came over the wire."""
    seconds, size = [], 0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with client.stream("GET", path, headers=headers) as answer:
            size = sum(map(len, answer.iter_raw()))
        seconds.append(time.perf_counter() - begin)
        answer.raise_for_status()
    return statistics.median(seconds) * 1e3, statistics.quantiles(seconds, n=100)[98] * 1e3, size


def measure(server: PackageServer, control_plane: ControlPlane) -> None:
    """Prints a line for each kind of request."""
    with control_plane.client() as client:
        first = orjson.loads(client.get(API, params={"limit": "1"}).content)["items"][0]
        name = first["metadata"]["name"]
        for what, path, headers in (
            ("list", API, {"accept-encoding": "gzip"}),
            ("list, plain", API, {"accept-encoding": "identity"}),
            ("table", API, {"accept-encoding": "gzip", "accept": TABLE}),
            ("one", f"{API}/{name}", {"accept-encoding": "gzip"}),
        ):
            median, worst, size = timed(client, path, **headers)
            print(f"| {what} | {median:.1f} | {worst:.1f} | {size / 1000:.0f} |")
    if server.program is not None and server.program.pid is not None:
        print(f"| resident MiB | {memory(server.program.pid)} | | |")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogs", type=int, default=1)
    parser.add_argument("--packages", type=int, default=330)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as folder:
        work = Path(folder)
        with ControlPlane(work / "cluster") as control_plane:
            install(control_plane)
            servers = [CatalogServer(work / f"catalog-{n}") for n in range(given.catalogs)]
            try:
                for number, catalog in enumerate(servers):
                    if given.folder:
                        catalog.serve_file(_content(given.folder))
                    else:
                        catalog.serve(generate(given.packages, number))
                    announce(control_plane, f"catalog-{number}", catalog.address)
                begin = time.perf_counter()
                with PackageServer(work / "server", control_plane) as server:
                    print(f"ready after {time.perf_counter() - begin:.1f} s")
                    print("| request | p50 ms | p99 ms | KB |\n|---|---|---|---|")
                    measure(server, control_plane)
            finally:
                for catalog in servers:
                    catalog.stop()


def _content(folder: Path) -> bytes:
    """A catalog of files, as one."""
    documents = [
        document
        for file in sorted(folder.rglob("*"))
        if file.suffix in (".yaml", ".json")
        for document in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader)
    ]
    return b"\n".join(map(orjson.dumps, documents))


if __name__ == "__main__":
    main()
