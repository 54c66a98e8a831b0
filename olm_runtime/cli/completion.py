"""Completion scripts of the command lines, for each shell that click knows."""

import click
from click.shell_completion import ShellComplete, get_completion_class

SHELLS = ("bash", "zsh", "fish")


def completion_script(front: click.Command, program: str, shell: str) -> str:
    """What `shell` is to source so that it completes `program`, whose front is given."""
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    # Not the method of bash's class: that starts bash to see its version.
    return ShellComplete.source(found(front, {}, program, f"_{program.upper()}_COMPLETE"))
