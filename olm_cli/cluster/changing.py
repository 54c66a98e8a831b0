"""Reads the ClusterVersion of a cluster, and writes what a command asks of it."""

from collections.abc import Callable

import click

from api.objects import GVK, KubeObject
from cluster_version.client_output.upgrade_request import Answer
from olm_cli.cluster_options import Reach
from olm_cli.field_manager import FIELD_MANAGER
from olm_cli.history_cluster import cluster
from olm_runtime.errors import TerminalError

CLUSTER_VERSION = GVK("config.openshift.io", "v1", "ClusterVersion")
NAME = "version"

_NONE = (
    "No cluster version information available - you must be connected to an OpenShift version 4 "
    "server to fetch the current version"
)


def warn(text: str) -> None:
    """Writes to standard error."""
    click.echo(text, err=True)


async def change(reach: Reach, decide: Callable[[KubeObject], Answer]) -> str:
    """Writes what is decided of the ClusterVersion. Returns what to print.

    Raises TerminalError if there is none or `decide` does, ApiError.
    """
    async with cluster(reach) as kube:
        live = await kube.find(CLUSTER_VERSION, NAME)
        if live is None:
            raise TerminalError(_NONE)
        answer = decide(live)
        if answer.patch is not None:
            await kube.patch(live, answer.patch, field_manager=FIELD_MANAGER)
        return answer.text
