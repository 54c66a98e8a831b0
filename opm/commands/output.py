"""Records on standard output, in the formats every command has."""

import sys
from collections.abc import Iterable

import click

from olm_content.fbc.records import Record, in_order
from opm.text import json_text, yaml_text

output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["json", "yaml"]),
    default="json",
    show_default=True,
    help="Format of the objects.",
)


def show(records: Iterable[Record], output: str) -> None:
    """Prints the records in writing order."""
    text = json_text if output == "json" else yaml_text
    for each in in_order(records):
        sys.stdout.buffer.write(text(each.value))
