"""Installing and uninstalling by OLM Classic. Each act is shown first, and done by its form."""

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.objects import GVK, KubeObject
from console.asked import AskedBy
from console.kinds import NAMESPACE, PACKAGE_MANIFEST
from console.rendering import page, say
from console.users import User
from olm_classic.kinds import CLUSTER_SERVICE_VERSION as CSV
from olm_classic.kinds import OPERATOR_GROUP, SUBSCRIPTION
from olm_client.classic.installing import APPROVALS, Offer, Wanted, installing
from olm_client.classic.removal import Removal, owned_definitions, removal_lines
from olm_client.lifecycle.applying import apply_all
from olm_content.formats.yaml_text import dump_all
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.errors import ForbiddenError, NotFoundError

router = APIRouter(prefix="/classic")

Text = Annotated[str, Form()]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The fields of the form."""

    target: str
    channel: str
    approval: str
    scope: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "_Asked":
        def text(name: str, default: str = "") -> str:
            return str(given.get(name, "")).strip() or default

        return cls(text("target"), text("channel"), text("approval", APPROVALS[0]), text("scope"))

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.target, self.channel, self.approval, self.scope != "own")


@router.get("/packages/{namespace}/{name}")
async def form(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """The form; with `preview` in the query, also what it would write."""
    asked = _Asked.of(request.query_params)
    offer = await _offer(user, namespace, name)
    if "preview" not in request.query_params:
        return await _page(request, user, offer, asked)
    try:
        return await _page(request, user, offer, asked, await _order(user, offer, asked))
    except TerminalError as error:
        return await _page(request, user, offer, asked, error=error)


@router.post("/packages/{namespace}/{name}")
async def install(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """Writes what the preview shows."""
    asked = _Asked.of(await request.form())
    offer = await _offer(user, namespace, name)
    try:
        written = [each async for each in apply_all(user.kube, await _order(user, offer, asked))]
    except OLMError as error:
        return await _page(request, user, offer, asked, error=error)
    say(request, f"{name} is being installed; {len(written)} objects were written.")
    path = f"/classic/subscriptions/{asked.target}/{offer.package}"
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


async def _offer(user: User, namespace: str, name: str) -> Offer:
    return Offer.of(await user.kube.get(PACKAGE_MANIFEST, name, namespace))


async def _order(user: User, offer: Offer, asked: _Asked) -> list[KubeObject]:
    order = list(installing(offer, asked.wanted, await user.objects(OPERATOR_GROUP)))
    for each in await user.objects(SUBSCRIPTION):
        place, spec = each["metadata"]["namespace"], each.get("spec") or {}
        if place == asked.target and spec.get("name") == offer.package:
            raise TerminalError(
                f'package "{offer.package}" is installed in namespace {place} already',
                hint=f"see Subscription {each['metadata']['name']}",
            )
    return order


async def _page(
    request: Request,
    user: User,
    offer: Offer,
    asked: _Asked,
    order: list[KubeObject] | None = None,
    error: OLMError | None = None,
) -> Response:
    yaml = dump_all(order) if order else ""
    needed = (SUBSCRIPTION, *((NAMESPACE, OPERATOR_GROUP) if order and len(order) > 1 else ()))
    return page(
        request,
        "classic_install.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK,
        offer=offer,
        asked=asked,
        channels=[
            ("", f"the default one, {offer.default_channel}"),
            *((each.name, f"{each.name}, now {each.head}") for each in offer.channels),
        ],
        error=error,
        yaml=yaml,
        command=f"kubectl apply -f - <<'YAML'\n{yaml}YAML" if yaml else "",
        rights=[
            (f"to create {each.kind}s", await _may_create(user, each, asked)) for each in needed
        ],
    )


async def _may_create(user: User, gvk: GVK, asked: _Asked) -> bool:
    return await user.may("create", gvk, "" if gvk == NAMESPACE else asked.target)


@router.get("/subscriptions/{namespace}/{name}/uninstall")
async def uninstall_page(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """What would go, and what stays."""
    removal = await _removal(user, namespace, name)
    kinds = [SUBSCRIPTION] + ([CSV] if removal.operator else [])
    names = [each["metadata"]["name"] for each in removal.objects]
    commands = [
        f"kubectl delete {kind.kind.lower()} {shlex.quote(each)} -n {shlex.quote(namespace)}"
        for kind, each in zip(kinds, names, strict=True)
    ]
    return page(
        request,
        "classic_uninstall.html",
        namespace=namespace,
        name=name,
        text="\n".join(removal_lines(removal)),
        command="\n".join(commands),
        rights=[
            (f"to delete {kind.kind}s here", await user.may("delete", kind, namespace))
            for kind in kinds
        ],
        live=(SUBSCRIPTION.kind, CSV.kind),
    )


@router.post("/subscriptions/{namespace}/{name}/uninstall")
async def uninstall(
    request: Request, user: AskedBy, namespace: str, name: str, typed: Text = ""
) -> Response:
    """Deletes the Subscription, then what it installed, as they were shown."""
    if typed != name:
        say(request, f"Nothing was deleted: type {name} to agree.")
        path = f"/classic/subscriptions/{namespace}/{name}/uninstall"
        return RedirectResponse(path, HTTPStatus.SEE_OTHER)
    removal = await _removal(user, namespace, name)
    for each in removal.objects:
        await user.kube.delete(each, uid=each["metadata"]["uid"])
    say(request, f"{name} is being deleted.")
    return RedirectResponse("/classic", HTTPStatus.SEE_OTHER)


async def _removal(user: User, namespace: str, name: str) -> Removal:
    subscription = await user.kube.get(SUBSCRIPTION, name, namespace)
    installed = (subscription.get("status") or {}).get("installedCSV") or ""
    operator = await user.kube.find(CSV, installed, namespace) if installed else None
    kinds = owned_definitions(operator) if operator else {}
    counts = await asyncio.gather(*(_count(user, each) for each in kinds.values()))
    return Removal(subscription, operator, dict(zip(kinds, counts, strict=True)))


async def _count(user: User, gvk: GVK) -> int | None:
    """How many there are in all namespaces; None for whoever may not list them."""
    try:
        return len((await user.kube.list_all(gvk, metadata_only=True))[0])
    except ForbiddenError:
        return None
    except NotFoundError:
        return 0
