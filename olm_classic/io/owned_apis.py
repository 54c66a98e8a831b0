"""The API services and webhooks that ClusterServiceVersions own, in the cluster.

All state of a certificate is in its Secret; what is remembered here only saves requests, and waits
that began already.
"""

import base64
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from api.objects import (
    KubeObject,
    annotations_of,
    gvk_of,
    is_true,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.machine import ApiServices
from olm_classic.csv.owner import Owner, owner_of
from olm_classic.csv.replacement import Chain
from olm_classic.hashes import map_hash
from olm_classic.io.account_rights import OWNER
from olm_classic.io.csv_deployments import MANAGER, Deployments
from olm_classic.io.owned_api_stores import SECRET, OwnedApiStores
from olm_classic.io.step_errors import StepError, refuse_foreign
from olm_classic.owned_apis.described import (
    Description,
    Serving,
    api_service_name,
    conversion_problem,
    converted,
    servings,
)
from olm_classic.owned_apis.mounts import mounted
from olm_classic.owned_apis.objects import (
    AUTHORITY_HASH,
    LABEL_WEBHOOK_HASH,
    LABEL_WEBHOOK_NAME,
    api_services,
    conversion,
    objects,
    secret,
    webhook_configuration,
)
from olm_runtime.certificates.rotation import Due, Rotation, Situation, due, next_look, prepared
from olm_runtime.certificates.secret import SecretContent, parse
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.kube.media_types import JSON_PATCH

log = logging.getLogger(__name__)

Where = tuple[str, str]
"""The namespace and name of a Secret."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What has to be applied for a ClusterServiceVersion besides its API services and webhooks.

    deployments  with volumes and mounts of certificates
    status       fields of its status: `certsLastUpdated`, `certsRotateAt`
    """

    deployments: Sequence[KubeObject]
    status: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnedApis:
    """Those of all ClusterServiceVersions."""

    client: KubeClient
    stores: OwnedApiStores
    deployments: Deployments
    rotation: Rotation
    _contents: dict[Where, tuple[str, SecretContent]] = field(default_factory=dict)
    """By the version of the Secret that they are of."""
    _spread: dict[Where, tuple[bytes, datetime]] = field(default_factory=dict)
    """The CAs that all callers trust, and since when."""

    # --- at an installation ------------------------------------------------------------------

    async def prepare(
        self, csv: KubeObject, group: KubeObject, deployments: Sequence[KubeObject]
    ) -> Prepared:
        """Writes what is needed before Deployments are applied. Raises StepError, ApiError."""
        if problem := conversion_problem(csv):
            raise StepError(problem)
        by_name = {name_of(each): each for each in deployments}
        times = []
        for serving in servings(csv):
            deployment = by_name.get(serving.deployment)
            if deployment is None:
                raise StepError(
                    f"deployment {serving.deployment}, which is to serve webhooks, is not in the "
                    "install strategy"
                )
            content = await self._advance(csv, serving)
            for each in objects(serving, _owner(csv), deployment):
                await self._apply(each)
            await self._spread_trust(csv, serving, content, group)
            times.append((content.current.issued_at, self._renewal(serving, content)))
        if not times:
            return Prepared(deployments)
        made, rotated = (sorted(each) for each in zip(*times, strict=True))
        status = {"certsLastUpdated": _time(made[-1]), "certsRotateAt": _time(rotated[0])}
        return Prepared(self.decorated(csv, deployments), status)

    def decorated(self, csv: KubeObject, deployments: Sequence[KubeObject]) -> list[KubeObject]:
        """Deployments with the certificates that there are."""
        serving = {each.deployment: each for each in servings(csv)}
        return [
            self._mounted(each, serving[name_of(each)]) if name_of(each) in serving else each
            for each in deployments
        ]

    def _mounted(self, deployment: KubeObject, serving: Serving) -> KubeObject:
        found = self.stores.secrets.get(serving.secret, serving.namespace)
        authority = annotations_of(found or {}).get(AUTHORITY_HASH, "")
        return mounted(deployment, serving.secret, authority)

    async def _advance(self, csv: KubeObject, serving: Serving) -> SecretContent:
        """The certificate after the step that is due. Raises ApiError."""
        content, now = await self._content(serving), self.rotation.clock()
        situation = self._situation(serving, content)
        step, after = self.rotation.advance(situation, serving.dns_names, now)
        if content is not None and step is Due.NOTHING and self._is_asked_for(csv, content, now):
            fresh = self.rotation.issue(serving.dns_names, now)
            step, after = Due.PREPARE, prepared(content, fresh, now)
        found = self.stores.secrets.get(serving.secret, serving.namespace)
        owned = found is not None and owner_of(found) == [(namespace_of(csv), name_of(csv))]
        if after != content or not owned:
            log.info("certificate %s/%s: %s", serving.namespace, serving.secret, step.name.lower())
            written = await self._apply(secret(serving, _owner(csv), after))
            self._remember(serving, written, after)
        return after

    def _is_asked_for(self, csv: KubeObject, content: SecretContent, now: datetime) -> bool:
        """Whether the time of the status, which others may set, has come."""
        text = (csv.get("status") or {}).get("certsRotateAt")
        if not text or content.next is not None:
            return False
        return content.current.issued_at < datetime.fromisoformat(str(text)) <= now

    async def _spread_trust(
        self, csv: KubeObject, serving: Serving, content: SecretContent, group: KubeObject | None
    ) -> None:
        """Has all callers trust the CAs of a certificate; without a group only those there are."""
        for each in api_services(serving, _owner(csv), content.bundle):
            await self._apply(each)
        for webhook in serving.admissions:
            await self._configure(csv, serving, webhook, content, group)
        where = (serving.namespace, serving.secret)
        if self._spread.get(where, (b"",))[0] != content.bundle:
            self._spread[where] = content.bundle, self.rotation.clock()

    async def _configure(
        self,
        csv: KubeObject,
        serving: Serving,
        webhook: Description,
        content: SecretContent,
        group: KubeObject | None,
    ) -> None:
        found = self._configurations(csv, webhook)
        if group is None:
            for each in found:
                await self._trust(each, content.bundle)
            return
        wanted = webhook_configuration(serving, webhook, _owner(csv), content.bundle, group)
        store = self.stores.webhooks[gvk_of(wanted)]
        if not found:
            store.update(await self.client.create(wanted, field_manager=MANAGER))
            return
        for spare in found[1:]:
            await self.client.delete(spare, uid=str(metadata(spare)["uid"]))
        named = {**wanted["metadata"], "name": name_of(found[0])}
        del named["generateName"]
        store.update(await self._apply({**wanted, "metadata": named}))

    async def _trust(self, configuration: KubeObject, bundle: bytes) -> None:
        value = _encoded(bundle)
        if all(each["clientConfig"].get("caBundle") == value for each in configuration["webhooks"]):
            return
        patch = [
            {"op": "add", "path": f"/webhooks/{number}/clientConfig/caBundle", "value": value}
            for number in range(len(configuration["webhooks"]))
        ]
        patched = await self.client.patch(
            configuration, patch, content_type=JSON_PATCH, field_manager=MANAGER
        )
        self.stores.webhooks[gvk_of(configuration)].update(patched)

    async def _apply(self, obj: KubeObject) -> KubeObject:
        """Writes an object unless OLM v1 has it; as it is stored. Raises StepError, ApiError."""
        store = self.stores.of_kind(gvk_of(obj))
        found = store.get(name_of(obj), namespace_of(obj)) if store is not None else None
        if found is not None:
            refuse_foreign({**found, "kind": obj["kind"]})
        written: KubeObject = await self.client.apply(obj, field_manager=MANAGER)
        if store is not None:
            store.update(written)
        return written

    # --- afterwards --------------------------------------------------------------------------

    async def observe(self, csv: KubeObject, _chain: Chain) -> ApiServices:
        """How they stand; a rotation that is due begins. Raises ApiError."""
        issues: list[str] = []
        waits: list[str] = []
        missing: list[str] = []
        is_due = False
        for serving in servings(csv):
            content = await self._content(serving)
            if content is None:
                missing.append(f"secret {serving.secret} has no certificate for {serving.service}")
                continue
            issues += self._issues(csv, serving, content)
            waits += self._unavailable(serving)
            now = self.rotation.clock()
            step = due(self._situation(serving, content), now, self.rotation.settle)
            if step is Due.PREPARE or self._is_asked_for(csv, content, now):
                content = await self._advance(csv, serving)
                await self._spread_trust(csv, serving, content, None)
            is_due |= step in (Due.PROMOTE, Due.ISSUE)
            waits += await self._convert(csv, serving, content)
        return ApiServices(
            issue=", ".join(issues),
            unavailable=bool(waits),
            webhooks=", ".join(missing),
            due=is_due,
        )

    def _issues(self, csv: KubeObject, serving: Serving, content: SecretContent) -> Iterator[str]:
        """What others deleted or changed."""
        if self.stores.services.get(serving.service, serving.namespace) is None:
            yield f"service {serving.service} is missing"
        wanted = _encoded(content.bundle)
        for each in serving.api_services:
            name = api_service_name(each)
            found = self.stores.api_services.get(name)
            spec = (found or {}).get("spec") or {}
            if found is None:
                yield f"APIService {name} is missing"
            elif spec.get("caBundle") != wanted or not _leads_to(spec.get("service"), serving):
                yield f"APIService {name} has another CA or service"
        for webhook in serving.admissions:
            found_ones = self._configurations(csv, webhook)
            if not found_ones:
                yield f"webhook {webhook['generateName']} is missing"
            elif not all(_is_right(each, webhook, wanted) for each in found_ones[:1]):
                yield f"webhook {webhook['generateName']} has another CA or description"

    def _unavailable(self, serving: Serving) -> Iterator[str]:
        for each in serving.api_services:
            found = self.stores.api_services.get(api_service_name(each))
            if found is not None and not is_true(found, "Available"):
                yield name_of(found)

    async def _convert(
        self, csv: KubeObject, serving: Serving, content: SecretContent
    ) -> list[str]:
        """Has definitions converted once the Deployment serves; the names of those that wait."""
        waiting = []
        for name, (by, webhook) in converted(csv).items():
            definition = self.stores.crds.get(name)
            if by != serving or definition is None:
                continue
            wanted = conversion(serving, webhook, content.bundle)
            if definition["spec"].get("conversion") == wanted:
                continue
            if not self._serves(serving):
                waiting.append(name)
                continue
            patch = {"spec": {"conversion": wanted, "preserveUnknownFields": False}}
            patched = await self.client.patch(definition, patch, field_manager=MANAGER)
            self.stores.crds.update(patched)
        return waiting

    def _serves(self, serving: Serving) -> bool:
        found = self.deployments.store.get(serving.deployment, serving.namespace)
        return found is not None and is_true(found, "Available")

    def unadoptable(self, csv: KubeObject, chain: Chain) -> bool:
        """Whether an API service belongs to another."""
        own = {name_of(csv), *chain.ancestors(csv)}
        return any(
            found is not None and not self._is_adoptable(found, namespace_of(csv), own)
            for serving in servings(csv)
            for each in serving.api_services
            for found in [self.stores.api_services.get(api_service_name(each))]
        )

    def _is_adoptable(self, found: KubeObject, namespace: str, names: set[str]) -> bool:
        owners = owner_of(found)
        return bool(owners) and all(place == namespace and name in names for place, name in owners)

    def seconds_until_due(self, csv: KubeObject) -> float | None:
        """When something about its certificates is to be done; None for nothing."""
        now = self.rotation.clock()
        times = []
        for serving in servings(csv):
            known = self._contents.get((serving.namespace, serving.secret))
            if known is not None:
                situation = self._situation(serving, known[1])
                times.append(next_look(situation, now, self.rotation.settle))
        return max(1.0, (min(times) - now).total_seconds()) if times else None

    # --- at the end --------------------------------------------------------------------------

    async def retire(self, csv: KubeObject, *, replaced: bool) -> None:
        """Removes what is not collected with a ClusterServiceVersion. Raises ApiError."""
        key = (namespace_of(csv), name_of(csv))
        for store in (self.stores.api_services, *self.stores.webhooks.values()):
            for each in list(store.by_index(OWNER, key)):
                await self.client.delete(each, uid=str(metadata(each)["uid"]))
        for serving in servings(csv):
            self._contents.pop((serving.namespace, serving.secret), None)
            self._spread.pop((serving.namespace, serving.secret), None)
        if replaced:
            return
        for name in converted(csv):
            definition = self.stores.crds.get(name)
            if (
                definition is None
                or (definition["spec"].get("conversion") or {}).get("strategy") != "Webhook"
            ):
                continue
            patch = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
            try:
                await self.client.patch(definition, patch, field_manager=MANAGER)
            except NotFoundError:
                continue

    # --- certificates ------------------------------------------------------------------------

    async def _content(self, serving: Serving) -> SecretContent | None:
        """What the Secret holds, if that is of use. Raises ApiError."""
        where = (serving.namespace, serving.secret)
        found = self.stores.secrets.get(serving.secret, serving.namespace)
        if found is None:
            self._contents.pop(where, None)
            return None
        version = str(metadata(found)["resourceVersion"])
        known = self._contents.get(where)
        if known is None or known[0] != version:
            live = await self.client.find(SECRET, serving.secret, serving.namespace)
            content = parse((live or {}).get("data") or {}, serving.dns_names)
            if live is None or content is None:
                self._contents.pop(where, None)
                return None
            known = self._contents[where] = str(metadata(live)["resourceVersion"]), content
        return known[1]

    def _remember(self, serving: Serving, written: KubeObject, content: SecretContent) -> None:
        where = (serving.namespace, serving.secret)
        self._contents[where] = str(metadata(written)["resourceVersion"]), content

    def _situation(self, serving: Serving, content: SecretContent | None) -> Situation:
        bundle, since = self._spread.get((serving.namespace, serving.secret), (b"", None))
        known = content is not None and content.bundle == bundle
        return Situation(content, since if known else None)

    def _renewal(self, serving: Serving, content: SecretContent) -> datetime:
        situation = self._situation(serving, content)
        return next_look(situation, self.rotation.clock(), self.rotation.settle)

    def _configurations(self, csv: KubeObject, webhook: Description) -> list[KubeObject]:
        """The configurations of a webhook, the oldest first."""
        key = (namespace_of(csv), name_of(csv))
        found = [
            each
            for store in self.stores.webhooks.values()
            for each in store.by_index(OWNER, key)
            if labels_of(each).get(LABEL_WEBHOOK_NAME) == webhook["generateName"]
        ]
        return sorted(found, key=lambda each: metadata(each)["creationTimestamp"])


def _owner(csv: KubeObject) -> Owner:
    return Owner(name_of(csv), namespace_of(csv), str(metadata(csv)["uid"]))


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _encoded(bundle: bytes) -> str:
    return base64.b64encode(bundle).decode()


def _leads_to(service: Mapping[str, Any] | None, serving: Serving) -> bool:
    named = service or {}
    return (named.get("namespace"), named.get("name")) == (serving.namespace, serving.service)


def _is_right(configuration: KubeObject, webhook: Description, bundle: str) -> bool:
    if labels_of(configuration).get(LABEL_WEBHOOK_HASH) != map_hash(dict(webhook)):
        return False
    return all(each["clientConfig"].get("caBundle") == bundle for each in configuration["webhooks"])
