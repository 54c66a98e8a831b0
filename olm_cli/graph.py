"""`olm graph`: the update graph of a package as a picture."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import click

from olm_cli.catalogs.completing import known_channels, known_versions
from olm_cli.catalogs.extensions import known_extensions
from olm_cli.catalogs.names import package_argument
from olm_cli.catalogs.options import catalog_options, warn
from olm_cli.cluster_options import ClusterCommand
from olm_cli.kube_names import object_name
from olm_cli.output import DATA, Format, Output, output_of, show
from olm_client.catalogs.details import Details, records_of
from olm_client.catalogs.graphs import part_of
from olm_client.catalogs.sources import Sources, with_package
from olm_client.catalogs.timeline import timeline
from olm_client.reach import Reach
from olm_content.fbc.graph import Graph, graph, updates
from olm_runtime.cli.async_work import run_async
from opm.histories import histories
from opm.mermaid import mermaid
from opm.picture import picture

_COLOURS = {"head": "green", "installed": "cyan", "running": "cyan", "deprecated": "yellow"}
_MARK = re.compile(r"\[(head|installed|running|deprecated)\]")


@click.command("graph", cls=ClusterCommand)
@package_argument
@click.option(
    "--channel",
    default="",
    metavar="NAME",
    shell_complete=known_channels,
    help="Only this channel.",
)
@click.option(
    "--from",
    "oldest",
    default="",
    metavar="VERSION",
    shell_complete=known_versions,
    help="Only what leads on from this one.",
)
@click.option(
    "--extension",
    callback=object_name,
    metavar="NAME",
    help="Mark what this ClusterExtension has installed.",
    shell_complete=known_extensions,
)
@output_of(Format.TEXT, Format.MERMAID, Format.SVG, *DATA)
@catalog_options
def graph_command(
    package: str, channel: str, oldest: str, extension: str | None, output: Output, **options: Any
) -> None:
    """Draw the update graph of PACKAGE, newest version first.

    In the terminal a line leads from each version to those that it updates: `│` what it replaces,
    `┆` what it skips, `┊` what its range covers. Of skips and ranges only those are drawn without
    which a version would stand alone; the words beside them tell all. VERSION is a version or the
    name of a bundle.

    \b
    Examples:
      olm graph quay-operator --channel stable-3.10
      olm graph quay-operator --from 3.9.0 --extension quay
      olm graph quay-operator --catalog ./catalog -o svg > quay.svg
    """
    offers = Sources(options).offers()
    installed = _installed(extension, options["reach"]) if extension else ""
    found = [
        (catalog, part_of(graph(records_of(blobs)), channel, oldest))
        for catalog, blobs in with_package(offers, package)
    ]
    if output.format in DATA:
        show({"catalogs": [_facts(name, drawn, installed) for name, drawn in found]}, output)
        return
    warn(offers)
    if output.is_text:
        _print(found, installed)
        return
    if len(found) > 1:
        others = ", ".join(name for name, _ in found[1:])
        click.echo(f"note: drawn from {found[0][0]}; --catalog takes {others}", err=True)
    drawn = found[0][1]
    sys.stdout.write(
        picture(drawn, installed=installed) if output.format is Format.SVG else mermaid(drawn)
    )


def _installed(extension: str, reach: Reach) -> str:
    from olm_client.resolution.situation import read_installed

    found = run_async(read_installed(extension, reach))
    return found.name if found else ""


def _print(found: Sequence[tuple[str, Graph]], installed: str) -> None:
    for name, drawn in found:
        if len(found) > 1:
            click.echo(click.style(f"catalog {name}", bold=True))
        for line in timeline(histories(drawn, installed=installed)):
            click.echo(coloured(line))


def coloured(line: str) -> str:
    """A line of a timeline for a terminal."""
    return _MARK.sub(lambda mark: click.style(mark[0], fg=_COLOURS[mark[1]]), line)


def _facts(catalog: str, drawn: Graph, installed: str) -> Details:
    return {
        "catalog": catalog,
        "channels": [
            {
                "package": channel.package,
                "name": channel.name,
                "heads": channel.newest_heads(),
                "deprecated": channel.deprecated or channel.package in drawn.deprecated,
                "entries": [
                    {
                        "name": entry.name,
                        "version": str(entry.version),
                        "deprecated": entry.deprecated,
                        "installed": entry.name == installed,
                    }
                    for entry in channel.newest_first()
                ],
                "updates": [
                    {"from": step.older, "to": step.newer, "kind": step.kind.value}
                    for step in updates(channel)
                ],
            }
            for channel in drawn.channels
        ],
    }
