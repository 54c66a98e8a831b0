"""Asks the pods of a workload why it is not available, where the account may list them."""

from api.objects import GVK, KubeObject, gvk_of, namespace_of
from olm_rollout.pods import reason_of, selector_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

PODS_LISTED = 20
WORKLOADS = frozenset({("apps", "Deployment"), ("apps", "StatefulSet")})


def has_pods(gvk: GVK) -> bool:
    """Whether objects of a kind have pods of their own."""
    return (gvk.group, gvk.kind) in WORKLOADS


async def why_not_running(client: KubeClient, workload: KubeObject) -> str:
    """What keeps its pods from running; empty where that is not known or not to be seen."""
    return reason_of(await pods_of(client, workload))


async def pods_of(client: KubeClient, workload: KubeObject) -> list[KubeObject]:
    """Its pods, the first of many; none where they are not to be seen."""
    selector = selector_of(workload)
    if not selector or not has_pods(gvk_of(workload)):
        return []
    path = f"/api/v1/namespaces/{namespace_of(workload)}/pods"
    params = {"labelSelector": selector, "limit": str(PODS_LISTED)}
    try:
        page = await client.request("GET", path, params=params)
    except ApiError:
        return []  # what they say is optional: the workload is judged without it too
    return list(page.get("items") or ())
