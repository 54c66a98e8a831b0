"""Prepares an upgrade of an extension, and carries it out: first the rights, then the spec."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, is_deleting
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, ClusterExtension
from olm_client.history import Record, change, read_record
from olm_client.lifecycle.dry_run import with_accepted_spec
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.outlook import Outlook, comes, is_pinned, next_step, outlook, ways_of
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.planning import Offers, Planner, Target
from olm_client.lifecycle.roles import Roles
from olm_client.lifecycle.spec_fields import SpecFields, with_changed_spec, with_fields
from olm_content.formats.merge_patch import merge_patch
from olm_content.rights import Document
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.controllers.choice import installed_of
from operator_controller.resolve import Request


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
    def account(self) -> Roles:
        """How the roles of its account are written."""
        plan = self.plan
        return Roles(plan.extension, plan.account, plan.rights, plan.grant_hint)

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
        after = await with_accepted_spec(kube, record.raw, with_fields(record.raw["spec"], fields))
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
    """With the version to go to where the spec pins one; a range is a decision, and stays."""
    desired = ClusterExtension.from_object(after).spec.source.catalog
    request = Request(desired, installed)
    if fields.version is not None or not is_pinned(desired) or comes(request, offers.contents):
        return fields
    step = next_step(request, offers.contents)
    return fields if step is None else fields._replace(version=str(step.version.version))


def _with_ways(
    plan: Plan, desired: CatalogFilter, installed: BundleMetadata | None, offers: Offers
) -> Plan:
    """Where no bundle can be chosen: what can be reached instead."""
    if installed is None or not plan.faults:
        return plan
    *before, fault = plan.faults
    hints = [fault.hint, ways_of(desired, installed, offers.contents).text()]
    found = fault._replace(hint="\n".join(filter(None, hints)))
    return plan._replace(faults=[*before, found])


async def write_spec(kube: KubeClient, upgrade: Upgrade) -> None:
    """Makes the change. Raises TerminalError if the extension is another by now."""
    if upgrade.patch:
        await change(kube, upgrade.record, upgrade.patch)
