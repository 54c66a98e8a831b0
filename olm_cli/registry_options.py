"""Options of commands that read bundles and catalogs from registries."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from olm_runtime.cli.option_lists import with_options

Command = TypeVar("Command", bound=Callable[..., Any])


def registry_options(command: Command) -> Command:
    """Adds the options for bundles that are read from a registry."""
    options = (
        click.option("--plain-http", is_flag=True, help="Speak to the registry without TLS."),
        click.option("--cas-dir", metavar="DIR", help="Folder of CA files to trust as well."),
        click.option("--auth-file", metavar="FILE", help="File of logins, in place of your own."),
    )
    return with_options(command, options)
