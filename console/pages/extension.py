"""One extension: its state in words, its objects, its revisions, and what can be done."""

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.objects import KubeObject
from api.olm.v1.kinds import EXTENSION, OBJECT_SET
from console.around import read_around
from console.asked import AskedBy
from console.object_tree import by_object, tree
from console.rendering import page
from console.revision_changes import compare
from console.users import User
from olm_client.history import Record, content_of, read_record, record_of, revision_facts
from olm_client.status import facts_of
from olm_runtime.errors import TerminalError
from operator_controller.apply.suspension import suspension_of

router = APIRouter(prefix="/extensions/{name}")


@router.get("")
async def extension(request: Request, user: AskedBy, name: str) -> Response:
    """As `olm status NAME` and `olm history NAME` show it."""
    raw = await user.object(EXTENSION, name)
    object_sets = await user.objects(OBJECT_SET)
    facts = await facts_of(user.kube, raw, object_sets)
    record = record_of(raw, object_sets)
    around = await read_around(user, facts["objects"])
    events = by_object(around.events)
    return page(
        request,
        "extension.html",
        facts=facts,
        tree=tree(facts["objects"], around.owned, events),
        unknown=around.unknown,
        events=events.get((EXTENSION.kind, "", name), ()),
        revisions=[revision_facts(each, record) for each in reversed(record.revisions.every)],
        suspended=suspension_of(raw) is not None,
        may_patch=await user.may("patch", EXTENSION, name=name),
        may_delete=await user.may("delete", EXTENSION, name=name),
        live=(EXTENSION.kind, OBJECT_SET.kind),
    )


@router.get("/changes")
async def changes(
    request: Request, user: AskedBy, name: str, old: int = Query(alias="from"), to: int = Query()
) -> Response:
    """What is other in the objects of two revisions."""
    record = await read_record(user.kube, name)
    before, after = [await _content(user, record, number) for number in (old, to)]
    revisions = [revision_facts(each, record) for each in record.revisions.every]
    return page(
        request,
        "changes.html",
        name=name,
        before=old,
        after=to,
        revisions=revisions,
        found=compare(before, after),
    )


async def _content(user: User, record: Record, number: int) -> list[KubeObject]:
    found = next((each for each in record.revisions.every if each.number == number), None)
    if found is None:
        known = ", ".join(str(each.number) for each in record.revisions.every) or "none"
        raise TerminalError(f"there is no revision {number}", hint=f"revisions: {known}")
    return await content_of(user.kube, found, what_for="revisions are compared by their objects")
