"""Ctrl-C while something is shown or waited for: what it means is said."""

from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

import click

from olm_runtime.cli.async_work import run_async
from olm_runtime.cli.interrupts import INTERRUPTED

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], *, said: str = "") -> T:
    """What the work comes to; on Ctrl-C `said` is printed and the program ends."""
    try:
        return run_async(work)
    except KeyboardInterrupt:
        stop(said)


def stop(said: str = "") -> NoReturn:
    """Ends the program as Ctrl-C does."""
    if said:
        click.echo(f"\n{said}", err=True)
    raise SystemExit(INTERRUPTED)
