"""Installing a package: a form, what it would write, and doing it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from api.olm.v1.kinds import EXTENSION
from console.asked import AskedBy
from console.config_form import Input, inputs_of, read_form, texts_of, yaml_text
from console.kinds import NAMESPACE
from console.offers import blobs_of
from console.orders import Asked, find_order, given_for
from console.rendering import page, say
from console.users import User
from olm_client.catalogs.details import Details, package_details, records_of
from olm_client.lifecycle.applying import apply, apply_all
from olm_client.lifecycle.installing import Order, to_write
from olm_client.lifecycle.plan_page import page_lines
from olm_client.lifecycle.planning import Planner, Target
from olm_client.rbac.manifests import commented
from olm_content.bundle.config_schema import config_schema
from olm_content.formats.kube_yaml import load_all
from olm_runtime.errors import OLMError

router = APIRouter(prefix="/packages/{name}/install")


@router.get("")
async def form(request: Request, user: AskedBy, name: str) -> Response:
    """The form; with `preview` in the query, also what it would write."""
    given = request.query_params
    asked = Asked.of(given)
    facts = await _facts(user, name, asked)
    inputs = inputs_of(config_schema(facts["bundle"]["installModes"]))
    try:
        asked = _with_config(asked, inputs, given)
        if "preview" not in given:
            return await _page(request, user, facts, asked)
        order = await asyncio.to_thread(find_order, name, asked, user.options)
    except OLMError as error:
        return await _page(request, user, facts, asked, error=error)
    shown = _Preview(order, await _plan(user, order))
    return await _page(request, user, facts, asked, shown=shown)


@dataclass(frozen=True, slots=True)
class _Preview:
    """What would be written, and what the controller would make of it."""

    order: Order
    plan: str


async def _plan(user: User, order: Order) -> str:
    """What the controller would make of it, as `olm install --dry-run | olm plan -` prints it."""
    if not await user.may("create", EXTENSION):
        return ""
    *others, extension = order.objects
    planner = Planner(user.kube, user.options.reach.access(), given_for(user.options))
    try:
        before = await user.kube.find(EXTENSION, order.name)
        after = await apply(user.kube, extension, dry_run=True)
        return "\n".join(page_lines(await planner.plan(Target(after, before, others))))
    except OLMError as error:
        return "\n".join(filter(None, (error.message, error.hint)))


@router.post("")
async def install(request: Request, user: AskedBy, name: str) -> Response:
    """Writes what the preview shows: what is there and right stays as it is."""
    asked = Asked.of(await request.form())
    try:
        order = await asyncio.to_thread(find_order, name, asked, user.options)
        objects = await to_write(user.kube, order)
        written = [each async for each in apply_all(user.kube, objects)]
    except OLMError as error:
        return await _page(request, user, await _facts(user, name, asked), asked, error=error)
    say(request, f"{order.bundle} is being installed; {len(written)} objects were written.")
    return RedirectResponse(f"/extensions/{order.name}", HTTPStatus.SEE_OTHER)


async def _facts(user: User, name: str, asked: Asked) -> Details:
    """Of the newest bundle that is asked for; of the newest one where none is there."""
    _, blobs = await blobs_of(user, name, asked.catalog)

    def details() -> Details:
        records = records_of(blobs)
        try:
            return package_details(records, version=asked.version, channel=asked.channel)
        except OLMError:  # reported by whoever looks for what to install
            return package_details(records, version="", channel="")

    return await asyncio.to_thread(details)


def _with_config(asked: Asked, inputs: list[Input], given: Mapping[str, Any]) -> Asked:
    """With what was filled in as its configuration; else with the YAML that it came with."""
    filled = read_form(inputs, given)
    return replace(asked, config=yaml_text(filled)) if filled else asked


def _texts(inputs: list[Input], asked: Asked, given: Mapping[str, Any]) -> dict[str, str]:
    """What fields show: what was typed, however wrong, else what the configuration says."""
    typed = {each.name: str(given[each.name]) for each in inputs if each.name in given}
    if typed or not asked.config:
        return {each.name: "" for each in inputs} | typed
    try:
        return texts_of(inputs, next(load_all(asked.config.encode()), None))
    except OLMError:  # the form begins anew; what is wrong with the text is shown above it
        return {each.name: "" for each in inputs}


async def _page(
    request: Request,
    user: User,
    facts: Details,
    asked: Asked,
    *,
    shown: _Preview | None = None,
    error: OLMError | None = None,
) -> Response:
    inputs = inputs_of(config_schema(facts["bundle"]["installModes"]))
    texts = _texts(inputs, asked, request.query_params)
    may_create, may_make_namespaces = await user.may_all(
        ("create", EXTENSION), ("create", NAMESPACE)
    )
    return page(
        request,
        "install.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK,
        name=facts["package"],
        facts=facts,
        asked=asked,
        inputs=inputs,
        texts=texts,
        filled=any(texts[each.name] for each in inputs if not each.is_outer),
        order=shown.order if shown else None,
        plan=shown.plan if shown else "",
        error=error,
        yaml=commented(shown.order.title, shown.order.documents) if shown else "",
        may_install=may_create,
        may_make_namespaces=may_make_namespaces,
    )
