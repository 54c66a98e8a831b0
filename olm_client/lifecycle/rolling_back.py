"""Prepares the return of an extension to an earlier revision: checked, with the rights it needs."""

import asyncio
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.objects import KubeObject
from olm_client.history import Record, change, content_of, definitions_in, live
from olm_client.lifecycle.commands import command_of_patch
from olm_client.lifecycle.obstacle import UNSERVED
from olm_client.lifecycle.rights import rights_of_change
from olm_client.lifecycle.roles import Note, Roles
from olm_client.lifecycle.rollback_plan import (
    Plan,
    appliers,
    choose,
    going,
    is_impossible,
    obstacles,
)
from olm_content.crds import report
from olm_content.crds.findings import SWITCH_OFF
from olm_content.rights import Account
from olm_rollout.io.stored_objects import count
from olm_rollout.phases import Identity, identity
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.suspension import suspension_of, way_on

COUNT_SECONDS = 20.0
HOPELESS = (
    "the API server refuses that too: store the objects in another version first "
    "(status.storedVersions), or go to another revision"
)


@dataclass(frozen=True, slots=True)
class Rollback:
    """What is to be done: roles first where its account lacks rights, then the spec."""

    plan: Plan
    record: Record
    roles: Roles

    def lines(self, *, dry_run: bool) -> Iterator[str]:
        """What changes, and how it goes on later."""
        return _lines(self.plan, self.record, dry_run=dry_run)

    async def write(self, kube: KubeClient, note: Note) -> None:
        """Makes the change; `note` is called with each object of its account. Raises OLMError."""
        if self.roles.rights.missing:
            await self.roles.grant(kube, note)
        await change(kube, self.record, self.plan.patch)


async def prepare_rollback(
    kube: KubeClient, record: Record, number: int | None, *, grant: bool
) -> Rollback:
    """Raises TerminalError where something stands in the way, ApiError.

    number  of the revision; None for the newest of a lower version
    grant   whether the account may get the rights that it lacks
    """
    plan = choose(record.extension, record.revisions, number)
    contents = await _contents(kube, plan, record)
    await _refuse_unsafe(kube, plan, record, contents)
    return Rollback(plan, record, await _roles(kube, plan, contents, grant=grant))


@dataclass(frozen=True, slots=True)
class _Contents:
    """The objects of the revision to go to, and of those in service."""

    target: Sequence[KubeObject]
    present: Sequence[KubeObject]


async def _contents(kube: KubeClient, plan: Plan, record: Record) -> _Contents:
    what_for = "a rollback is checked against what revisions hold"
    target = await content_of(kube, plan.target, what_for=what_for)
    present: dict[Identity, KubeObject] = {}
    for revision in record.revisions.active:
        for obj in await content_of(kube, revision, what_for=what_for):
            present[identity(obj)] = obj
    return _Contents(target, list(present.values()))


async def _roles(kube: KubeClient, plan: Plan, contents: _Contents, *, grant: bool) -> Roles:
    """Raises TerminalError if the account lacks rights and is not to be granted them."""
    extension, number = plan.extension, plan.target.number
    name, account = extension.metadata.name, extension.spec.service_account_name
    rights = await rights_of_change(
        kube, Account(extension.spec.namespace, account), name, contents.present, contents.target
    )
    hint = f"olm rollback {name} --to {number} --grant"
    if rights.missing and not (grant and rights.grants_help):
        raise TerminalError(
            f"{name} cannot go back to revision {number}:\n{rights.missing}",
            hint=f"grant them: {hint}" if rights.grants_help else UNSERVED,
        )
    roles = Roles(name, account, rights, hint)
    if rights.missing:
        await roles.check_alone(kube)
    return roles


async def _refuse_unsafe(kube: KubeClient, plan: Plan, record: Record, contents: _Contents) -> None:
    """Raises TerminalError if the definitions of these revisions do not allow it."""
    target = definitions_in(contents.target)
    now = await live(kube, {*target, *definitions_in(contents.present)})
    found = await asyncio.to_thread(obstacles, plan, target, now)
    if plan.extension.spec.crd_upgrade_safety_enforced:
        found += tuple(await count(kube, going(record.raw, target, now), COUNT_SECONDS))
    name, number = plan.extension.metadata.name, plan.target.number
    if found:
        raise TerminalError(
            f"{name} cannot go back to revision {number}:\n{report(found)}",
            hint=HOPELESS if any(map(is_impossible, found)) else SWITCH_OFF,
        )


def _lines(plan: Plan, record: Record, *, dry_run: bool) -> Iterator[str]:
    name, catalog = plan.extension.metadata.name, record.raw["spec"]["source"]["catalog"]
    installed = plan.installed
    source = f"{installed.bundle.name} (revision {installed.number})" if installed else "nothing"
    yield f"{name}: from {source} to {plan.target.bundle.name} (revision {plan.target.number})"
    yield "this would change the spec:" if dry_run else "this changes the spec:"
    for field, value in plan.patch["spec"]["source"]["catalog"].items():
        before = orjson.dumps(catalog[field]).decode() if field in catalog else "unset"
        yield f"  spec.source.catalog.{field}: {before} -> {orjson.dumps(value).decode()}"
    if dry_run:
        yield "to make the change:"
        yield f"  olm rollback {name} --to {plan.target.number}"
        yield f"  or {_kubectl(name, plan.patch)}"
    way_on_later = plan.way_on(record.raw)
    yield "to go on later, as before:"
    if command := command_of_patch(name, way_on_later):
        yield f"  {command}"
    yield f"  {'or ' if command else ''}{_kubectl(name, way_on_later)}"
    if suspension := suspension_of(record.raw):
        yield f"note: {name} is {suspension.text}; {way_on(name)}"
    owners = appliers(record.raw)
    if owners:
        yield (
            f"note: spec.source.catalog is applied by {', '.join(owners)}: make the change where "
            "its YAML is kept too, or it is undone"
        )


def _kubectl(name: str, patch: dict[str, Any]) -> str:
    text = shlex.quote(orjson.dumps(patch).decode())
    return f"kubectl patch clusterextension {name} --type=merge -p {text}"
