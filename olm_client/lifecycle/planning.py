"""Gathers what an extension would change: resolves, renders and asks the server in dry runs."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from api.objects import GVK, KubeObject, gvk_of, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.kinds import OBJECT_SET
from api.wire import InvalidObjectError
from olm_client.catalogs.near import near_packages
from olm_client.crds.comparing import compare
from olm_client.crds.report import Comparison
from olm_client.lifecycle.changes import Action, FieldChange, images_of
from olm_client.lifecycle.dry_run import DryRun, Planned, namespaces_in
from olm_client.lifecycle.instance_reading import instances_of
from olm_client.lifecycle.instances import Instances
from olm_client.lifecycle.obstacle import Obstacle
from olm_client.lifecycle.openshift import limits_of, openshift_version
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.rendering import present, rendered
from olm_client.lifecycle.rights import rights_of_change
from olm_client.lifecycle.spec_fields import differences
from olm_client.reach import ClusterOptions
from olm_client.resolution.hints import hint_text, unknown_channels
from olm_client.resolution.situation import catalogs_of, switched_off
from olm_content.crds.findings import worst_first
from olm_content.crds.going import everything_going
from olm_content.crds.stored import questions
from olm_content.rights import (
    Account,
)
from olm_rollout.adoption import Policy, is_refused
from olm_rollout.io.definitions import DEFINITION
from olm_rollout.io.stored_objects import Bounds, count, examine
from olm_rollout.ownership import Owner
from olm_rollout.phases import without
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from operator_controller.apply.owners import owner_labels, owner_of_extension
from operator_controller.apply.revisions import Revisions
from operator_controller.apply.suspension import suspension_of, way_on
from operator_controller.controllers.choice import Choice, choose
from operator_controller.resolve import CatalogContent, ResolutionError
from operator_controller.resolve.deprecation import concerning
from operator_controller.status.cluster_updates import declaration

NAMESPACE, ACCOUNT = GVK("", "v1", "Namespace"), GVK("", "v1", "ServiceAccount")
STORED_BOUNDS = Bounds(objects=1000, seconds=20.0)
"""How many stored objects are checked; `olm crd check --against-cluster` checks more."""


class Target(NamedTuple):
    """An extension as it would be, and as it is (None if it is new).

    `applied_with_it` are objects that would be applied together with it.
    """

    raw: KubeObject
    before: KubeObject | None
    applied_with_it: Sequence[KubeObject] = ()


class Offers(NamedTuple):
    """The catalogs of a cluster, and what those that are switched on have of a package."""

    catalogs: Sequence[KubeObject]
    contents: Sequence[CatalogContent]


class Planner:
    """Plans extensions of one cluster; `options` are those of the command line."""

    def __init__(self, kube: KubeClient, access: ClusterAccess, options: Mapping[str, Any]) -> None:
        self._kube = kube
        self._access = access
        self._options = options
        self._offers: dict[str, Offers] = {}
        self._reading = asyncio.Lock()

    async def offers(self, package: str) -> Offers:
        """What the catalogs of the cluster offer of a package, read once. Raises OLMError."""
        async with self._reading:
            if package not in self._offers:
                self._offers[package] = await self._read_offers(package)
            return self._offers[package]

    async def _read_ahead(self, package: str) -> None:
        """Has what is asked for later at hand; whoever asks for it then gets the error."""
        with suppress(OLMError):
            await self.offers(package)

    async def _read_offers(self, package: str) -> Offers:
        cluster = ClusterOptions.of(self._options)
        async with catalogs_of(self._kube, self._access, cluster) as client:
            raws = client.list_catalogs()
            return Offers(raws, await client.contents(raws, package))

    async def plan(self, target: Target) -> Plan:
        """The answer. Raises OLMError where there is none."""
        extension = _read(target.raw)
        history, place, _ = await asyncio.gather(
            self._history(extension),
            self._place(extension, target),
            self._read_ahead(extension.spec.source.catalog.package_name),
        )
        spec = extension.spec
        empty = Plan(
            extension=extension.metadata.name,
            package=spec.source.catalog.package_name,
            namespace=spec.namespace,
            account=spec.service_account_name,
            new=target.before is None,
            spec=_changed(target),
            installed=history.installed.bundle if history.installed else None,
            crds_enforced=spec.crd_upgrade_safety_enforced,
            faults=[*_suspended(target.raw), *place],
        )
        try:
            choice = await self._choice(extension, history)
        except OLMError as error:
            fault = Obstacle(error.message, error.hint)
            return empty._replace(faults=[*empty.faults, fault])
        messages = concerning(
            choice.deprecations or (),
            channels=spec.source.catalog.channels,
            bundle=choice.bundle.name,
        )
        found = empty._replace(
            bundle=choice.bundle,
            catalog=choice.catalog,
            notes=[f"deprecated: {text}" for text in messages.all],
        )
        old, unknown = await present(self._kube, history)
        try:
            new = await rendered(self._kube, extension, choice, history, old, self._options)
        except OLMError as error:
            fault = Obstacle(f'bundle "{choice.bundle.name}": {error.message}', error.hint)
            return found._replace(faults=[*found.faults, fault])
        limit = declaration(extension.metadata.name, choice.bundle.name, new.properties)
        limits = limits_of([limit], await openshift_version(self._kube)) if limit else []
        found = found._replace(deletions_unknown=unknown, notes=[*found.notes, *limits])
        return await self._compared(found, target, history, old, new.objects)

    async def _history(self, extension: ClusterExtension) -> Revisions:
        labels = owner_labels(names.CLUSTER_EXTENSION, extension.metadata.name)
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        found, _ = await self._kube.list_all(OBJECT_SET, labels=selector)
        return Revisions.of(found)

    async def _place(self, extension: ClusterExtension, target: Target) -> list[Obstacle]:
        """What is missing before anything can be rendered."""
        spec, found = extension.spec, []
        present = {(obj.get("kind"), name_of(obj)) for obj in target.applied_with_it}
        desired = [(NAMESPACE, spec.namespace, "")]
        if spec.service_account_name:
            desired.append((ACCOUNT, spec.service_account_name, spec.namespace))
        else:
            found.append(
                Obstacle(
                    "no service account is named: refused, unless operator-controller was "
                    "started with --allow-controller-identity",
                    hint="set spec.serviceAccount.name",
                )
            )
        live = await asyncio.gather(*(self._kube.find(*each) for each in desired))
        for (gvk, name, namespace), is_there in zip(desired, live, strict=True):
            if (gvk.kind, name) in present or is_there:
                continue
            option = f" --namespace {namespace}" if namespace else ""
            found.append(
                Obstacle(
                    f"{gvk.kind} {name} is not there",
                    hint=f"create it: kubectl create {gvk.kind.lower()} {name}{option}",
                )
            )
        return found

    async def _choice(self, extension: ClusterExtension, history: Revisions) -> Choice:
        desired = extension.spec.source.catalog
        offers = await self.offers(desired.package_name)
        raws, contents = offers.catalogs, offers.contents
        try:
            return choose(desired, history, raws, contents)
        except ResolutionError as error:
            if error.findings.considered:
                packages = [each.package for each in contents if each.package is not None]
                hints = [*unknown_channels(desired, packages), error.hint]
                raise TerminalError(error.message, hint="; ".join(filter(None, hints))) from error
            instead = await asyncio.to_thread(
                hint_text,
                error,
                desired,
                contents,
                switched_off=switched_off(raws),
                near_packages=lambda: near_packages(desired.package_name, self._options),
            )
            raise TerminalError(error.message, hint=instead) from error

    async def _compared(
        self,
        found: Plan,
        target: Target,
        history: Revisions,
        old: Sequence[KubeObject],
        new: Sequence[KubeObject],
    ) -> Plan:
        owner = _owner(target.raw, history)
        run = DryRun(self._kube, owner, namespaces_in(target.applied_with_it))
        planned, deleted, rights = await asyncio.gather(
            run.applied(new),
            run.deleted(without(old, new)),
            rights_of_change(
                self._kube,
                Account(found.namespace, found.account),
                found.extension,
                old,
                new,
                granted=target.applied_with_it,
            ),
        )
        to_have = [
            (obj, each)
            for obj, each in zip(new, planned, strict=True)
            if not is_refused(each.live, owner, Policy.PREVENT)
        ]
        acting = self._kube
        if found.account and not rights.unknown:
            acting = acting.as_service_account(found.namespace, found.account)
        before, after = images_of(old), images_of(new)
        instances, definitions = await asyncio.gather(
            self._instances(deleted),
            self._definitions(
                [*(each for _, each in to_have), *deleted], [obj for obj, _ in to_have], acting
            ),
        )
        return found._replace(
            changes=[each.change for each in (*planned, *deleted)],
            instances=instances,
            definitions=definitions,
            rights=rights,
            images_added=sorted(after - before),
            images_removed=sorted(before - after),
        )

    async def _instances(self, deleted: Sequence[Planned]) -> list[Instances]:
        deleted_objects = [p.live for p in deleted if p.live and p.change.action is Action.DELETE]
        found = await asyncio.gather(*(instances_of(self._kube, obj) for obj in deleted_objects))
        return [each for each in found if each is not None]

    async def _definitions(
        self, planned: Sequence[Planned], objects: Sequence[KubeObject], acting: KubeClient
    ) -> Comparison | None:
        """How definitions change from the live ones, or go; None without any.

        What goes is counted as `acting`, which operator-controller would act as.
        """
        live = {name_of(p.live): p.live for p in planned if p.live and gvk_of(p.live) == DEFINITION}
        new = {name_of(obj): obj for obj in objects if gvk_of(obj) == DEFINITION}
        if not (live or new):
            return None
        found = await asyncio.to_thread(compare, live, new, all_new=True)
        asked = [
            question
            for name in found.compared
            for question in questions(
                live[name], new[name], [each for each in found.findings if each.crd == name]
            )
        ]
        lost = await count(acting, everything_going(live, new), STORED_BOUNDS.seconds)
        return found._replace(
            findings=worst_first([*found.findings, *lost]),
            stored=tuple(await examine(self._kube, asked, STORED_BOUNDS)),
        )


def _read(raw: KubeObject) -> ClusterExtension:
    try:
        return ClusterExtension.from_object(raw)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _suspended(raw: KubeObject) -> list[Obstacle]:
    suspension = suspension_of(raw)
    if suspension is None:
        return []
    name = name_of(raw)
    return [Obstacle(f"ClusterExtension {name} is {suspension.text}", hint=way_on(name))]


def _changed(target: Target) -> list[FieldChange]:
    if target.before is None:
        return []
    found = differences(target.before["spec"], target.raw["spec"], "spec")
    return [FieldChange(*each) for each in found]


def _owner(raw: KubeObject, history: Revisions) -> Owner:
    return owner_of_extension(
        name_of(raw),
        str(metadata(raw).get("uid") or ""),
        namespace=raw["spec"]["namespace"],
        history=history,
        number=history.next_number,
    )
