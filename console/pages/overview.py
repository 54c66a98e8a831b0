"""The first page: what needs a person comes first."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.objects import GVK, KubeObject
from api.olm.v1.kinds import CATALOG, EXTENSION
from console.asked import AskedBy
from console.classic_facts import Facts, own_operators, plan_facts, subscription_facts, urgent_facts
from console.rendering import page
from console.users import User
from olm_classic.kinds import CLUSTER_SERVICE_VERSION as CSV
from olm_classic.kinds import INSTALL_PLAN, SUBSCRIPTION
from olm_client.lifecycle.overview import Phase, catalog_facts, urgent_first

URGENT = frozenset({Phase.BLOCKED, Phase.RETRYING, Phase.DEGRADED})
MAX_URGENT = 50

router = APIRouter()


@router.get("/")
async def overview(request: Request, user: AskedBy) -> Response:
    """Extensions and catalogs that need a person, and how many of all are how."""
    extensions, catalogs, classic = await asyncio.gather(
        served(user, EXTENSION), served(user, CATALOG), _urgent_of_classic(user)
    )
    facts: dict[str, Sequence[Mapping[str, Any]]] = {
        "extensions": user.extensions.of(extensions),
        "catalogs": urgent_first(map(catalog_facts, catalogs)),
    }
    urgent: list[Facts] = [
        {**each, "kind": kind, "path": f"/{part}/{each['name']}"}
        for part, kind in (("extensions", "Extension"), ("catalogs", "Catalog"))
        for each in facts[part]
        if each["phase"] in URGENT
    ]
    urgent += classic
    parts = {part.path: part.title for part in request.state.parts}
    counted = [
        (parts[path], Counter(each["phase"] for each in facts[path.strip("/")]), path)
        for path in ("/extensions", "/catalogs")
        if path in parts
    ]
    return page(
        request,
        "overview.html",
        urgent=urgent[:MAX_URGENT],
        left_out=max(0, len(urgent) - MAX_URGENT),
        counted=counted,
        live=[each.kind for each in (EXTENSION, CATALOG, SUBSCRIPTION, INSTALL_PLAN, CSV)],
    )


async def _urgent_of_classic(user: User) -> list[Facts]:
    subscriptions, plans, csvs = await asyncio.gather(
        *(_readable(user, gvk) for gvk in (SUBSCRIPTION, INSTALL_PLAN, CSV))
    )
    return urgent_facts(
        [subscription_facts(each) for each in subscriptions],
        [plan_facts(each) for each in plans],
        own_operators(csvs),
    )


async def _readable(user: User, gvk: GVK) -> Sequence[KubeObject]:
    """Who may not read them is shown the rest."""
    return await served(user, gvk) if await user.may("list", gvk) else []


async def served(user: User, gvk: GVK) -> Sequence[KubeObject]:
    """The objects of a kind; none where the cluster does not have it."""
    return await user.objects(gvk) if await user.serves(gvk) else []
