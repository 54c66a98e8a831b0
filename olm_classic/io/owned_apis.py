"""The API services and webhooks that ClusterServiceVersions own, in the cluster."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from api.objects import (
    GVK,
    KubeObject,
    annotations_of,
    gvk_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.machine import ApiServices
from olm_classic.csv.owner import Owner, owner_of
from olm_classic.csv.replacement import Chain
from olm_classic.io.account_rights import OWNER
from olm_classic.io.api_certificates import ApiCertificates
from olm_classic.io.api_leftovers import Leftovers
from olm_classic.io.conversions import Conversions
from olm_classic.io.known_apis import WEBHOOKS, KnownApis
from olm_classic.io.step_errors import StepError, refuse_foreign
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.owned_apis.covering import covers
from olm_classic.owned_apis.described import (
    Description,
    Serving,
    api_service_name,
    conversion_problem,
    servings,
)
from olm_classic.owned_apis.mounts import mounted
from olm_classic.owned_apis.objects import (
    AUTHORITY_HASH,
    LABEL_WEBHOOK_NAME,
    api_services,
    objects,
    webhook_configuration,
)
from olm_classic.selections import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CRDS,
    DEPLOYMENTS,
    OWNED_SECRETS,
    OWNED_SERVICES,
    ROLE_BINDINGS,
    ROLES,
)
from olm_runtime.certificates.content import SecretContent
from olm_runtime.certificates.rotation import Due, Rotation
from olm_runtime.controller.manager import Manager
from olm_runtime.watch.store import Event, Store

RECONCILED = (OWNED_SERVICES, ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS, API_SERVICES)
"""What is as it is described, or is written again."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What has to be applied for a ClusterServiceVersion besides its API services and webhooks.

    deployments  with volumes and mounts of certificates
    status       fields of its status: `certsLastUpdated`, `certsRotateAt`
    """

    deployments: Sequence[KubeObject]
    status: Mapping[str, Any] = field(default_factory=dict)


class OwnedApis:
    """Those of all ClusterServiceVersions."""

    def __init__(self, manager: Manager, rotation: Rotation) -> None:
        """`rotation` is that of their certificates."""
        self._client = manager.client
        self._rotation = rotation
        self._conversions = Conversions(
            manager.client, manager.selected(CRDS), manager.selected(DEPLOYMENTS)
        )
        self._secrets = manager.selected(OWNED_SECRETS)
        self._stores: dict[GVK, Store[KubeObject]] = {
            each.gvk: manager.selected(each) for each in (*RECONCILED, *WEBHOOKS)
        }
        for each in (API_SERVICES, *WEBHOOKS):
            self._stores[each.gvk].add_index(OWNER, owner_of)
        self._known = KnownApis(self._stores, self._conversions)
        # Who finds a name free has it before the next one looks: nobody is notified of a loss.
        self._naming = asyncio.Lock()
        self._certificates = ApiCertificates(manager.client, self._secrets, rotation)
        self.leftovers = Leftovers(
            manager.client,
            {
                **self._stores,
                CLUSTER_ROLES.gvk: manager.selected(CLUSTER_ROLES),
                OWNED_SECRETS.gvk: self._secrets,
            },
        )

    def notify(self, changed: Callable[[str, str], None]) -> None:
        """Reports the namespace and name of the owner at each change that others may have made."""

        def report(event: Event[KubeObject]) -> None:
            for each in filter(None, (event.old, event.new)):
                for namespace, name in owner_of(each):
                    changed(namespace, name)

        named = (OWNED_SERVICES, API_SERVICES, *WEBHOOKS)
        for store in (self._secrets, *(self._stores[each.gvk] for each in named)):
            store.add_event_handler(report)

    # --- at an installation ------------------------------------------------------------------

    async def prepare(
        self, csv: KubeObject, group: KubeObject, deployments: Sequence[KubeObject]
    ) -> Prepared:
        """Writes what is needed before Deployments are applied. Raises StepError, ApiError."""
        if problem := conversion_problem(csv):
            raise StepError(problem)
        described = servings(csv)
        made: list[datetime] = []
        for serving in described:
            content = await self._certificates.advance(
                _owner(csv), serving, _rotate_at(csv), self._known.trusted(csv, serving)
            )
            async with self._naming:
                for each in self._wanted(csv, serving, content):
                    await self._ensure(each)
            for webhook in serving.admissions:
                await self._configure(csv, serving, webhook, content, group)
            self._certificates.note_trusted(serving, content)
            made.append(content.current.issued_at)
        await self._delete_unlisted(csv, described)
        await self.leftovers.delete_legacy(csv)
        if not made:
            return Prepared(deployments)
        rotated = min(filter(None, map(self._certificates.next_look, described)))
        status = {"certsLastUpdated": _time(max(made)), "certsRotateAt": _time(rotated)}
        return Prepared(self.decorated(csv, deployments), status)

    def decorated(self, csv: KubeObject, deployments: Sequence[KubeObject]) -> list[KubeObject]:
        """Deployments with the certificates that there are."""
        serving = {each.deployment: each for each in servings(csv)}
        return [
            self._mounted(each, serving[name_of(each)]) if name_of(each) in serving else each
            for each in deployments
        ]

    def _mounted(self, deployment: KubeObject, serving: Serving) -> KubeObject:
        found = self._secrets.get(serving.secret, serving.namespace)
        authority = annotations_of(found or {}).get(AUTHORITY_HASH, "")
        return mounted(deployment, serving.secret, authority)

    def _wanted(
        self, csv: KubeObject, serving: Serving, content: SecretContent
    ) -> Iterator[KubeObject]:
        """All objects but webhook configurations. Raises StepError."""
        strategy = csv["spec"]["install"].get("spec") or {}
        named = {each["name"]: each for each in strategy.get("deployments") or ()}
        deployment = named.get(serving.deployment)
        if deployment is None:
            problem = f"deployment {serving.deployment}, which is to serve webhooks,"
            raise StepError(f"{problem} is not in the install strategy")
        owner = _owner(csv)
        yield from objects(serving, owner, deployment, apart=self._known.is_apart(serving))
        yield from api_services(serving, owner, content.bundle)

    async def _ensure(self, obj: KubeObject) -> None:
        """Has an object say what is wanted, unless OLM v1 has it. Raises StepError, ApiError."""
        store = self._stores[gvk_of(obj)]
        found = store.get(name_of(obj), namespace_of(obj))
        if found is not None:
            refuse_foreign({**found, "kind": obj["kind"]})
        if found is None or not covers(found, obj):
            store.update(await self._client.apply(obj, field_manager=OPERATOR_FIELD_MANAGER))

    async def _configure(
        self,
        csv: KubeObject,
        serving: Serving,
        webhook: Description,
        content: SecretContent,
        group: KubeObject,
    ) -> None:
        """Has one configuration of a webhook, under a name that the server makes."""
        wanted = webhook_configuration(serving, webhook, _owner(csv), content.bundle, group)
        found = self._known.configurations(csv, webhook)
        if not found:
            made = await self._client.create(wanted, field_manager=OPERATOR_FIELD_MANAGER)
            self._stores[gvk_of(wanted)].update(made)
            return
        for spare in found[1:]:
            await self._client.delete(spare, uid=str(metadata(spare)["uid"]))
        await self._ensure(_named(wanted, name_of(found[0])))

    async def _delete_unlisted(self, csv: KubeObject, described: Iterable[Serving]) -> None:
        """What it owned before, and lists no more. Raises ApiError."""
        webhooks = {each["generateName"] for serving in described for each in serving.admissions}
        services = {api_service_name(each) for one in described for each in one.api_services}
        for each in self._known.owned(csv, WEBHOOKS):
            if labels_of(each).get(LABEL_WEBHOOK_NAME) not in webhooks:
                await self._client.delete(each, uid=str(metadata(each)["uid"]))
        for each in self._known.owned(csv, (API_SERVICES,)):
            if name_of(each) not in services:
                await self._client.delete(each, uid=str(metadata(each)["uid"]))

    # --- afterwards --------------------------------------------------------------------------

    def unadoptable(self, csv: KubeObject, chain: Chain) -> bool:
        """Whether an API service belongs to another than those that replace each other with it."""
        return self._known.unadoptable(csv, chain)

    async def observe(self, csv: KubeObject, group: KubeObject) -> ApiServices:
        """How they stand; a rotation that is due begins. Raises ApiError."""
        issues: list[str] = []
        missing: list[str] = []
        refusals: list[str] = []
        waits, is_due = False, False
        for serving in servings(csv):
            content = await self._certificates.find(serving)
            if content is None:
                missing.append(f"secret {serving.secret} has no certificate for {serving.service}")
                continue
            issues += self._issues(csv, serving, content, group)
            step = self._certificates.is_due(serving, content, _rotate_at(csv))
            if step is Due.PREPARE:
                content = await self._spread(csv, serving, group)
            elif not issues:
                self._certificates.note_trusted(serving, content)
            is_due |= step in (Due.PROMOTE, Due.ISSUE)
            waits |= await self._conversions.arm(csv, serving, content)
            waits |= not all(map(self._known.is_available, serving.api_services))
            refusals += filter(None, map(self._known.refusal, serving.api_services))
        return ApiServices(
            issue=", ".join(issues),
            unavailable=waits,
            error=", ".join(refusals),
            webhooks=", ".join(missing),
            due=is_due,
        )

    async def _spread(self, csv: KubeObject, serving: Serving, group: KubeObject) -> SecretContent:
        """Has callers trust the next CA, too, before anything serves with it. Raises ApiError."""
        content = await self._certificates.advance(_owner(csv), serving, _rotate_at(csv))
        for each in api_services(serving, _owner(csv), content.bundle):
            await self._ensure(each)
        for webhook in serving.admissions:
            await self._configure(csv, serving, webhook, content, group)
        self._certificates.note_trusted(serving, content)
        return content

    def _issues(
        self, csv: KubeObject, serving: Serving, content: SecretContent, group: KubeObject
    ) -> Iterator[str]:
        """What others deleted or changed."""
        for wanted in self._wanted(csv, serving, content):
            found = self._stores[gvk_of(wanted)].get(name_of(wanted), namespace_of(wanted))
            if found is None or not covers(found, wanted):
                yield f"{wanted['kind']} {name_of(wanted)} {_what(found)}"
        for webhook in serving.admissions:
            one = next(iter(self._known.configurations(csv, webhook)), None)
            wanted = webhook_configuration(serving, webhook, _owner(csv), content.bundle, group)
            if one is None or not covers(one, _named(wanted, name_of(one))):
                yield f"webhook {webhook['generateName']} {_what(one)}"

    def seconds_until_due(self, csv: KubeObject) -> float | None:
        """When something about its certificates is to be done; None for nothing."""
        times = [*filter(None, map(self._certificates.next_look, servings(csv)))]
        if not times:
            return None
        return max(1.0, (min(times) - self._rotation.clock()).total_seconds())

    # --- at the end --------------------------------------------------------------------------

    async def retire(self, csv: KubeObject, *, replaced: bool) -> None:
        """Removes what is not collected with a ClusterServiceVersion. Raises ApiError."""
        for each in self._known.owned(csv, (API_SERVICES, *WEBHOOKS)):
            await self._client.delete(each, uid=str(metadata(each)["uid"]))
        for serving in servings(csv):
            self._certificates.forget(serving)
            if not replaced:
                await self.leftovers.release(serving.namespace, serving.service)
        if not replaced:
            await self._conversions.disarm(csv)


def _owner(csv: KubeObject) -> Owner:
    return Owner(name_of(csv), namespace_of(csv), str(metadata(csv)["uid"]))


def _rotate_at(csv: KubeObject) -> str:
    return str((csv.get("status") or {}).get("certsRotateAt") or "")


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _named(configuration: KubeObject, name: str) -> KubeObject:
    """A configuration under the name that the server made."""
    meta = {**configuration["metadata"], "name": name}
    del meta["generateName"]
    return {**configuration, "metadata": meta}


def _what(found: KubeObject | None) -> str:
    return "is missing" if found is None else "was changed by others"
