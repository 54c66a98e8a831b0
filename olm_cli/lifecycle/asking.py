"""Asks a person before something is deleted."""

import sys

import click

from olm_cli.lifecycle.interrupt import stop
from olm_runtime.errors import TerminalError


def ask_to_delete(question: str) -> None:
    """Returns if the answer is yes; else the program ends.

    Not to be called inside an event loop, which would keep Ctrl-C to itself while a person thinks.
    Raises TerminalError where there is nobody to ask.
    """
    if not sys.stdin.isatty():
        raise TerminalError(
            "nobody can be asked whether to delete: standard input is no terminal",
            hint="--yes deletes without asking, --preview only says what would be deleted",
        )
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        stop("nothing was deleted")
    if not agreed:
        click.echo("nothing was deleted", err=True)
        raise SystemExit(1)
