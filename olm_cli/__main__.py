"""The command line's front: which commands there are, and how failures are told.

Commands live in modules of their own, imported when they are asked for: starting must be fast.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

import click

from olm_shared.errors import OLMError, bounded


@dataclass(frozen=True, slots=True)
class Lazy:
    """Where a command is defined, and its line in the list of commands."""

    module: str
    attribute: str
    summary: str


COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "bundle": Lazy("olm_cli.bundle", "bundle", "Look into registry+v1 bundles."),
        "crd": Lazy("olm_cli.crd", "crd", "Check CustomResourceDefinitions."),
        "rbac": Lazy("olm_cli.rbac", "rbac", "Write the permissions that a bundle needs."),
        "resolve": Lazy("olm_cli.resolve", "resolve_command", "Find the bundle for a package."),
        "version": Lazy("olm_cli.version", "version", "Work with versions and version ranges."),
        "why": Lazy("olm_cli.why", "why", "Tell why an extension in a cluster is what it is."),
    }
)


class LazyGroup(click.Group):
    """A group whose commands are imported only to run them or to show their own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the list."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, imported; None if there is none of that name."""
        lazy = COMMANDS.get(cmd_name)
        if lazy is None:
            return None
        command: click.Command = getattr(importlib.import_module(lazy.module), lazy.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="olmv1", prog_name="olm")
def cli() -> None:
    """Work with Operator Lifecycle Manager v1: offline what the controllers do in a cluster.

    \b
    Examples:
      olm version match '>=1.2 <2' 1.4.0
      olm resolve --catalog mine=./catalog --package argocd-operator --version 0.x
      olm bundle render ./my-bundle --install-namespace my-operator
    """


def main() -> NoReturn:
    """Runs the command line. Whatever fails is told in a sentence, with exit code 1."""
    try:
        result: Any = cli(prog_name="olm", standalone_mode=True)
    except OLMError as error:
        fail(error)
    except Exception as error:  # noqa: BLE001 - users get a sentence, never a traceback
        fail(
            OLMError(
                bounded(f"unexpected {type(error).__name__}: {error}"),
                hint="this is a fault of olm; please report it with the command you ran",
            )
        )
    raise SystemExit(result)


def fail(error: OLMError) -> NoReturn:
    """Tells the error and what to do about it, and ends with exit code 1."""
    click.echo(f"error: {error.message}", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)
    raise SystemExit(1)


if __name__ == "__main__":
    main()
