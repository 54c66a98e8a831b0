"""`python -m tests.oracle classic`: golden cases in, a JSON line each, and answers out."""

import sys
from pathlib import Path

import click
import orjson

from tests.oracle.classic import answer


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
    for line in sys.stdin.buffer:
        if line.strip():
            sys.stdout.buffer.write(orjson.dumps(answer(orjson.loads(line), catalogs)) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
