"""OLM Classic: Subscriptions, InstallPlans and operators, by namespace."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from console.asked import AskedBy
from console.classic_facts import (
    Facts,
    group_facts,
    operator_facts,
    own_operators,
    plan_facts,
    source_facts,
    subscription_facts,
    waits,
)
from console.classic_packages import classic_packages
from console.kinds import PACKAGE_MANIFEST
from console.paging import Paged
from console.rendering import page, say
from console.users import User
from olm_classic.kinds import CATALOG_SOURCE, INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION
from olm_classic.kinds import CLUSTER_SERVICE_VERSION as CSV
from olm_client.field_manager import FIELD_MANAGER

router = APIRouter(prefix="/classic")
PARTS = {
    "subscriptions": ("Subscriptions", SUBSCRIPTION),
    "plans": ("Install plans", INSTALL_PLAN),
    "operators": ("Operators", CSV),
    "sources": ("Catalog sources", CATALOG_SOURCE),
    "groups": ("Operator groups", OPERATOR_GROUP),
    "packages": ("Packages", PACKAGE_MANIFEST),
}


@router.get("")
async def overview(
    request: Request,
    user: AskedBy,
    part: str = "subscriptions",
    words: str = "",
    number: Annotated[int, Query(alias="page", ge=1)] = 1,
) -> Response:
    """One of the lists; `words` must occur in namespace, name or package."""
    titles = {key: title for key, (title, kind) in PARTS.items() if await user.serves(kind)}
    if not titles:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    shown = part if part in titles else next(iter(titles))
    found = [each for each in await _listed(user, shown) if _matches(each, words)]
    return page(
        request,
        "classic.html",
        titles=titles,
        part=shown,
        words=words,
        found=Paged.of(found, number),
        live=(PARTS[shown][1].kind,),
    )


async def _listed(user: User, part: str) -> list[Facts]:
    match part:
        case "plans":
            found = [plan_facts(each) for each in await user.objects(INSTALL_PLAN)]
            return sorted(found, key=lambda each: not waits(each))
        case "operators":
            return own_operators(await user.objects(CSV))
        case "sources":
            return [source_facts(each) for each in await user.objects(CATALOG_SOURCE)]
        case "packages":
            return [{**asdict(each), "path": each.path} for each in await classic_packages(user)]
        case "groups":
            return [group_facts(each) for each in await user.objects(OPERATOR_GROUP)]
        case _:
            found = [subscription_facts(each) for each in await user.objects(SUBSCRIPTION)]
            return sorted(found, key=lambda each: not each["hindering"])


def _matches(facts: Facts, words: str) -> bool:
    text = f"{facts['namespace']} {facts['name']} {facts.get('package', '')}".lower()
    return all(word in text for word in words.lower().split())


@router.get("/subscriptions/{namespace}/{name}")
async def subscription(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """What one asks for, has, and is hindered by."""
    found = await user.object(SUBSCRIPTION, name, namespace)
    conditions = (found.get("status") or {}).get("conditions") or ()
    return page(
        request,
        "classic_subscription.html",
        facts=subscription_facts(found),
        conditions=conditions,
        may_delete=await user.may("delete", SUBSCRIPTION, namespace, name),
        live=(SUBSCRIPTION.kind,),
    )


@router.get("/sources/{namespace}/{name}")
async def source(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """Where one has its content from, and which Subscriptions take theirs from it."""
    facts = source_facts(await user.object(CATALOG_SOURCE, name, namespace))
    every = [subscription_facts(each) for each in await user.objects(SUBSCRIPTION)]
    users = [each for each in every if each["catalog"] == f"{namespace}/{name}"]
    live = (CATALOG_SOURCE.kind, SUBSCRIPTION.kind)
    return page(request, "classic_source.html", facts=facts, subscriptions=users, live=live)


@router.get("/groups/{namespace}/{name}")
async def group(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """Which namespaces one is for, and the operators in its own."""
    found = await user.object(OPERATOR_GROUP, name, namespace)
    operators = own_operators(await user.objects(CSV))
    return page(
        request,
        "classic_group.html",
        facts=group_facts(found),
        conditions=(found.get("status") or {}).get("conditions") or (),
        operators=[each for each in operators if each["namespace"] == namespace],
        live=(OPERATOR_GROUP.kind, CSV.kind),
    )


@router.get("/operators/{namespace}/{name}")
async def operator(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """How one does, and what it requires."""
    facts = operator_facts(await user.object(CSV, name, namespace))
    return page(request, "classic_operator.html", facts=facts, live=(CSV.kind,))


@router.get("/plans/{namespace}/{name}")
async def plan(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """The steps of one, to be approved where it waits for that."""
    facts = plan_facts(await user.object(INSTALL_PLAN, name, namespace))
    return page(
        request,
        "classic_plan.html",
        facts=facts,
        waits=waits(facts),
        may_patch=await user.may("patch", INSTALL_PLAN, namespace, name),
        live=(INSTALL_PLAN.kind,),
    )


@router.post("/plans/{namespace}/{name}/approve")
async def approve(request: Request, user: AskedBy, namespace: str, name: str) -> Response:
    """Approves it, as a patch of `spec.approved` does."""
    live = await user.kube.get(INSTALL_PLAN, name, namespace)
    await user.kube.patch(live, {"spec": {"approved": True}}, field_manager=FIELD_MANAGER)
    say(request, f"{name} is approved.")
    return RedirectResponse(f"/classic/plans/{namespace}/{name}", HTTPStatus.SEE_OTHER)
