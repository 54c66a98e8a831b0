"""The cluster's side of `olm crd check`: its definitions, and its objects. Changes nothing."""

from collections.abc import Iterable, Sequence

from olm_client.crds.report import Definitions
from olm_client.reach import Reach
from olm_content.crds import Finding
from olm_content.crds.going import Going
from olm_content.crds.stored import Examined, Question
from olm_rollout.io.definitions import DEFINITION
from olm_rollout.io.stored_objects import Bounds, count, examine
from olm_runtime.kube.client import KubeClient


async def live_definitions(reach: Reach, names: Iterable[str]) -> Definitions:
    """Those of the names that the cluster has. Raises ApiError."""
    async with KubeClient.briefly(reach.access()) as client:
        found = {name: await client.find(DEFINITION, name) for name in names}
    return {name: crd for name, crd in found.items() if crd is not None}


async def examined(reach: Reach, questions: Sequence[Question], bounds: Bounds) -> list[Examined]:
    """What the API server says of the objects that are stored."""
    async with KubeClient.briefly(reach.access()) as client:
        return await examine(client, questions, bounds)


async def counted(reach: Reach, going: Iterable[Going], seconds: float) -> list[Finding]:
    """What stands against what goes, as objects are stored of it."""
    async with KubeClient.briefly(reach.access()) as client:
        return await count(client, going, seconds)
