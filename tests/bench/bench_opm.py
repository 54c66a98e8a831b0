"""How long `opm` takes for a catalog and a bundle on disk, start and end of the program included.

Run: python -m tests.bench.bench_opm [CATALOG FOLDER] [BUNDLE FOLDER]

With OLMV1_UPSTREAM_OPM, the path of another opm, that one is measured in turns with ours, and the
ratio printed.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
CATALOG, BUNDLE = CORPUS / "catalog", CORPUS / "bundles" / "argocd-operator" / "0.18.0"
RUNS = 7


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds from start to end, and seconds of processors."""

    wall: float
    cpu: float


def cost(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """What one run costs, in our environment unless one is given. Raises CalledProcessError."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    quiet = subprocess.DEVNULL
    subprocess.run(command, check=True, stdout=quiet, stderr=quiet, env=environment)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu)


def typical(costs: Sequence[Cost]) -> Cost:
    """The medians."""
    return Cost(
        statistics.median(each.wall for each in costs),
        statistics.median(each.cpu for each in costs),
    )


def main() -> None:
    """Prints a line for each command."""
    catalog, bundle = sys.argv[1:] + [str(CATALOG), str(BUNDLE)][len(sys.argv) - 1 :]
    ours, other = str(Path(sys.executable).with_name("opm")), os.environ.get("OLMV1_UPSTREAM_OPM")
    commands = {
        "validate CATALOG": ["validate", catalog],
        "render CATALOG -o json": ["render", catalog, "-o", "json"],
        "render CATALOG -o yaml": ["render", catalog, "-o", "yaml"],
        "render BUNDLE": ["render", bundle],
        "--help": ["--help"],
    }
    for name, arguments in commands.items():
        programs = [program for program in (ours, other) if program]
        runs = [[cost([program, *arguments]) for program in programs] for _ in range(RUNS)]
        here, *there = [typical([run[index] for run in runs]) for index in range(len(programs))]
        line = f"{name:24} {here.wall:6.2f} s {here.cpu:6.2f} CPU s"
        for each in there:
            line += f"   other {each.wall:6.2f} s {each.cpu:6.2f} CPU s"
            line += f"   ratio {here.wall / each.wall:.2f}, {here.cpu / each.cpu:.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
