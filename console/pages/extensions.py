"""The list of extensions."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.olm.v1.kinds import EXTENSION
from console.asked import AskedBy
from console.paging import Paged
from console.rendering import page
from olm_client.lifecycle.overview import overview_facts

router = APIRouter()


@router.get("/extensions")
async def extensions(
    request: Request,
    user: AskedBy,
    words: str = "",
    phase: str = "",
    number: Annotated[int, Query(alias="page", ge=1)] = 1,
) -> Response:
    """All of them, what does not go as it should first; `words` must occur in name or package."""
    facts = overview_facts(await user.objects(EXTENSION), ())["extensions"]
    found = [
        each
        for each in facts
        if all(word in f"{each['name']} {each['package']}" for word in words.lower().split())
        and phase in ("", each["phase"])
    ]
    return page(
        request,
        "extensions.html",
        found=Paged.of(found, number),
        words=words,
        phase=phase,
        phases=sorted({each["phase"] for each in facts}),
        may_create=await user.may("create", EXTENSION),
        live=(EXTENSION.kind,),
    )
