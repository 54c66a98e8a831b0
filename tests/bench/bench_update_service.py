"""Measures update-service over a folder of graph data. Prints a table.

    python -m tests.bench.bench_update_service [--edges 100000]

A channel of 1000 releases with as many edges as are asked for, and 1700 risks, as many as
OpenShift's graph data has, of which each is about half of the edges to a release. Beside it, fifty
channels of a tenth of the releases. One client on loopback.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from e2e.olm.update_service import UpdateService, write_graph_data
from tests.bench.catalogd.usage import memory

RELEASES, RISKS, CHANNELS = 1000, 1700, 50
ROUNDS = 100
LARGE = "stable-4.1"


def write(folder: Path, edges: int) -> None:
    """The graph data: edges lead from the releases just before."""
    versions = [f"4.{number // 100}.{number % 100}" for number in range(RELEASES)]
    each = edges // RELEASES
    releases = [
        {
            "version": version,
            "previous": versions[max(0, number - each) : number],
            "payload": f"registry.example.com/release@sha256:{number:064}",
            "metadata": {"url": f"https://example.com/errata/{version}"},
        }
        for number, version in enumerate(versions)
    ]
    channels = {LARGE: versions} | {
        f"fast-4.{number}": versions[number::10] for number in range(CHANNELS)
    }
    write_graph_data(
        folder, channels=channels, blocked=list(map(risk, range(RISKS))), releases=releases
    )


def risk(number: int) -> Mapping[str, object]:
    """One of a few about the same release."""
    target = number * 3 % RELEASES
    return {
        "to": f"4.{target // 100}.{target % 100}",
        "from": r"^4[.]\d+[.]\d?[02468][+]amd64$",
        "name": f"Risk{number}",
        "url": f"https://example.com/risks/{number}",
        "message": "Clusters of a certain kind may be slow after the update. " * 3,
        "matchingRules": [{"type": "PromQL", "promql": {"promql": "group(up) or 0 * group(up)"}}],
    }


def timed(client: httpx.Client, address: str, channel: str, **headers: str) -> Sequence[float]:
    """Milliseconds of each request, and at the end the bytes of an answer."""
    taken: list[float] = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with client.stream("GET", address, params={"channel": channel}, headers=headers) as answer:
            size = sum(map(len, answer.iter_raw()))
        taken.append((time.perf_counter() - begin) * 1e3)
        assert answer.status_code in (200, 304), answer.status_code
    return [*taken, size]


def show(what: str, taken: Sequence[float]) -> None:
    *times, size = taken
    worst = statistics.quantiles(times, n=100)[98]
    print(
        f"| {what} | {times[0]:.1f} | {statistics.median(times):.1f} | {worst:.1f} "
        f"| {size / 1000:.0f} |"
    )


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edges", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="olm-bench-") as name:
        folder = Path(name) / "data"
        write(folder, given.edges)
        begin = time.perf_counter()
        with UpdateService(Path(name), f"--graph-data={folder}") as service:
            started = time.perf_counter() - begin
            print(
                "| request | first ms | p50 ms | p99 ms | KB on the wire |\n|---|---|---|---|---|"
            )
            measure(service, folder)
            if service.program is not None and service.program.pid is not None:
                print(
                    f"Resident: {memory(service.program.pid)} MiB. "
                    f"Start until ready: {started:.1f} s."
                )


def measure(service: UpdateService, folder: Path) -> None:
    with httpx.Client(trust_env=False, timeout=60) as client:
        plain, coded = {"accept-encoding": "identity"}, {"accept-encoding": "gzip"}
        graph = client.get(service.address, params={"channel": "none"})
        graph.raise_for_status()
        show("graph, plain", timed(client, service.address, LARGE, **plain))
        show("graph, gzip", timed(client, service.address, LARGE, **coded))
        tag = client.get(service.address, params={"channel": LARGE}, headers=coded).headers["etag"]
        show(
            "graph that is known",
            timed(client, service.address, LARGE, **coded, **{"if-none-match": tag}),
        )
        show("small graph, gzip", timed(client, service.address, "fast-4.1", **coded))
        found = client.get(service.address, params={"channel": LARGE}).json()
        conditional = sum(len(each["edges"]) for each in found["conditionalEdges"])
        reloading = threading.Event()
        (folder / "channels" / "new.yaml").write_text("name: new\nversions: [4.0.1]\n")
        begin = time.perf_counter()
        taken: list[float] = []
        while not client.get(service.address, params={"channel": "new"}).json()["nodes"]:
            taken += timed(client, service.address, LARGE, **coded)[:5]
            reloading.wait(0.01)
        seconds = time.perf_counter() - begin
        print(
            f"Edges: {len(found['edges'])} and {conditional} conditional ones. "
            f"Until a changed file is served: {seconds:.1f} s, "
            f"meanwhile p99 {statistics.quantiles(taken, n=100)[98]:.0f} ms."
        )


if __name__ == "__main__":
    main()
