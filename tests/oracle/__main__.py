"""`python -m tests.oracle classic|cluster-version`: golden cases in, a line each, answers out."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import orjson

from tests.oracle import classic as of_classic
from tests.oracle import cluster_version as of_cluster_version


@click.group()
def main() -> None:
    """Answer golden cases from standard input."""


@main.command()
@click.option(
    "--catalogs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder of the catalogs that cases refer to: v4.NN/PACKAGE/catalog.yaml.",
)
def classic(catalogs: Path | None) -> None:
    """Cases of OLM Classic: resolutions, and smaller computations by kind."""
    _answer_all(lambda line: of_classic.answer(line, catalogs))


@main.command()
@click.option(
    "--graphs",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder of the update graphs that cases refer to: NAME.json.",
)
def cluster_version(graphs: Path | None) -> None:
    """Cases of the Cluster Version Operator by operation."""
    _answer_all(lambda line: of_cluster_version.answer(line, graphs))


def _answer_all(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    for line in sys.stdin.buffer:
        if line.strip():
            sys.stdout.buffer.write(orjson.dumps(answer(orjson.loads(line))) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
