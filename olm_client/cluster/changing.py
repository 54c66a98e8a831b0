"""Reads the ClusterVersion of a cluster, and writes what a command asks of it."""

from collections.abc import Callable

from api.objects import KubeObject
from cluster_version.client_output.upgrade_request import Answer
from olm_client.cluster.reading import read_version
from olm_client.field_manager import FIELD_MANAGER
from olm_client.reach import Reach, cluster


async def change(reach: Reach, decide: Callable[[KubeObject], Answer]) -> Answer:
    """Writes what is decided of the ClusterVersion. Returns the decision.

    Raises TerminalError if there is none or `decide` does, ApiError.
    """
    async with cluster(reach) as kube:
        live = await read_version(kube)
        answer = decide(live)
        if answer.patch is not None:
            await kube.patch(live, answer.patch, field_manager=FIELD_MANAGER)
        return answer
