"""Prepares an upgrade of an extension, and carries it out: first the rights, then the spec."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.objects import KubeObject, gvk_of, is_deleting, name_of, namespace_of
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, ClusterExtension
from olm_cli.extension import EXTENSION
from olm_cli.history_cluster import Record, change, read_record
from olm_cli.lifecycle.applying import Applied, Hints, apply_all
from olm_cli.lifecycle.dry_run import accepted
from olm_cli.lifecycle.obstacle import Obstacle
from olm_cli.lifecycle.outlook import Outlook, comes, is_pinned, next_step, outlook, ways_of
from olm_cli.lifecycle.plan import Plan
from olm_cli.lifecycle.planning import Offers, Planner, Target
from olm_cli.lifecycle.spec_fields import SpecFields, merge_patch, with_changed_spec
from olm_content.rights import Document
from olm_content.rights.installer import is_written_by_olm
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.controllers.choice import installed_of
from operator_controller.resolve import Request

SETTLE_SECONDS = 0.5
_THERE = ("Namespace", "ServiceAccount")


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What is to be done: the plan, and the merge patch of the spec (empty if it stays).

    `grant`: the account may get rights that it lacks. `outlook` is that of the spec as it is.
    """

    record: Record
    plan: Plan
    outlook: Outlook
    patch: Mapping[str, Any]
    grant: bool

    @property
    def roles(self) -> Sequence[Document]:
        """The account's rights that are written first; none if nothing is missing."""
        rights = self.plan.rights
        wanted = self.grant and rights.missing and rights.grants_help
        return rights.meanwhile if wanted else ()

    @property
    def obstacles(self) -> list[Obstacle]:
        """What it would be stopped by all the same."""
        found = self.plan.obstacles
        if not self.roles:
            return found
        if self.plan.deletions_unknown:
            return [Obstacle(f"its rights are not known: {self.plan.deletions_unknown}"), *found]
        return [each for each in found if each.message != self.plan.rights.missing]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be written, and nothing would come of it."""
        return not (self.patch or self.roles or self.plan.moves)


async def prepare(
    kube: KubeClient, planner: Planner, extension: str, fields: SpecFields, *, grant: bool
) -> Upgrade:
    """Without a version the newest that the update graph leads to. Raises OLMError."""
    record = await read_record(kube, extension)
    if is_deleting(record.raw):
        raise TerminalError(f"ClusterExtension {extension} is being deleted")
    desired = record.extension.spec.source.catalog
    offers = await planner.offers(desired.package_name)
    installed = installed_of(record.revisions.installed)
    fields = _aimed(with_changed_spec(record.raw, fields), fields, installed, offers)
    after = record.raw
    if not fields.is_empty:
        after = await accepted(kube, with_changed_spec(record.raw, fields))
    plan = await planner.plan(Target(after, record.raw))
    if plan.bundle is None:
        read = ClusterExtension.from_object(after).spec.source.catalog
        plan = _with_ways(plan, read, installed, offers)
    spec = merge_patch(record.raw["spec"], after["spec"])
    prospect = outlook(record.raw, record.extension, installed, offers.contents)
    return Upgrade(record, plan, prospect, {"spec": spec} if spec else {}, grant)


def _aimed(
    after: KubeObject, fields: SpecFields, installed: BundleMetadata | None, offers: Offers
) -> SpecFields:
    """With the version to go to where the spec pins one; a range is a decision, and is kept."""
    desired = ClusterExtension.from_object(after).spec.source.catalog
    request = Request(desired, installed)
    if fields.version is not None or not is_pinned(desired) or comes(request, offers.contents):
        return fields
    step = next_step(request, offers.contents)
    return fields if step is None else replace(fields, version=str(step.version.version))


def _with_ways(
    plan: Plan, desired: CatalogFilter, installed: BundleMetadata | None, offers: Offers
) -> Plan:
    """Where no bundle can be chosen: what can be reached instead."""
    if installed is None or not plan.faults:
        return plan
    *before, fault = plan.faults
    hints = [fault.hint, ways_of(desired, installed, offers.contents).text()]
    found = replace(fault, hint="\n".join(filter(None, hints)))
    return replace(plan, faults=[*before, found])


async def sharing(kube: KubeClient, plan: Plan) -> list[str]:
    """The other extensions whose accounts have the same name: their ClusterRole is the same."""
    found, _ = await kube.list_all(EXTENSION)
    return [
        name_of(raw)
        for raw in found
        if name_of(raw) != plan.extension
        and (raw["spec"].get("serviceAccount") or {}).get("name") == plan.account
    ]


def check_alone(plan: Plan, others: Sequence[str]) -> None:
    """Raises TerminalError where the roles to write are those of other extensions, too."""
    if others:
        raise TerminalError(
            f"service account {plan.account} is that of {', '.join(others)}, too: roles for "
            f"{plan.extension} alone would take their rights",
            hint=f"add to its roles by hand what is missing: olm plan {plan.extension} --details",
        )


async def has_own_roles(kube: KubeClient, plan: Plan) -> bool:
    """Whether `olm` wrote roles of the account, which it may so write anew."""
    for document in plan.rights.afterwards:
        if document.rules:
            obj = document.obj
            live = await kube.find(gvk_of(obj), name_of(obj), namespace_of(obj))
            if live is not None and is_written_by_olm(live):
                return True
    return False


async def write_roles(
    kube: KubeClient, plan: Plan, roles: Sequence[Document], note: Callable[[Applied], None]
) -> None:
    """Writes these roles and their bindings; the account itself is there. Raises TerminalError."""
    hints = Hints(
        forbidden=f"somebody who may write roles can do it: {plan.grant_hint}",
        conflict="somebody else keeps it otherwise: change it there, or give the extension an "
        "account of its own (spec.serviceAccount)",
    )
    objects = [each.obj for each in roles if each.obj["kind"] not in _THERE]
    async for applied in apply_all(kube, objects, hints):
        note(applied)


async def write_spec(kube: KubeClient, upgrade: Upgrade) -> None:
    """Makes the change. Raises TerminalError if the extension is another by now."""
    if upgrade.patch:
        await change(kube, upgrade.record, upgrade.patch)


async def until_alone(kube: KubeClient, extension: str, seconds: float) -> bool:
    """Waits until what only older revisions had is removed; False if that takes longer."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                record = await read_record(kube, extension)
                if len(record.revisions.unfinished) <= 1:
                    return True
                await asyncio.sleep(SETTLE_SECONDS)
    except TimeoutError:
        return False
