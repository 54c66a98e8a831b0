"""How soon `opm serve` can answer, with a cache and without, and what it holds after requests.

Run: python -m tests.bench.bench_serve [CATALOG FOLDER]
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import grpc

from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess
from olm_catalogs.registry import registry_pb2 as messages
from tests.bench.bench_opm import CATALOG
from tests.bench.catalogd.usage import memory
from tests.bench.limits import spread
from tests.bench.processes import status_mib

RUNS = 5
ROUNDS = 100
"""In each all packages are asked for, one after the other, with their names before."""
LOOK_SECONDS = 0.005
HOST = "127.0.0.1"


class Made(NamedTuple):
    """Seconds from start to end, and the most MiB that it and its processes held."""

    seconds: float
    mib: float


def make_cache(command: Sequence[str]) -> Made:
    """Until it would serve (`--cache-only`). Raises RuntimeError if it fails."""
    begin, most = time.perf_counter(), 0.0
    with subprocess.Popen([*command, "--cache-only"], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            # What the kernel says of a process that has ended is that of ours too, which began it.
            with suppress(OSError):  # a child of it may end meanwhile
                most = max(most, memory(process.pid))
            time.sleep(LOOK_SECONDS)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Made(time.perf_counter() - begin, most)


def ask(address: str) -> int:
    """Asks for the names of packages and for each of them; how many requests that were."""
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=60)
        listed = channel.unary_stream("/api.Registry/ListPackages")
        package = channel.unary_unary("/api.Registry/GetPackage")
        asked = 0
        for _ in range(ROUNDS):
            names = [messages.PackageName.FromString(each).name for each in listed(b"")]
            for name in names:
                package(messages.GetPackageRequest(name=name).SerializeToString())
            asked += 1 + len(names)
    return asked


def measure_starts(command: Sequence[str], folder: str) -> str:
    """Prints how soon it would serve; the last of the caches."""
    made: dict[str, list[Made]] = {"without a cache": [], "with a cache": []}
    for number in range(RUNS):
        cache = f"{folder}/cache-{number}"
        for found in made.values():
            found.append(make_cache([*command, f"--cache-dir={cache}"]))
    for what, found in made.items():
        seconds, mib = spread([each.seconds for each in found]), spread([m.mib for m in found])
        print(f"start {what}: {seconds} s, {mib} MiB")
    return cache


def measure_requests(command: Sequence[str], folder: str) -> None:
    """Prints what a server holds once it has been asked."""
    port = free_port(HOST)
    server = ChildProcess("opm serve", [*command, f"--port={port}"], log=Path(folder, "serve.log"))
    server.start()
    try:
        asked = ask(f"{HOST}:{port}")
        held = status_mib(server, "RssAnon")
        print(f"after {asked} requests, without mapped files: {held:.1f} MiB")
    finally:
        server.stop()


def main() -> None:
    """Print the figures."""
    catalog = Path(sys.argv[1]) if len(sys.argv) > 1 else CATALOG
    command = [str(Path(sys.executable).with_name("opm")), "serve", str(catalog)]
    with tempfile.TemporaryDirectory(prefix="olmv1-bench-") as folder:
        cache = measure_starts(command, folder)
        measure_requests([*command, f"--cache-dir={cache}"], folder)


if __name__ == "__main__":
    main()
