"""One extension: its state in words, its objects, its revisions, and what can be done."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.objects import name_of
from console.asked import AskedBy
from console.kinds import EXTENSION, OBJECT_SET
from console.rendering import page
from olm_cli.status_one import facts_of

router = APIRouter(prefix="/extensions/{name}")


@router.get("")
async def extension(request: Request, user: AskedBy, name: str) -> Response:
    """As `olm status NAME` tells it."""
    raw = await user.object(EXTENSION, name)
    facts = await facts_of(user.kube, raw, await user.objects(OBJECT_SET))
    may_patch = await user.may("patch", EXTENSION, name=name_of(raw))
    return page(
        request,
        "extension.html",
        facts=facts,
        may_patch=may_patch,
        live=(EXTENSION.kind, OBJECT_SET.kind),
    )
