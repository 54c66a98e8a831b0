"""`olm cluster graph`: the update graph of a cluster as a picture."""

import sys
from typing import IO

import click

from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.graph import read_graph
from cluster_version.updates.retrieval import Question
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.graph import coloured
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import DATA, Format, Output, output_of, show
from olm_client.catalogs.timeline import timeline
from olm_client.cluster.reading import read_version
from olm_client.cluster.release_history import LEGEND, facts, release_history, ways_of
from olm_client.cluster.update_graph import ARCHITECTURE, ask_graph
from olm_client.reach import Reach, cluster
from olm_runtime.errors import TerminalError
from opm.picture import svg

RUNNING = "running"


@click.command("graph", cls=ClusterCommand)
@click.option("--channel", default="", metavar="NAME", help="Ask for another channel.")
@click.option(
    "--from",
    "oldest",
    default="",
    metavar="VERSION",
    help="Only what leads on from this release; `running` for that of the cluster.",
)
@click.option(
    "--arch", default=ARCHITECTURE, show_default=True, help="Architecture of the cluster's nodes."
)
@click.option(
    "-f",
    "--file",
    "given",
    type=click.File("rb"),
    help="Answer of an update service, or - for stdin, instead of asking that of the cluster.",
)
@reach_options
@output_of(Format.TEXT, Format.SVG, *DATA)
def graph(
    channel: str, oldest: str, arch: str, given: IO[bytes] | None, reach: Reach, output: Output
) -> None:
    """Draw the graph of releases that the cluster's update service answers with, newest first.

    In the terminal a line leads from each release to those that can be updated to it: `│` the
    shortest way, `┆` a leap over others, `┊` what risks may speak against. Drawn is only what
    keeps a release from standing alone; the words beside them tell all.

    \b
    Examples:
      olm cluster graph
      olm cluster graph --from running
      olm cluster graph --channel stable-4.11 -o svg > updates.svg
      curl -s "$UPDATE_SERVICE/graph?channel=stable" | olm cluster graph --file -

    Only reads. This machine asks the update service, through the cluster's proxy if it has one.
    """
    if given is not None:
        if oldest == RUNNING:
            raise click.UsageError("--from running needs a cluster, which --file does not ask")
        body, running, heading = given.read(), "", channel or "update graph"
    else:
        body, asked = run(_ask(reach, channel, arch))
        running, heading = asked.version, f"channel {asked.channel}"
    try:
        found = ways_of(read_graph(body))
    except RetrievalError as error:
        source = "the update service" if given is None else given.name
        raise TerminalError(f"{source} does not answer with a graph: {error.message}") from error
    if oldest:
        found = found.onwards(running if oldest == RUNNING else oldest)
    if output.format in DATA:
        show(facts(found, running), output)
        return
    history = release_history(found, heading, running)
    if output.format is Format.SVG:
        sys.stdout.write(svg([history], title=heading, legend=LEGEND))
        return
    for line in timeline([history]):
        click.echo(coloured(line))


async def _ask(reach: Reach, channel: str, architecture: str) -> tuple[bytes, Question]:
    """Raises TerminalError, ApiError."""
    async with cluster(reach) as kube:
        try:
            return await ask_graph(kube, await read_version(kube), channel, architecture)
        except RetrievalError as error:
            hint = "--file takes an answer that was fetched elsewhere"
            raise TerminalError(error.message, hint=hint) from error
