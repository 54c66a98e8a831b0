"""`olm console`: the web console on this machine, with the user's own kubeconfig."""

import webbrowser
from importlib import import_module
from pathlib import Path

import click

from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.lifecycle.interrupt import run
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.memory import share_one_arena

SERVER = "console.local"
"""Imported by name: the console stands next to the command line, and neither imports the other."""


@click.command("console", cls=ClusterCommand)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Of the loopback address; default: one that is free.",
)
@click.option("--open/--no-open", "opens", default=True, help="Open it in the browser.")
@cluster_options
def console(
    port: int, opens: bool, reach: Reach, catalogd_cas_dir: Path | None, allow_http_catalogs: bool
) -> None:
    """Open the web console: find, install, understand and update in a browser.

    It runs on this machine until Ctrl-C, as kubectl proxy does, and does what your kubeconfig
    lets you do. The address that it prints lets one browser in, once; then it prints another.

    \b
    Examples:
      olm console
      olm console --port 8899 --no-open
    """
    share_one_arena()
    run_local = import_module(SERVER).run_local
    first = opens

    def announce(address: str) -> None:
        nonlocal first
        click.echo(f"open {address}" if first is opens else f"to let another browser in: {address}")
        if first:
            webbrowser.open(address)
        first = False

    options = ClusterOptions(reach, catalogd_cas_dir, allow_http_catalogs)
    run(run_local(options, port, announce), serves=True)
