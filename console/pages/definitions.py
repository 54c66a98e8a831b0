"""The definitions of a package's bundle, and their schemas a level at a time."""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import Response

from console.asked import AskedBy
from console.bundles import definitions_of
from console.offers import blobs_of
from console.rendering import page
from console.schemas import Definition, level
from olm_client.catalogs.details import package_details, records_of

router = APIRouter(prefix="/packages/{name}/definitions")

MAX_DEPTH = 60


@router.get("")
async def definitions(  # noqa: PLR0913 - of a query
    request: Request,
    user: AskedBy,
    name: str,
    catalog: str = "",
    version: str = "",
    of: str = "",
    api: str = "",
    at: Annotated[Sequence[str], Query(alias="path", max_length=MAX_DEPTH)] = (),
) -> Response:
    """The fields of one at a place, as `kubectl explain` shows them; its image is pulled."""
    where, blobs = await blobs_of(user, name, catalog)
    facts = await asyncio.to_thread(
        lambda: package_details(records_of(blobs), version=version, channel="")
    )
    bundle = facts["bundle"]
    found = await asyncio.to_thread(definitions_of, bundle["image"], user.options)
    shown = _chosen(found, of)
    chosen = api if shown and api in shown.versions else shown.versions[0] if shown else ""
    here = level(shown.schemas[chosen], at) if shown else None
    if shown and here is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return page(
        request,
        "definitions.html",
        name=name,
        title=facts["displayName"] or name,
        catalog=where,
        bundle=bundle,
        found=found,
        shown=shown,
        api=chosen,
        path=list(at),
        level=here,
    )


def _chosen(found: Sequence[Definition], name: str) -> Definition | None:
    served = [each for each in found if each.versions]
    return next((each for each in served if each.name == name), served[0] if served else None)
