"""The catalogs of a cluster, and what can be done with them."""

import asyncio
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.olm.v1.clustercatalog import AvailabilityMode
from api.olm.v1.kinds import CATALOG
from console.asked import AskedBy
from console.rendering import page, say
from console.users import User
from olm_client.cluster_catalogs.adding import new_catalog, write_new
from olm_client.cluster_catalogs.dependents import dependent_lines
from olm_client.cluster_catalogs.examining import examine
from olm_client.cluster_catalogs.facts import facts_of, poll_text
from olm_client.cluster_catalogs.refreshing import refresh_patch
from olm_client.cluster_catalogs.writing import delete_catalog, patch_catalog
from olm_runtime.clocks import utc_now
from olm_runtime.errors import OLMError, TerminalError

router = APIRouter(prefix="/catalogs")

Text = Annotated[str, Form()]


@router.get("")
async def catalogs(request: Request, user: AskedBy, phase: str = "") -> Response:
    """Those of a phase, or all of them, as `olm catalog list` shows it."""
    return await _list(request, user, phase)


async def _list(
    request: Request, user: User, phase: str = "", error: OLMError | None = None
) -> Response:
    every = [facts_of(raw) for raw in await user.objects(CATALOG)]
    found = [each for each in every if phase in ("", each["phase"])]
    typed = await request.form() if error else {}
    return page(
        request,
        "catalogs.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK,
        found=found,
        phase=phase,
        phases=sorted({each["phase"] for each in every}),
        poll_text=poll_text,
        error=error,
        typed={key: str(typed.get(key, "")) for key in ("name", "image", "priority")},
        may_create=await user.may("create", CATALOG),
        live=(CATALOG.kind,),
    )


@router.post("")
async def add(
    request: Request, user: AskedBy, name: Text = "", image: Text = "", priority: Text = ""
) -> Response:
    """Adds one, as `olm catalog add` does."""
    try:
        number = _number(priority) if priority.strip() else 0
        given = {"poll_minutes": None, "labels": (), "priority": number}
        await write_new(user.kube, new_catalog(name.strip(), image.strip(), given))
    except OLMError as error:
        return await _list(request, user, error=error)
    say(request, f"{name} is added; its image is being pulled.")
    return RedirectResponse(f"/catalogs/{name.strip()}", HTTPStatus.SEE_OTHER)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise TerminalError(
            f"{text!r} is no number", hint="a priority is one, such as 10"
        ) from None


@router.get("/{name}")
async def catalog(request: Request, user: AskedBy, name: str) -> Response:
    """One of them, as `olm catalog show NAME` shows it."""
    facts = facts_of(await user.object(CATALOG, name))
    return page(
        request,
        "catalog.html",
        facts=facts,
        poll_text=poll_text,
        may_patch=await user.may("patch", CATALOG, name=name),
        may_delete=await user.may("delete", CATALOG, name=name),
        live=(CATALOG.kind,),
    )


@router.post("/{name}/availability")
async def switch(request: Request, user: AskedBy, name: str, mode: Text) -> Response:
    """Switches it on or off."""
    wanted = AvailabilityMode.UNAVAILABLE if mode == "off" else AvailabilityMode.AVAILABLE
    raw = await user.object(CATALOG, name)
    await patch_catalog(user.kube, raw, {"spec": {"availabilityMode": wanted.value}})
    say(request, f"{name} is switched {'off' if mode == 'off' else 'on'}.")
    return RedirectResponse(f"/catalogs/{name}", HTTPStatus.SEE_OTHER)


@router.post("/{name}/refresh")
async def refresh(request: Request, user: AskedBy, name: str) -> Response:
    """Has its registry asked for new content at once."""
    await patch_catalog(user.kube, await user.object(CATALOG, name), refresh_patch(utc_now()))
    say(request, f"The registry of {name} is being asked.")
    return RedirectResponse(f"/catalogs/{name}", HTTPStatus.SEE_OTHER)


@router.get("/{name}/remove")
async def remove_page(request: Request, user: AskedBy, name: str) -> Response:
    """Who would miss it, as `olm catalog remove NAME --preview` shows it."""
    found = await asyncio.to_thread(examine, name, user.options)
    text = "\n".join(dependent_lines(found.dependents))
    may_delete = await user.may("delete", CATALOG, name=name)
    return page(request, "catalog_remove.html", name=name, text=text, may_delete=may_delete)


@router.post("/{name}/remove")
async def remove(request: Request, user: AskedBy, name: str) -> Response:
    """Removes it; what was installed from it stays."""
    await delete_catalog(user.kube, await user.object(CATALOG, name))
    say(request, f"{name} is being removed.")
    return RedirectResponse("/catalogs", HTTPStatus.SEE_OTHER)
