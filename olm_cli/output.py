"""Answers for programs: JSON or YAML on standard output."""

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click
import orjson

from olm_runtime.errors import OLMError, TerminalError

if TYPE_CHECKING:
    from olm_cli.batch import Answer

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
    from olm_content.formats.yaml_text import dump_all

    sys.stdout.write(dump_all([value]))


def fail(error: OLMError, code: int = 1) -> NoReturn:
    """Prints an error with its hint, and ends the program."""
    click.echo(f"error: {error.describe()}", err=True)
    raise SystemExit(code) from error


def show_answers(source: str, answer: "Answer", **how: Any) -> None:
    """Prints the answer to each line of a batch as soon as it is there; `how` as `answers` has it.

    Raises TerminalError in the end if there were lines that are no requests.
    """
    from olm_cli.batch import answers

    malformed = 0
    for answered in answers(source, answer, **how):
        sys.stdout.buffer.write(answered.line)
        sys.stdout.buffer.flush()
        malformed += answered.malformed
    if malformed:
        lines = "1 line is no request" if malformed == 1 else f"{malformed} lines are no requests"
        raise TerminalError(f"{lines}; what is wrong stands in the answers, under error")
