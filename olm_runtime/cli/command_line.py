"""What the command lines share: commands imported on demand, failures as one sentence."""

import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from olm_runtime.cli.ending import end_with
from olm_runtime.cli.interrupts import INTERRUPTED, leave_at_once, raise_interrupts
from olm_runtime.errors import OLMError, TerminalError, bounded, of_system
from olm_runtime.suggestions import near

USAGE_ERROR = click.UsageError.exit_code


class Lazy(NamedTuple):
    """Where a command is defined, and its line in the list of commands."""

    module: str
    attribute: str
    summary: str

    def load(self) -> click.Command:
        """The command, imported."""
        command: click.Command = getattr(importlib.import_module(self.module), self.attribute)
        return command


class LazyGroup(click.Group):
    """A group whose commands are imported only to run them or to show their own help.

    Starting must be fast: most of a short command's time would else go into importing others.
    `completing` gives what stands for a command when a shell only completes.
    """

    def __init__(
        self,
        *args: Any,
        lazily: Mapping[str, Lazy],
        completing: Callable[[Lazy], click.Command] = Lazy.load,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._lazily = lazily
        self._completing = completing

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, in the order of the list."""
        return sorted(self._lazily)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported; None if there is none of that name."""
        lazy = self._lazily.get(cmd_name)
        if lazy is None:
            return None
        return self._completing(lazy) if ctx.resilient_parsing else lazy.load()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named first; where there is none, perhaps which one was meant."""
        name = args[0]
        if name not in self._lazily and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"No such command '{name}'.{_meant(name, self._lazily)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; Ctrl-C has it clean up, and prints nothing."""
        with _interruptible():
            return super().invoke(ctx)

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


def _meant(name: str, known: Iterable[str]) -> str:
    """The question which command was meant, in click's words; empty where none is near."""
    names = [f"'{each}'" for each in near(name, known)]
    if not names:
        return ""
    return f" Did you mean {'one of: ' * (len(names) > 1)}{', '.join(names)}?"


@contextmanager
def _interruptible() -> Iterator[None]:
    """Within, Ctrl-C is an exception; click would answer one with a line of its own."""
    raise_interrupts()
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    finally:
        leave_at_once()


def run(command: click.Command, name: str, *, usage_error: int = USAGE_ERROR) -> NoReturn:
    """Runs a command line. A failure is one sentence, with exit code 1.

    What is wrong in the command line itself ends with the code `usage_error`.
    """
    sys.unraisablehook = _end_or_print
    _replace_closed_streams()
    try:
        code = _exit_code(command, name, usage_error)
    except SystemExit as ended:  # as commands and click's completion end
        if isinstance(ended.code, str):
            raise
        code = int(ended.code or 0)
    except OLMError as error:
        code = _print_error(error)
    except OSError as error:
        code = _print_error(of_system(error))
    except MemoryError:
        code = _print_error(OLMError("there is not enough memory for this"))
    except Exception as error:  # noqa: BLE001 - users get a sentence, never a traceback
        code = _print_error(
            OLMError(
                bounded(f"unexpected {type(error).__name__}: {error}"),
                hint=f"this is a fault of {name}; please report it with the command you ran",
            )
        )
    finally:
        _drop_what_cannot_be_written()
        gc.freeze()  # else Python looks for cycles in all that it is about to drop: 10 to 70 ms
    end_with(code)


def _exit_code(command: click.Command, name: str, usage_error: int) -> int:
    """Raises what a command may: OLMError, OSError, any fault of our own."""
    # Without colours where the user asks for none; by itself click has them on a terminal only.
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colours: dict[str, Any] = {"color": False} if plain else {}
    try:
        result: Any = command.main(prog_name=name, standalone_mode=False, **colours)
        sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        return usage_error
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort as error:
        # A question that was not answered: by Ctrl-C, or because there was nobody to ask.
        if isinstance(error.__context__, KeyboardInterrupt):
            return INTERRUPTED
        click.echo(err=True)
        raise TerminalError("a question was not answered: standard input has ended") from error
    except BrokenPipeError:
        return 1  # the reader has closed the pipe, as `head` does, which is no fault
    return result if isinstance(result, int) else 0


def _print_error(error: OLMError) -> int:
    with suppress(OSError):  # standard error may be full
        click.echo(f"error: {error.message}", err=True)
        if error.hint:
            click.echo(f"hint: {error.hint}", err=True)
    return 1


def _end_or_print(raised: "sys.UnraisableHookArgs") -> None:
    """Ctrl-C may fall into a callback, of which Python would print it, and go on."""
    if isinstance(raised.exc_value, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(raised)


def _replace_closed_streams() -> None:
    """With standard streams that are closed, files would be taken for them."""
    for number, mode in enumerate(("r", "w", "w")):
        name = ("stdin", "stdout", "stderr")[number]
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _drop_what_cannot_be_written() -> None:
    """Else Python tries again at the very end, and prints a message of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def fail(error: OLMError) -> NoReturn:
    """Prints the error and what to do about it, and ends with exit code 1."""
    raise SystemExit(_print_error(error))
