"""The list of extensions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.olm.v1.kinds import EXTENSION
from console.asked import AskedBy
from console.facts_cache import Facts
from console.paging import Paged
from console.rendering import page

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
    facts = user.extensions.of(await user.objects(EXTENSION))
    wanted = words.lower().split()
    found = [each for each in facts if _matches(each, wanted, phase)] if wanted or phase else facts
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


def _matches(facts: Facts, words: Sequence[str], phase: str) -> bool:
    text = f"{facts['name']} {facts['package']}"
    return phase in ("", facts["phase"]) and all(word in text for word in words)
