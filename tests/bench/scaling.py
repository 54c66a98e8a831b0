"""Draws what time and memory grow with: docs/images/scaling.svg.

python -m tests.bench.scaling build/extensions-*.json build/sizes.json
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.plots import Chart, Series, write

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "scaling.svg"
PHASES = ("install", "update", "restart", "delete")
SIZES = {"seconds": "seconds", "cpu_s": "processor seconds"}


def of_extensions(lives: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """From lives of `many_extensions` with different counts."""
    every = sorted(lives, key=lambda life: int(life["count"]))

    def lines(names: Sequence[str], field: str) -> list[Series]:
        return [Series(name, [(life["count"], phase(life, name)[field]) for life in every])
                for name in names]  # fmt: skip

    return [
        Chart("Seconds of a phase", "extensions", lines(PHASES, "seconds")),
        Chart("Controller: processor seconds", "extensions", lines(PHASES, "controller_cpu")),
        Chart("API server: processor seconds", "extensions", lines(PHASES, "api_server_cpu")),
        Chart(
            "Controller: resident MiB after the phase",
            "extensions",
            lines(("install", "update", "restart", "afterwards"), "resident_mib"),
        ),
    ]


def of_sizes(found: Mapping[str, Any]) -> list[Chart]:
    """From `bench_sizes`."""
    charts = []
    for kind, across, whose in (
        ("catalogs", "MB of catalog", "A new catalog"),
        ("objects", "objects of the bundle", "An installation"),
    ):
        rows = found[kind]
        lines = [Series(name, _points(rows, field)) for field, name in SIZES.items()]
        charts.append(Chart(f"{whose}: time", across, lines))
        most = [Series("MiB at most", _points(rows, "peak_mib"))]
        charts.append(Chart(f"{whose}: memory", across, most))
    return charts


def phase(life: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """One of a life of `many_extensions`."""
    found: Mapping[str, Any] = next(each for each in life["phases"] if each["name"] == name)
    return found


def _points(rows: Mapping[str, Mapping[str, float]], field: str) -> list[tuple[float, float]]:
    return [(float(size), row[field]) for size, row in rows.items()]


def main() -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("files", nargs="+", type=Path, help="what the benchmarks wrote")
    read = [json.loads(file.read_text()) for file in parser.parse_args().files]
    lives = [found for found in read if "phases" in found]
    charts = of_extensions(lives) if lives else []
    for found in read:
        if "catalogs" in found:
            charts += of_sizes(found)
    write(charts, PICTURE)


if __name__ == "__main__":
    main()
