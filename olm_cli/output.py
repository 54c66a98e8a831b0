"""Answers for programs: JSON or YAML on standard output."""

import sys
from typing import Any

import click
import orjson

from olm_cli.batch import Answer, answers

output_option = click.option(
    "-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True
)

batch_option = click.option(
    "--batch", metavar="FILE", help="Answer JSON lines from FILE, or - for stdin."
)


def show(value: Any, output: str) -> None:
    """Prints a value as JSON or YAML."""
    if output == "json":
        sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
        return
    from olm_shared.yaml_text import dump_all

    sys.stdout.write(dump_all([value]))


def show_answers(source: str, answer: Answer) -> None:
    """Prints the answer to each line of a batch as soon as it is there."""
    for line in answers(source, answer, parallel=False):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
