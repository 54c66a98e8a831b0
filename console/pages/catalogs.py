"""The catalogs of a cluster."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from console.asked import AskedBy
from console.kinds import CATALOG
from console.rendering import page
from olm_cli.cluster_catalogs.facts import facts_of, poll_text

router = APIRouter(prefix="/catalogs")


@router.get("")
async def catalogs(request: Request, user: AskedBy) -> Response:
    """All of them, as `olm catalog list` tells it."""
    found = [facts_of(raw) for raw in await user.objects(CATALOG)]
    return page(request, "catalogs.html", found=found, poll_text=poll_text, live=(CATALOG.kind,))


@router.get("/{name}")
async def catalog(request: Request, user: AskedBy, name: str) -> Response:
    """One of them, as `olm catalog show NAME` tells it."""
    facts = facts_of(await user.object(CATALOG, name))
    return page(request, "catalog.html", facts=facts, poll_text=poll_text, live=(CATALOG.kind,))
