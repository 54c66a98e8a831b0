"""Installing a package: a form, what it would write, and doing it."""

import asyncio
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from console.asked import AskedBy
from console.kinds import EXTENSION, NAMESPACE
from console.offers import blobs_of
from console.orders import Asked, find_order
from console.rendering import page, say
from console.users import User
from olm_client.catalogs.details import package_details, records_of
from olm_client.lifecycle.applying import apply_all
from olm_client.lifecycle.installing import Order, to_write
from olm_client.rbac.text import commented
from olm_runtime.errors import OLMError

router = APIRouter(prefix="/packages/{name}/install")


@router.get("")
async def form(request: Request, user: AskedBy, name: str) -> Response:
    """The form; with `preview` in the query, also what it would write."""
    asked = Asked.of(request.query_params)
    if "preview" not in request.query_params:
        return await _page(request, user, name, asked)
    try:
        order = await asyncio.to_thread(find_order, name, asked, user.options)
    except OLMError as error:
        return await _page(request, user, name, asked, error=error)
    return await _page(request, user, name, asked, order=order)


@router.post("")
async def install(request: Request, user: AskedBy, name: str) -> Response:
    """Writes what the preview shows: what is there and right stays as it is."""
    asked = Asked.of(await request.form())
    try:
        order = await asyncio.to_thread(find_order, name, asked, user.options)
        objects = await to_write(user.kube, order)
        written = [each async for each in apply_all(user.kube, objects)]
    except OLMError as error:
        return await _page(request, user, name, asked, error=error)
    say(request, f"{order.bundle} is being installed; {len(written)} objects were written.")
    return RedirectResponse(f"/extensions/{order.name}", HTTPStatus.SEE_OTHER)


async def _page(
    request: Request,
    user: User,
    name: str,
    asked: Asked,
    *,
    order: Order | None = None,
    error: OLMError | None = None,
) -> Response:
    _, blobs = await blobs_of(user, name, asked.catalog)
    facts = await asyncio.to_thread(
        lambda: package_details(records_of(blobs), version="", channel="")
    )
    may_create, may_make_namespaces = await user.may_all(
        ("create", EXTENSION), ("create", NAMESPACE)
    )
    return page(
        request,
        "install.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK,
        name=name,
        facts=facts,
        asked=asked,
        order=order,
        error=error,
        yaml=commented(order.title, order.documents) if order else "",
        may_install=may_create,
        may_make_namespaces=may_make_namespaces,
    )
