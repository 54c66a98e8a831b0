"""`opm completion`: words on the Tab key."""

import click

from olm_runtime.cli.completion import SHELLS, completion_script


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, *, shell: str) -> None:
    """Print a completion script for SHELL.

    \b
    Examples:
      source <(opm completion bash)
      opm completion zsh > "${fpath[1]}/_opm"
      opm completion fish > ~/.config/fish/completions/opm.fish
    """
    click.echo(completion_script(context.find_root().command, "opm", shell))
