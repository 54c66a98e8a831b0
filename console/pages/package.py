"""One package: what it is, its versions and channels, what it brings and needs."""

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.olm.v1.kinds import CATALOG, EXTENSION
from console.asked import AskedBy
from console.classic_packages import path_to_install
from console.offers import blobs_of
from console.orders import Asked, find_order
from console.rendering import page
from console.settings import SANDBOXED
from console.users import User
from console.words import markdown
from olm_client.catalogs.details import package_details, records_of
from olm_client.catalogs.graphs import part_of
from olm_client.rbac.text import why
from olm_content.fbc.graph import graph
from opm.picture import picture

VERSIONS_SHOWN = 30

router = APIRouter(prefix="/packages/{name}")


@router.get("")
async def package(
    request: Request,
    user: AskedBy,
    name: str,
    catalog: str = "",
    version: str = "",
    channel: str = "",
) -> Response:
    """As `olm show NAME` shows it; the bundle is the newest of the version and the channel."""
    where, blobs = await blobs_of(user, name, catalog)
    facts = await asyncio.to_thread(
        lambda: package_details(records_of(blobs), version=version, channel=channel)
    )
    return page(
        request,
        "package.html",
        facts=facts,
        catalog=where,
        description=await asyncio.to_thread(markdown, facts["description"]),
        versions_shown=VERSIONS_SHOWN,
        by_classic=await path_to_install(user, name),
        offers_v1=await user.serves(EXTENSION),
        may_install=await user.serves(EXTENSION) and await user.may("create", EXTENSION),
        live=(CATALOG.kind,),
    )


@router.get("/graph")
async def drawn(user: AskedBy, name: str, catalog: str = "", channel: str = "") -> Response:
    """The update graph as a picture, as `olm graph NAME -o svg` draws it."""
    _, blobs = await blobs_of(user, name, catalog)
    svg = await asyncio.to_thread(
        lambda: picture(part_of(graph(records_of(blobs)), channel, ""), installed="")
    )
    return Response(svg, media_type="image/svg+xml", headers=SANDBOXED)


@router.get("/rights")
async def rights(
    request: Request, user: AskedBy, name: str, catalog: str = "", version: str = ""
) -> Response:
    """The least that its account needs, in words; its image is pulled for that."""
    asked = Asked(catalog=catalog, version=version)
    rules = await asyncio.to_thread(_rights, name, asked, user)
    return page(request, "rights.html", name=name, rules=rules)


def _rights(name: str, asked: Asked, user: User) -> list[Mapping[str, Any]]:
    """Of each rule what it lets do, and what for."""
    order = find_order(name, asked, user.options)
    return [
        {"rule": each.rule, "why": why(each)}
        for document in order.documents
        for each in document.rules
    ]
