"""What can be done with an extension. Each act is shown first, and done by a form of that page."""

import asyncio
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.objects import is_deleting
from api.olm.v1.kinds import EXTENSION
from console.asked import AskedBy
from console.orders import given_for
from console.rendering import page, say
from console.users import User
from olm_client.display import NoDisplay
from olm_client.history import read_record
from olm_client.lifecycle.applying import Applied
from olm_client.lifecycle.deleting import Deletion
from olm_client.lifecycle.planning import Planner
from olm_client.lifecycle.removal import Removal, lines, remains
from olm_client.lifecycle.removing import preview_removal, preview_rest
from olm_client.lifecycle.rolling_back import prepare_rollback
from olm_client.lifecycle.spec_fields import SpecFields
from olm_client.lifecycle.suspending import (
    NOT_SUSPENDED,
    set_suspension,
    suspension_annotations,
    user_of,
)
from olm_client.lifecycle.upgrade_text import upgrade_lines
from olm_client.lifecycle.upgrading import Upgrade, prepare, write_spec
from olm_client.resolution.situation import read_situation
from olm_client.why import answer_lines, answer_of

ACCOUNT_SECONDS = 60

router = APIRouter(prefix="/extensions/{name}")

Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


def _done(name: str) -> Response:
    return RedirectResponse(f"/extensions/{name}", HTTPStatus.SEE_OTHER)


def _ignore(_: Applied) -> None:
    """What became of an object of an account is seen on the page of the extension."""


@router.get("/why")
async def why(request: Request, user: AskedBy, name: str) -> Response:
    """As `olm why NAME` prints it."""
    situation = await read_situation(name, user.options)
    answer = await asyncio.to_thread(answer_of, situation, given_for(user.options))
    text = "\n".join(answer_lines(answer))
    return page(request, "why.html", name=name, text=text)


@router.post("/suspend")
async def suspend(request: Request, user: AskedBy, name: str, reason: Text = "") -> Response:
    """Has it left as it is."""
    wanted = suspension_annotations(reason, await user_of(user.kube))
    await set_suspension(user.kube, name, wanted)
    say(request, f"{name} is suspended: it is watched, and nothing of it is written.")
    return _done(name)


@router.post("/resume")
async def resume(request: Request, user: AskedBy, name: str) -> Response:
    """Goes on with it."""
    await set_suspension(user.kube, name, NOT_SUSPENDED)
    say(request, f"{name} goes on.")
    return _done(name)


async def _upgrade(user: User, name: str, version: str, channel: str, *, grant: bool) -> Upgrade:
    fields = SpecFields(version=version or None, channels=(channel,) if channel else ())
    planner = Planner(user.kube, user.options.reach.access(), given_for(user.options))
    return await prepare(user.kube, planner, name, fields, grant=grant)


@router.get("/upgrade")
async def upgrade_page(
    request: Request, user: AskedBy, name: str, version: str = "", channel: str = ""
) -> Response:
    """What the next version, or the one that is asked for, would change."""
    found = await _upgrade(user, name, version, channel, grant=True)
    return page(
        request,
        "upgrade.html",
        name=name,
        version=version,
        channel=channel,
        text="\n".join(upgrade_lines(found)),
        missing=found.plan.rights.missing,
        possible=not (found.obstacles or found.is_empty),
        may=await user.may("patch", EXTENSION, name=name),
    )


@router.post("/upgrade")
async def upgrade(
    request: Request,
    user: AskedBy,
    name: str,
    version: Text = "",
    channel: Text = "",
    grant: Ticked = False,
) -> Response:
    """Writes the rights, if that is agreed to, then the spec; nothing where something hinders."""
    found = await _upgrade(user, name, version, channel, grant=grant)
    if found.obstacles:
        text = "\n".join(upgrade_lines(found))
        return page(
            request, "why.html", status=HTTPStatus.CONFLICT, name=name,
            text=f"{text}\n\nNothing was written.",
        )  # fmt: skip
    if found.roles:
        await found.account.check_alone(user.kube)
        await found.account.grant(user.kube, _ignore)
    await write_spec(user.kube, found)
    bundle = found.plan.bundle
    say(request, f"{name} goes to {bundle.name}." if bundle else f"{name} is changed.")
    return _done(name)


@router.get("/rollback")
async def rollback_page(request: Request, user: AskedBy, name: str, to: int) -> Response:
    """What going back to a revision would change; what stands against it is an error."""
    record = await read_record(user.kube, name)
    found = await prepare_rollback(user.kube, record, to, grant=True)
    return page(
        request,
        "rollback.html",
        name=name,
        to=to,
        text="\n".join(found.lines(dry_run=False)),
        missing=found.roles.rights.missing,
        may=await user.may("patch", EXTENSION, name=name),
    )


@router.post("/rollback")
async def rollback(
    request: Request, user: AskedBy, name: str, to: Annotated[int, Form()], grant: Ticked = False
) -> Response:
    """Goes back."""
    record = await read_record(user.kube, name)
    found = await prepare_rollback(user.kube, record, to, grant=grant)
    await found.write(user.kube, _ignore)
    say(request, f"{name} goes back to {found.plan.target.bundle.name}.")
    return _done(name)


async def _removal(user: User, name: str) -> Removal:
    """Of the extension; of its account alone, where it is gone already."""
    rest = None
    if await user.kube.find(EXTENSION, name) is None:
        rest = await preview_rest(user.kube, name)
    return rest or await preview_removal(user.kube, await read_record(user.kube, name))


@router.get("/uninstall")
async def uninstall_page(request: Request, user: AskedBy, name: str) -> Response:
    """What would go, custom resources with their definitions among it."""
    removal = await _removal(user, name)
    return page(
        request,
        "uninstall.html",
        name=name,
        text="\n".join(lines(removal)),
        gone=removal.gone,
        going=not removal.gone and is_deleting(removal.extension),
        may=await user.may("delete", EXTENSION, name=name),
        live=(EXTENSION.kind,),
    )


@router.post("/uninstall")
async def uninstall(
    request: Request, user: AskedBy, name: str, typed: Text = "", cascade: Ticked = False
) -> Response:
    """Deletes it; once it is gone, what `olm install` wrote for it."""
    if typed != name:
        say(request, f"Nothing was deleted: type {name} to agree.")
        return RedirectResponse(f"/extensions/{name}/uninstall", HTTPStatus.SEE_OTHER)
    removal = await _removal(user, name)
    deletion = Deletion(user.kube, removal, ACCOUNT_SECONDS, NoDisplay())
    if removal.gone:
        await deletion.account()
        say(request, f"What was left of {name} is deleted.")
        return RedirectResponse("/extensions", HTTPStatus.SEE_OTHER)
    if cascade:
        await deletion.custom_resources()
    await deletion.extension()
    if remains(removal):
        say(
            request,
            f"{name} is being deleted. Its account can go when it is gone: see below.",
        )
        return RedirectResponse(f"/extensions/{name}/uninstall", HTTPStatus.SEE_OTHER)
    say(request, f"{name} is being deleted.")
    return RedirectResponse("/extensions", HTTPStatus.SEE_OTHER)
