"""The version of a cluster: how far its update is, what may come, and asking for it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import product
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from api.objects import KubeObject, condition
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.client_output.channel_request import channel_answer
from cluster_version.client_output.facts import status_facts, update_facts
from cluster_version.client_output.objects import Json
from cluster_version.client_output.recommend_view import updates_of
from cluster_version.client_output.upgrade_request import Answer, answer, checked
from cluster_version.client_output.upgrade_request import Request as Wanted
from cluster_version.status.levels import Level
from cluster_version.updates.errors import RetrievalError
from console.asked import AskedBy
from console.rendering import page, say
from console.settings import SANDBOXED
from console.users import User
from olm_client.cluster.reading import NAME, read_cluster, read_levels, read_version
from olm_client.cluster.update_graph import ask_graph, drawn
from olm_client.field_manager import FIELD_MANAGER
from olm_runtime.clocks import utc_now
from olm_runtime.errors import TerminalError
from olm_runtime.kube.errors import ApiError

_STEPS = re.compile(r"\b(\d{1,6}) of (\d{1,6}) done\b")

router = APIRouter(prefix="/cluster")

Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@router.get("")
async def cluster(request: Request, user: AskedBy) -> Response:
    """What `olm cluster status` and `olm cluster recommend` show, and the history."""
    await user.objects(CLUSTER_VERSION)
    await user.objects(CLUSTER_OPERATOR)
    found = await read_cluster(user.kube)
    warnings: list[str] = []
    updates = [update_facts(each) for each in updates_of(found.version, warnings.append)]
    progressing = condition(found.version, "Progressing") or {}
    spec, status = found.version.get("spec") or {}, found.version.get("status") or {}
    facts, desired = status_facts(found, utc_now()), status.get("desired") or {}
    levels, levels_fault = await _levels(user, facts, desired.get("image") or "")
    return page(
        request,
        "cluster.html",
        facts=facts,
        progressing=progressing,
        steps=steps_of(progressing.get("message") or ""),
        levels=levels,
        levels_fault=levels_fault,
        updates=updates,
        warnings=warnings,
        channel=spec.get("channel") or "",
        channels=desired.get("channels") or (),
        wanted=spec.get("desiredUpdate") or {},
        history=status.get("history") or (),
        may_patch=await _may_change(user),
        live=(CLUSTER_VERSION.kind, CLUSTER_OPERATOR.kind),
    )


async def _levels(user: User, facts: Json, image: str) -> tuple[Sequence[Level], str]:
    """How far each runlevel of an update is, or why it cannot be told."""
    if not facts["updating"]:
        return (), ""
    try:
        return await read_levels(user.kube, image), ""
    except ApiError as error:
        return (), error.message


def steps_of(message: str) -> tuple[int, int] | None:
    """How many manifests of the release are applied, and of how many; None where it is not said."""
    found = _STEPS.search(message)
    return (int(found[1]), int(found[2])) if found else None


async def _may_change(user: User) -> bool:
    return await user.may("patch", CLUSTER_VERSION, name=NAME)


@router.get("/graph")
async def graph(user: AskedBy) -> Response:
    """The update graph as a picture, as `olm cluster graph -o svg` draws it."""
    try:
        picture = drawn(*await ask_graph(user.kube, await read_version(user.kube)))
    except RetrievalError as error:
        raise TerminalError(error.message) from error
    return Response(picture, media_type="image/svg+xml", headers=SANDBOXED)


@dataclass(frozen=True, slots=True)
class _Offer:
    """What asking for a version would do: `warnings` are what has to be agreed to for that."""

    wanted: Wanted
    answer: Answer
    warnings: list[str]


_BYPASSING = "warning: --allow-upgrade-with-warnings is bypassing: "


def _offer(live: KubeObject, version: str) -> _Offer:
    """With as little agreement as will do. Raises TerminalError where none would."""
    wanted = Wanted(to=version)
    checked(wanted, lambda _: None)
    *least, most = [
        replace(wanted, allow_not_recommended=risks, allow_upgrade_with_warnings=state)
        for risks, state in product((False, True), repeat=2)
    ]
    for agreed in least:
        with suppress(TerminalError):
            return _answered(live, agreed)
    return _answered(live, most)


def _answered(live: KubeObject, agreed: Wanted) -> _Offer:
    messages: list[str] = []
    decided = answer(live, agreed, messages.append)
    warnings = [text.partition(_BYPASSING)[2] for text in messages if _BYPASSING in text]
    return _Offer(agreed, decided, [*_risks(live, agreed), *warnings])


def _risks(live: KubeObject, agreed: Wanted) -> Iterator[str]:
    """What speaks against a version that is not recommended."""
    for each in updates_of(live, lambda _: None):
        if agreed.allow_not_recommended and each.version == agreed.to and each.why:
            yield f"{each.why.get('reason') or ''}: {each.why.get('message') or ''}"


@router.get("/upgrade")
async def upgrade_page(request: Request, user: AskedBy, to: str) -> Response:
    """What asking for a version would do, and what speaks against it."""
    offer = _offer(await read_version(user.kube), to)
    return page(
        request,
        "cluster_upgrade.html",
        to=to,
        offer=offer,
        may_patch=await _may_change(user),
    )


@router.post("/upgrade")
async def upgrade(request: Request, user: AskedBy, to: Text, agreed: Ticked = False) -> Response:
    """Asks for it; where something speaks against it, only if that is agreed to."""

    def decide(live: KubeObject) -> Answer:
        offer = _offer(live, to)
        if offer.warnings and not agreed:
            raise TerminalError(offer.warnings[0], hint="nothing was written: agree to it first")
        return offer.answer

    return await _change(request, user, decide)


@router.post("/channel")
async def channel(
    request: Request, user: AskedBy, name: Text = "", explicit: Ticked = False
) -> Response:
    """Has the cluster take its updates from another channel, or from none."""

    def decide(live: KubeObject) -> Answer:
        return channel_answer(live, name.strip(), lambda _: None, explicit=explicit)

    return await _change(request, user, decide)


@router.post("/cancel")
async def cancel(request: Request, user: AskedBy) -> Response:
    """Takes back what was asked for."""
    return await _change(
        request, user, lambda live: answer(live, Wanted(clear=True), lambda _: None)
    )


async def _change(request: Request, user: User, decide: Callable[[KubeObject], Answer]) -> Response:
    live = await read_version(user.kube)
    decided = decide(live)
    if decided.patch is not None:
        await user.kube.patch(live, decided.patch, field_manager=FIELD_MANAGER)
    say(request, decided.text.strip().removeprefix("info: "))
    return RedirectResponse("/cluster", HTTPStatus.SEE_OTHER)
