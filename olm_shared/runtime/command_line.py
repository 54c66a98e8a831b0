"""What the command lines share: commands imported when asked for, failures told in a sentence."""

import gc
import importlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem

from olm_shared.errors import OLMError, bounded

COLLECT_AFTER = 100_000
"""New objects after which cycles are looked for: commands hold catalogs, make few and end soon."""
_COLLECT_AFTER_BY_DEFAULT = gc.get_threshold()


@dataclass(frozen=True, slots=True)
class Lazy:
    """Where a command is defined, and its line in the list of commands."""

    module: str
    attribute: str
    summary: str


class LazyGroup(click.Group):
    """A group whose commands are imported only to run them or to show their own help.

    Starting must be fast: most of a short command's time would else go into importing others.
    """

    def __init__(self, *args: Any, lazily: Mapping[str, Lazy], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazily = lazily

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the list."""
        return sorted(self._lazily)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command, imported; None if there is none of that name."""
        lazy = self._lazily.get(cmd_name)
        if lazy is None:
            return None
        command: click.Command = getattr(importlib.import_module(lazy.module), lazy.attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self._lazily[name].summary) for name in sorted(self._lazily)]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin so, without importing any, and the front's own options."""
        named = (name for name in sorted(self._lazily) if name.startswith(incomplete))
        items = [CompletionItem(name, help=self._lazily[name].summary) for name in named]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


def run(command: click.Command, name: str) -> NoReturn:
    """Runs a command line. Whatever fails is told in a sentence, with exit code 1."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        # Without colours where the user wants none; by itself click has them on a terminal only.
        colours = {"color": False} if os.environ.get("NO_COLOR") else {}
        result: Any = command(prog_name=name, standalone_mode=True, **colours)
    except OLMError as error:
        fail(error)
    except BrokenPipeError:
        # The reader has had enough, as `head` has: no fault, and nothing left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as error:  # noqa: BLE001 - users get a sentence, never a traceback
        fail(
            OLMError(
                bounded(f"unexpected {type(error).__name__}: {error}"),
                hint=f"this is a fault of {name}; please report it with the command you ran",
            )
        )
    raise SystemExit(result)


def runs_on() -> None:
    """For a command that does not end soon: cycles are looked for as early as in any program."""
    gc.set_threshold(*_COLLECT_AFTER_BY_DEFAULT)


def fail(error: OLMError) -> NoReturn:
    """Tells the error and what to do about it, and ends with exit code 1."""
    click.echo(f"error: {error.message}", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)
    raise SystemExit(1)
