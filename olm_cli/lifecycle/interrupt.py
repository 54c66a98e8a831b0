"""Ctrl-C while something is shown or waited for: prints what it means and ends."""

from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

import click

from olm_runtime.cli.async_work import run_async
from olm_runtime.cli.interrupts import INTERRUPTED

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], *, message: str = "", serves: bool = False) -> T:
    """The result of the work; on Ctrl-C `message` is printed and the program ends."""
    try:
        return run_async(work, serves=serves)
    except KeyboardInterrupt:
        stop(message)


def stop(message: str = "") -> NoReturn:
    """Ends the program as Ctrl-C does."""
    if message:
        click.echo(f"\n{message}", err=True)
    raise SystemExit(INTERRUPTED)
