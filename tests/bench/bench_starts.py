"""From the start of a program until it is ready, and what it holds when there is nothing to do.

    python -m tests.bench.bench_starts [--rounds 5] [--json FILE]

catalogd and operator-controller on loopback, without election, over a control plane without
catalogs and extensions. What ties a program to the benchmark, 10 to 20 ms, is part of its start.
"""

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import httpx

from e2e.harness.controlplane import answers_ok
from e2e.harness.process import ChildProcess
from tests.bench.catalogd.usage import at_rest, processor
from tests.bench.processes import pid_of
from tests.bench.worlds import olm_world

POLL_SECONDS = 0.005
Start = tuple[float, float]
"""Seconds, and seconds of processors."""


def started(child: ChildProcess, port: int) -> Start:
    """Starts a program again; what it took until it was ready. Errors: ProcessFailed."""
    child.stop()
    with httpx.Client(timeout=2.0, verify=False, trust_env=False) as client:  # plain HTTP
        begun = time.perf_counter()
        child.start()
        url = f"http://127.0.0.1:{port}/readyz"
        child.wait_ready(lambda: answers_ok(client, url), interval=POLL_SECONDS)
        return time.perf_counter() - begun, processor(pid_of(child))


def summary(child: ChildProcess, starts: list[Start]) -> dict[str, Any]:
    """The medians of its starts, all of them, and its memory now."""
    seconds, cpu = zip(*starts, strict=True)
    return {
        "seconds": round(statistics.median(seconds), 3),
        "cpu_s": round(statistics.median(cpu), 2),
        "all": [round(each, 3) for each in seconds],
        **at_rest(pid_of(child)),
    }


def main() -> None:
    """Prints both."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with olm_world() as (_, olm, _api):
        children = [each for each in (olm.catalogd, olm.operator_controller) if each is not None]
        starts: dict[str, list[Start]] = {child.name: [] for child in children}
        for _ in range(given.rounds):
            for child, port in zip(children, olm.health_ports, strict=True):
                starts[child.name].append(started(child, port))
        figures = {
            child.name: summary(child, starts[child.name])
            for child in reversed(children)  # what helps catalogd ends meanwhile
        }
    for name, found in figures.items():
        print(f"{name:24} {found}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
