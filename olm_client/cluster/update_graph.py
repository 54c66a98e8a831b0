"""The update graph of a cluster: what its update service answers, and a picture of that."""

from dataclasses import replace
from importlib.metadata import version as version_of

from api.objects import KubeObject
from cluster_version.decisions.objects import current_version, desired_of
from cluster_version.io.graph_client import GraphClient
from cluster_version.updates.graph import read_graph
from cluster_version.updates.retrieval import Question, question_of, request_of
from olm_client.cluster.release_history import LEGEND, release_history, ways_of
from olm_runtime.kube.client import KubeClient
from opm.picture import svg

ARCHITECTURE = "amd64"


async def ask_graph(
    kube: KubeClient, live: KubeObject, channel: str = "", architecture: str = ARCHITECTURE
) -> tuple[bytes, Question]:
    """What the update service of a ClusterVersion answers; without `channel` of its own one.

    Raises RetrievalError, ApiError.
    """
    running = current_version(live)
    question = question_of(live, running, desired_of(live).get("architecture") or architecture)
    question = replace(question, channel=channel or question.channel)
    client = GraphClient(kube, version_of("olmv1"))
    return await client.get(request_of(question).url), question


def drawn(body: bytes, asked: Question) -> str:
    """The picture of an answer. Raises RetrievalError."""
    heading = f"channel {asked.channel}"
    history = release_history(ways_of(read_graph(body)), heading, asked.version)
    return svg([history], title=heading, legend=LEGEND)
