"""The version of an OpenShift cluster: how it is, and what it can be updated to."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from cluster_version.client_output.facts import status_facts, update_facts
from cluster_version.client_output.recommend_view import updates_of
from console.asked import AskedBy
from console.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from console.rendering import page
from olm_client.cluster.reading import read_cluster
from olm_runtime.clocks import utc_now

router = APIRouter()


@router.get("/cluster")
async def cluster(request: Request, user: AskedBy) -> Response:
    """What `olm cluster status` and `olm cluster recommend` tell, and the history."""
    await user.objects(CLUSTER_VERSION)
    await user.objects(CLUSTER_OPERATOR)
    found = await read_cluster(user.kube)
    warnings: list[str] = []
    updates = [update_facts(each) for each in updates_of(found.version, warnings.append)]
    status = found.version.get("status") or {}
    return page(
        request,
        "cluster.html",
        facts=status_facts(found, utc_now()),
        updates=updates,
        warnings=warnings,
        channel=(found.version.get("spec") or {}).get("channel") or "",
        history=status.get("history") or (),
        live=(CLUSTER_VERSION.kind, CLUSTER_OPERATOR.kind),
    )
