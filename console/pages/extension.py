"""One extension: its state in words, its objects, its revisions, and what can be done."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from console.asked import AskedBy
from console.kinds import EXTENSION, OBJECT_SET
from console.rendering import page
from olm_client.history import read_record, revision_facts
from olm_client.status import facts_of
from operator_controller.apply.suspension import suspension_of

router = APIRouter(prefix="/extensions/{name}")


@router.get("")
async def extension(request: Request, user: AskedBy, name: str) -> Response:
    """As `olm status NAME` tells it."""
    raw = await user.object(EXTENSION, name)
    facts = await facts_of(user.kube, raw, await user.objects(OBJECT_SET))
    record = await read_record(user.kube, name)
    revisions = [revision_facts(each, record) for each in reversed(record.revisions.every)]
    return page(
        request,
        "extension.html",
        facts=facts,
        revisions=revisions,
        suspended=suspension_of(raw) is not None,
        may_patch=await user.may("patch", EXTENSION, name=name),
        may_delete=await user.may("delete", EXTENSION, name=name),
        live=(EXTENSION.kind, OBJECT_SET.kind),
    )
