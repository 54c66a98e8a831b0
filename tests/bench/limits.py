"""Repeats the rows of the limits of catalogd and operator-controller (docs/benchmarks.md).

    python -m tests.bench.limits --runs 5
    python -m tests.bench.limits --runs 5 --only catalogd starts
    python -m tests.bench.limits --only looks             # six minutes a run, not among the others

Each part of a run is a benchmark in a process of its own. What it printed and found stays in
build/limits. A row is `median (lowest to highest)` of what all runs found. A part that fails is
named, and the others go on. Without 1 000 extensions, 1 000 MB and the soak.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.bench_controller import MANY, corpus
from tests.bench.bench_graphql import OFF, ON
from tests.bench.many_extensions import FEW
from tests.bench.scaling import phase

FOLDER = Path(__file__).parents[2] / "build" / "limits"
Row = Callable[[Any], float | Sequence[float]]
"""Finds the row's figure in what a benchmark has written; several are of the same run."""


@dataclass(frozen=True, slots=True)
class Part:
    """A benchmark with its arguments, and the rows that it measures."""

    module: str
    arguments: Sequence[str]
    rows: Mapping[str, Row]


def _rate(case: str) -> Row:
    return lambda found: found["answers"][case]["per_second"]


def _at(*path: str) -> Row:
    def figure(found: Any) -> float:
        for key in path:
            found = found[key]
        return float(found)

    return figure


def _of(name: str, field: str) -> Row:
    return lambda found: phase(found, name)[field]


LIFE = "tests.bench.many_extensions", ("--count", str(MANY))
PARTS: Mapping[str, Part] = {
    "catalogd": Part(
        "tests.bench.bench_catalogd",
        ("--cases", "all 304", "metas olm.package, 8", "metas olm.channel, 8", "metas olm.bundle"),
        {
            "answers 304, 1 client (1/s)": _rate("all 304, 1"),
            "answers 304, 8 clients (1/s)": _rate("all 304, 8"),
            "new catalog to Serving (s)": _at("ingest", "seconds"),
            "the same, CPU (s)": _at("ingest", "cpu_s"),
            "the same, peak PSS (MiB)": _at("ingest", "peak_pss_mib"),
            "new catalog of 0.9 MB (s)": _at("small", "median"),
            "resident, four catalogs at rest (MiB)": _at("four served", "mib"),
            "the same, PSS (MiB)": _at("four served", "pss_mib"),
            "the same, after a restart (MiB)": _at("restart", "mib"),
            "the same, after a restart, PSS (MiB)": _at("restart", "pss_mib"),
            "/metas?schema=olm.package, 8 clients (1/s)": _rate("metas olm.package, 8"),
            "/metas?schema=olm.channel, 8 clients (1/s)": _rate("metas olm.channel, 8"),
            "/metas?schema=olm.bundle, 1 client (1/s)": _rate("metas olm.bundle, 1"),
            "/metas?schema=olm.bundle, 8 clients (1/s)": _rate("metas olm.bundle, 8"),
        },
    ),
    "real-catalog": Part(
        "tests.bench.bench_catalogd",
        ("--folder", str(corpus() / "catalog"), "--only", "small", "ingest"),
        {"new real catalog (s)": _at("ingest", "seconds")},
    ),
    "graphql": Part(
        "tests.bench.bench_graphql",
        ("--brief",),
        {
            "GraphQL by package, 8 clients, p99 of first answers (ms)": _at("first, 8", "p99_ms"),
            "the same, of later answers (ms)": _at("later, 8", "p99_ms"),
            "GraphQL on, resident above off (MiB)": lambda found: found[ON] - found[OFF],
        },
    ),
    "starts": Part(
        "tests.bench.bench_starts",
        ("--rounds", "3"),
        {
            f"{program}: {title}": _at(program, field)
            for program in ("catalogd", "operator-controller")
            for title, field in {
                "spawn to ready (s)": "seconds",
                "the same, CPU (s)": "cpu_s",
                "resident, empty (MiB)": "mib",
                "the same, PSS (MiB)": "pss_mib",
            }.items()
        },
    ),
    "controller": Part(
        "tests.bench.bench_controller",
        ("--only", "real"),
        {
            "bundle with 17 definitions, CPU of the API server (s)": _at(
                "a real bundle with 17 CRDs, CPU of the API server (s)"
            ),
        },
    ),
    "life": Part(
        LIFE[0],
        (*LIFE[1], "--without-looks"),
        {
            "resident, 100 installed (MiB)": _of("install", "resident_mib"),
            "resident, 100 updated (MiB)": _of("update", "resident_mib"),
            "resident, 100 deleted (MiB)": _of("delete", "resident_mib"),
            "the same, 20 s later (MiB)": _of("afterwards", "resident_mib"),
            "installation of 100, CPU of the API server (s)": _of("install", "api_server_cpu"),
            "deletion of 100 (s)": _of("delete", "seconds"),
            "the same, CPU (s)": _of("delete", "controller_cpu"),
            "a new one, while 100 are installed (s)": _of("install", "newcomers"),
            "the same, while they are updated (s)": _of("update", "newcomers"),
            "the same, after a restart with them (s)": _of("restart", "newcomers"),
            "the same, while they are deleted (s)": _of("delete", "newcomers"),
        },
    ),
    "looks": Part(
        *LIFE,
        {
            "CPU of a look at a settled one, with 10 (ms)": _at("looks", str(FEW)),
            "the same, with 100 (ms)": _at("looks", str(MANY)),
        },
    ),
}
LONG = ("looks",)
"""What is measured only when it is named."""


