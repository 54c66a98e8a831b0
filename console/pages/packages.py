"""Packages: found by words and facets."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from api.olm.v1.kinds import CATALOG, EXTENSION
from console.asked import AskedBy
from console.classic_packages import classic_names
from console.offers import Offered, of_catalog, offers_of
from console.paging import Paged
from console.pictures import picture_of
from console.rendering import page
from console.settings import SANDBOXED
from console.users import User
from olm_client.catalogs.ranking import ranked

BY_V1, BY_CLASSIC = "by OLM v1", "by OLM Classic"
ICON_SECONDS = 86_400

FACETS = {
    "catalog": lambda each: (each[0],),
    "category": lambda each: each[1].categories,
    "provider": lambda each: filter(None, (each[1].provider,)),
    "capability": lambda each: filter(None, (each[1].capability,)),
}
"""What packages are chosen by, and which values one has."""

Facets = Mapping[str, Callable[[Offered], Iterable[str]]]

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
    facets = FACETS | {"installable": await _ways(user)}
    chosen = {
        facet: value for facet in facets if (value := request.query_params.get(facet, "").strip())
    }
    matching = await asyncio.to_thread(_matching, offers.packages, words)
    found = [each for each in matching if _has(each, facets, chosen)]
    query = urlencode({"words": words, **chosen})
    return page(
        request,
        "packages.html",
        found=Paged.of(found, number),
        words=words,
        chosen=chosen,
        facets=_counted(matching, facets, chosen),
        faults=offers.faults,
        reading=offers.reading,
        query=query,
        live=(CATALOG.kind,),
    )


def _matching(offered: Sequence[Offered], words: str) -> Sequence[Offered]:
    if words.split():
        return ranked(offered, words.split())
    return sorted(offered, key=lambda each: (each[1].name, each[0]))


async def _ways(user: User) -> Callable[[Offered], Iterable[str]]:
    """By which OLM of this cluster a package can be installed."""
    v1 = await user.serves(EXTENSION)
    by_classic = await classic_names(user)

    def ways(each: Offered) -> Iterable[str]:
        if v1 and not each[1].obstacle:
            yield BY_V1
        if each[1].name in by_classic:
            yield BY_CLASSIC

    return ways


def _has(each: Offered, facets: Facets, chosen: Mapping[str, str]) -> bool:
    return all(value in facets[facet](each) for facet, value in chosen.items())


def _counted(
    matching: Sequence[Offered], facets: Facets, chosen: Mapping[str, str]
) -> dict[str, list[tuple[str, int]]]:
    """The values of each facet and how many packages have them, if the others stay as chosen."""
    found = {}
    for facet, values in facets.items():
        others = {name: value for name, value in chosen.items() if name != facet}
        counts = Counter(
            value for each in matching if _has(each, facets, others) for value in values(each)
        )
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
