"""Options that several commands have in common."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])


def with_options(command: Command, options: Sequence[Callable[[Any], Any]]) -> Command:
    """The command with options, which its help has in their order."""
    for option in reversed(options):
        command = option(command)
    return command
