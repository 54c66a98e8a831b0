"""Packages: found by words and facets."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from console.asked import AskedBy
from console.kinds import CATALOG
from console.offers import Offered, of_catalog, offers_of
from console.paging import Paged
from console.rendering import page
from console.settings import SANDBOXED
from console.words import picture_of
from olm_client.catalogs.ranking import ranked

INSTALLABLE = "by OLM v1"
ICON_SECONDS = 86_400

FACETS: Mapping[str, Callable[[Offered], Iterable[str]]] = {
    "catalog": lambda each: (each[0],),
    "category": lambda each: each[1].categories,
    "provider": lambda each: filter(None, (each[1].provider,)),
    "capability": lambda each: filter(None, (each[1].capability,)),
    "installable": lambda each: () if each[1].obstacle else (INSTALLABLE,),
}
"""What packages are chosen by, and which values one has."""

router = APIRouter()


@router.get("/packages")
async def packages(
    request: Request,
    user: AskedBy,
    words: str = "",
    number: Annotated[int, Query(alias="page", ge=1)] = 1,
) -> Response:
    """Those in which all words occur, the best first, of the facets that are chosen."""
    offers = await offers_of(user)
    chosen = {
        facet: value for facet in FACETS if (value := request.query_params.get(facet, "").strip())
    }
    matching = await asyncio.to_thread(_matching, offers.packages, words)
    found = [each for each in matching if _has(each, chosen)]
    query = urlencode({"words": words, **chosen})
    return page(
        request,
        "packages.html",
        found=Paged.of(found, number),
        words=words,
        chosen=chosen,
        facets=_facets(matching, chosen),
        faults=offers.faults,
        reading=offers.reading,
        query=query,
        live=(CATALOG.kind,),
    )


def _matching(offered: Sequence[Offered], words: str) -> Sequence[Offered]:
    if words.split():
        return ranked(offered, words.split())
    return sorted(offered, key=lambda each: (each[1].name, each[0]))


def _has(each: Offered, chosen: Mapping[str, str]) -> bool:
    return all(value in FACETS[facet](each) for facet, value in chosen.items())


def _facets(
    matching: Sequence[Offered], chosen: Mapping[str, str]
) -> dict[str, list[tuple[str, int]]]:
    """The values of each facet and how many packages have them, if the others stay as chosen."""
    found = {}
    for facet, values in FACETS.items():
        others = {name: value for name, value in chosen.items() if name != facet}
        counts = Counter(value for each in matching if _has(each, others) for value in values(each))
        found[facet] = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return found


@router.get("/icons/{catalog}/{package}")
async def icon(user: AskedBy, catalog: str, package: str) -> Response:
    """The icon of a package, if it is an image: as such, and nothing else. Else one of ours."""
    _, text = await of_catalog(user, catalog, lambda content: content.icon(package))
    picture = picture_of(text)
    if picture is None:
        return RedirectResponse("/static/package.svg")
    headers = {**SANDBOXED, "Cache-Control": f"private, max-age={ICON_SECONDS}"}
    return Response(picture.content, media_type=picture.media_type, headers=headers)
