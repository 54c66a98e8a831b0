"""`olm completion`: words on the Tab key, for `olm` and for `kubectl olm`."""

import sys

import click
from click.shell_completion import CompletionItem, ShellComplete

from olm_runtime.cli.completion import SHELLS, completion_script

_NO_FILES, _FILES = ":4", ":0"
"""Cobra's directives: whether kubectl offers file names, too."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a completion script for SHELL.

    `kubectl olm` completes through the program kubectl_complete-olm, which kubectl finds by itself
    on the PATH.

    \b
    Examples:
      source <(olm completion bash)
      olm completion zsh > "${fpath[1]}/_olm"
      olm completion fish > ~/.config/fish/completions/olm.fish
    """
    from olm_cli.__main__ import cli

    click.echo(completion_script(cli, "olm", shell))


def kubectl_complete() -> None:
    """Answers kubectl, which hands over the words after `kubectl olm`, the unfinished one last."""
    from olm_cli.__main__ import cli

    *words, incomplete = sys.argv[1:] or [""]
    items = ShellComplete(cli, {}, "olm", "").get_completions(words, incomplete)
    plain = [item for item in items if item.type == "plain"]
    for item in plain:
        click.echo(_line(item))
    click.echo(_NO_FILES if len(plain) == len(items) and items else _FILES)


def _line(item: CompletionItem) -> str:
    said = " ".join((item.help or "").split())
    return f"{item.value}\t{said}" if said else str(item.value)
