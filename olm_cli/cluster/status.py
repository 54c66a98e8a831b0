"""`olm cluster status`: shows how far an update of a cluster is."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import click

from cluster_version.client_output.facts import status_facts
from cluster_version.client_output.status_view import Details, status_page
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, output_option, show
from olm_client.cluster.reading import read_cluster
from olm_client.reach import Reach, cluster
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.clocks import utc_now
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

POLL_SECONDS = 5.0


@click.command("status", cls=ClusterCommand)
@click.option(
    "--details",
    type=click.Choice([each.value for each in Details]),
    default=Details.NONE.value,
    show_default=True,
    help="Show all of a section.",
)
@click.option("-w", "--watch", is_flag=True, help="Go on telling, until Ctrl-C.")
@reach_options
@output_option
def status(details: str, watch: bool, reach: Reach, output: Output) -> None:
    """Tell how far an update of the cluster is: operators, nodes, and what hinders it.

    --watch redraws on a terminal; elsewhere it prints the lines that are new. It goes on while the
    API server restarts. Alerts are not looked at; nodes are shown where the cluster has
    MachineConfigs.

    \b
    Examples:
      olm cluster status
      olm cluster status --details health
      olm cluster status --watch
      olm cluster status -o json | jq .operators

    Only reads.
    """
    if not output.is_text:
        if watch:
            raise click.UsageError("--watch is for people; ask again for -o " + output.format)
        show(run(_facts(reach)), output)
        return
    run(_show_status(reach, Details(details), watch=watch))


async def _facts(reach: Reach) -> dict[str, Any]:
    async with cluster(reach) as kube:
        return status_facts(await read_cluster(kube), utc_now())


async def _show_status(reach: Reach, details: Details, *, watch: bool) -> None:
    display = LiveDisplay(sys.stdout)
    async with cluster(reach) as kube:
        if not watch:
            click.echo(await _text(kube, details), nl=False)
            return
        lines: Sequence[str] = ()
        while True:
            hindered: Sequence[str] = ()
            try:
                lines = (await _text(kube, details)).splitlines()
            except ApiError as error:
                if not error.may_pass:
                    raise
                hindered = [f"not asked again yet: {error.message}", ""]
            display.show([*hindered, *lines])
            await asyncio.sleep(POLL_SECONDS)


async def _text(kube: KubeClient, details: Details) -> str:
    return status_page(await read_cluster(kube), utc_now(), details=details)
