"""Reads the ClusterVersion of a cluster, and writes what a command asks of it."""

from collections.abc import Callable

import click

from api.objects import KubeObject
from cluster_version.client_output.upgrade_request import Answer
from olm_cli.cluster.reading import read_version
from olm_cli.cluster_options import Reach
from olm_cli.field_manager import FIELD_MANAGER
from olm_cli.history_cluster import cluster


def warn(text: str) -> None:
    """Writes to standard error."""
    click.echo(text, err=True)


async def change(reach: Reach, decide: Callable[[KubeObject], Answer]) -> str:
    """Writes what is decided of the ClusterVersion. Returns what to print.

    Raises TerminalError if there is none or `decide` does, ApiError.
    """
    async with cluster(reach) as kube:
        live = await read_version(kube)
        answer = decide(live)
        if answer.patch is not None:
            await kube.patch(live, answer.patch, field_manager=FIELD_MANAGER)
        return answer.text
