"""Ctrl-C while something is shown or waited for: no traceback, and what it means is said."""

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

import click

INTERRUPTED = 130
"""Exit code of a program that Ctrl-C ended, as shells have it."""

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], *, said: str = "") -> T:
    """What the work comes to; on Ctrl-C `said` is printed and the program ends."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        stop(said)


def stop(said: str = "") -> NoReturn:
    """Ends the program as Ctrl-C does."""
    if said:
        click.echo(f"\n{said}", err=True)
    raise SystemExit(INTERRUPTED)