def run(name: str, number: int) -> Any:
    """What one benchmark found; None, and the end of what it said, where it failed."""
    part, file = PARTS[name], FOLDER / f"{name}-{number}.json"
    command = [sys.executable, "-m", part.module, *part.arguments, "--json", str(file)]
    begun = time.monotonic()
    with file.with_suffix(".log").open("w") as log:
        code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    print(f"  {name:14} {time.monotonic() - begun:5.0f} s", flush=True)
    if code == 0:
        return json.loads(file.read_text())
    said = Path(log.name).read_text().splitlines()[-5:]
    print(f"  {name} FAILED with {code}: {log.name}", *said, sep="\n    ", flush=True)
    return None


def spread(values: Sequence[float]) -> str:
    """`median (lowest to highest)`, three digits or more."""
    middle, lowest, highest = map(_digits, (statistics.median(values), min(values), max(values)))
    return f"{middle} ({lowest} to {highest})"


def _digits(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.3g}"


def lines(part: Part, runs: Sequence[Any]) -> list[str]:
    """Its rows; one that no run measured says so."""
    shown = []
    for title, row in part.rows.items():
        values = [value for each in runs for value in _figures(row, each)]
        what = f"{spread(values):30} of {len(values)}" if values else "not measured"
        shown.append(f"{title:60} {what}")
    return shown


def _figures(row: Row, found: Any) -> Sequence[float]:
    try:
        figures = row(found)
    except KeyError:  # a benchmark leaves out what needs the corpus, where that is not
        return ()
    return figures if isinstance(figures, Sequence) else (figures,)


def main() -> None:
    """Measure, print; ends with 1 if a part failed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts")
    given = parser.parse_args()
    chosen = given.only or [name for name in PARTS if name not in LONG]
    FOLDER.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Any]] = {name: [] for name in chosen}
    for number in range(1, given.runs + 1):
        print(f"run {number} of {given.runs}, load {os.getloadavg()[0]:.1f}", flush=True)
        for name in chosen:
            found[name].append(run(name, number))
    failed = []
    for name, all_runs in found.items():
        runs = [each for each in all_runs if each is not None]
        failed += [f"{name} ({given.runs - len(runs)})"] * (len(runs) < given.runs)
        print(f"\n{name}", *lines(PARTS[name], runs), sep="\n")
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
