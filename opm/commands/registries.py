"""The options of all commands that read from registries or write to them.

They may stand before the command or after it, as the global flags of upstream's tool.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_runtime.cli.option_lists import with_options

Command = TypeVar("Command", bound=Callable[..., Any])


def _note(key: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Keeps what is given for the command: the keyword arguments of `workstation.Registries`."""

    def note(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        given = ctx.ensure_object(dict)
        if value:
            given[key] = value
        if given.keys() >= {"plain_http", "skip_tls_verify"}:
            raise click.UsageError("--use-http and --skip-tls-verify cannot both be given", ctx)

    return note


def registry_options(command: Command) -> Command:
    """Adds the options; the command gets them as its object (`click.pass_obj`)."""
    options = (
        click.option(
            "--use-http",
            is_flag=True,
            expose_value=False,
            callback=_note("plain_http"),
            help="Speak to registries without TLS.",
        ),
        click.option(
            "--skip-tls-verify",
            is_flag=True,
            expose_value=False,
            callback=_note("skip_tls_verify"),
            help="Take any certificate of a registry.",
        ),
        click.option(
            "--authfile",
            type=click.Path(path_type=Path),
            metavar="FILE",
            expose_value=False,
            callback=_note("auth_file"),
            help="File of logins, in place of those of podman and docker.",
        ),
    )
    return with_options(command, options)
