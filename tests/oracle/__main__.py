"""`python -m tests.oracle classic|cluster-version`: golden cases in, a line each, answers out."""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import orjson

from tests.oracle import classic as of_classic
from tests.oracle import cluster_version as of_cluster_version
from tests.requirements import CORPUS


@click.group()
def main() -> None:
    """Answer golden cases from standard input."""


@main.command()
@click.option(
    "--catalogs",
    type=click.Path(path_type=Path, file_okay=False),
    default=CORPUS / "goldens/classic/catalogs",
    show_default="that of the corpus",
    help="The folder of the catalogs that cases refer to: v4.NN/PACKAGE/catalog.yaml.",
)
def classic(catalogs: Path) -> None:
    """Cases of OLM Classic: resolutions, and smaller computations by kind."""
    _answer_all(lambda line: of_classic.answer(line, catalogs))


@main.command()
@click.option(
    "--graphs",
    type=click.Path(path_type=Path, file_okay=False),
    default=CORPUS / "goldens/cluster-version/graphs",
    show_default="that of the corpus",
    help="The folder of the update graphs that cases refer to: NAME.json.",
)
def cluster_version(graphs: Path) -> None:
    """Cases of the Cluster Version Operator by operation."""
    _answer_all(lambda line: of_cluster_version.answer(line, graphs))


def _answer_all(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers each line; one that fails costs its own answer, not those of the lines after it."""
    failed = []
    for line in filter(bytes.strip, sys.stdin.buffer):
        case = orjson.loads(line)
        try:
            written = answer(case)
        except Exception:  # noqa: BLE001 - it is shown, and the exit code reports it
            failed.append(case["id"])
            traceback.print_exc()
            continue
        sys.stdout.buffer.write(orjson.dumps(written) + b"\n")
        sys.stdout.buffer.flush()
    if failed:
        raise click.ClickException(f"no answer for {', '.join(failed)}")


if __name__ == "__main__":
    main()
