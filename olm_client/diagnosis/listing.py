"""Lists of the API server as facts: what may not be read is named, what is not served is empty."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from api.objects import GVK, KubeObject, metadata, name_of
from api.olm.v1 import names
from olm_client.diagnosis.facts import DEFINITION, DEPLOYMENT, ENDPOINT_SLICE, Lack, unique
from olm_client.diagnosis.references import Named
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.discovery import Resource, parse_groups
from olm_runtime.kube.errors import ApiError, ForbiddenError, NotFoundError
from olm_runtime.kube.media_types import GROUP_DISCOVERY, METADATA_LIST

PARALLEL_REQUESTS = 16
LIST_SECONDS = 10.0
"""For one list; where a conversion webhook does not answer, the API server would take a minute."""
DEFINITIONS_PER_PAGE = 50
"""A definition has up to a megabyte, most of it the schema, which is dropped page by page."""
MOST = 500
"""Objects of a kind that are looked at where only some are of interest."""

Read = tuple[list[KubeObject], list[Lack]]
T = TypeVar("T")


class Lists:
    """Lists, a bounded number of them at once."""

    def __init__(self, kube: KubeClient) -> None:
        self._kube = kube
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)
        self._resources: list[tuple[Resource, frozenset[str]]] | None = None

    async def all_of(self, *kinds: GVK, labels: str = "", fields: str = "") -> Read:
        """All objects of some kinds."""
        return joined(
            await asyncio.gather(
                *(self._list(kind, labels=labels, fields=fields) for kind in kinds)
            )
        )

    async def _list(
        self, kind: GVK, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> Read:
        async def listed() -> list[KubeObject]:
            found, _ = await self._kube.list_all(kind, namespace, labels=labels, fields=fields)
            return found

        return await self._attempt(listed, "list", kind, namespace)

    async def named_anywhere(self, kind: GVK, wanted: Iterable[str]) -> Read:
        """The objects of these names in all namespaces."""
        return joined(
            await asyncio.gather(
                *(self._list(kind, fields=f"metadata.name={name}") for name in wanted)
            )
        )

    async def each(self, wanted: Iterable[Named]) -> Read:
        """These objects, as far as they are there."""
        return joined(await asyncio.gather(*map(self._one, wanted)))

    async def _one(self, wanted: Named) -> Read:
        async def found() -> list[KubeObject]:
            obj = await self._kube.find(wanted.kind, wanted.name, wanted.namespace)
            return [obj] if obj is not None else []

        return await self._attempt(found, "get", wanted.kind, wanted.namespace)

    async def services(self, wanted: Iterable[Named]) -> Read:
        """Services with their EndpointSlices."""
        wanted = list(wanted)
        slices = (
            self._list(
                ENDPOINT_SLICE, each.namespace, labels=f"kubernetes.io/service-name={each.name}"
            )
            for each in wanted
        )
        return joined(await asyncio.gather(self.each(wanted), *slices))

    async def deployments(
        self, labels: str, programs: Iterable[str], namespaces: Iterable[str]
    ) -> Read:
        """Those with labels, those of some names, and all of some namespaces."""
        found, lacks = joined(
            await asyncio.gather(
                self._list(DEPLOYMENT, labels=labels),
                self.named_anywhere(DEPLOYMENT, programs),
                *(self._list(DEPLOYMENT, namespace) for namespace in namespaces),
            )
        )
        return unique(found), lacks

    async def definitions(self) -> Read:
        """All CustomResourceDefinitions, those of other groups than ours without their schemas."""

        async def listed() -> list[KubeObject]:
            path = (await self._kube.resource(DEFINITION)).path()
            found: list[KubeObject] = []
            token = ""
            while True:
                params = {"limit": str(DEFINITIONS_PER_PAGE)} | (
                    {"continue": token} if token else {}
                )
                page = await self._kube.request("GET", path, params=params)
                found += [_pruned(item) for item in page.get("items") or ()]
                token = (page.get("metadata") or {}).get("continue") or ""
                if not token:
                    return found

        return await self._attempt(listed, "list", DEFINITION, "")

    async def labelled(self, labels: str) -> Read:
        """The metadata of everything with these labels, of all kinds that can be deleted."""
        try:
            resources = await self.resources()
        except ApiError as error:
            return [], [Lack(f"which kinds there are is not known: {error.message}")]
        kinds = [resource for resource, verbs in resources if {"list", "delete"} <= verbs]
        fitting = [each for each in kinds if each.gvk.kind != "Event"]
        params = {"labelSelector": labels, "resourceVersion": "0"}
        found, lacks = joined(
            await asyncio.gather(*(self.metadata_of(each, params=params) for each in fitting))
        )
        return found, _together(lacks)

    async def metadata_of(
        self, resource: Resource, namespace: str = "", *, params: dict[str, str] | None = None
    ) -> Read:
        """The metadata of a kind's objects, of at most `MOST` without other parameters."""
        asked = params or {"limit": str(MOST)}

        async def listed() -> list[KubeObject]:
            path = resource.path(namespace)
            page = await self._kube.request("GET", path, params=asked, accept=METADATA_LIST)
            items: list[KubeObject] = page.get("items") or []
            kind = {"apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind}
            return [{**item, **kind} for item in items]

        return await self._attempt(listed, "list", resource.gvk, namespace, resource.plural)

    async def resources(self) -> list[tuple[Resource, frozenset[str]]]:
        """All resources that are served, with their verbs. Raises ApiError."""
        if self._resources is None:
            found = await asyncio.gather(
                *(
                    self._kube.request("GET", path, accept=GROUP_DISCOVERY)
                    for path in ("/api", "/apis")
                )
            )
            self._resources = [each for listed in found for each in parse_groups(listed)]
        return self._resources

    async def _attempt(
        self,
        read: Callable[[], Awaitable[list[KubeObject]]],
        verb: str,
        kind: GVK,
        namespace: str,
        plural: str = "",
    ) -> Read:
        try:
            async with self._slots, asyncio.timeout(LIST_SECONDS):
                return list(await read()), []
        except NotFoundError:
            return [], []
        except TimeoutError:
            late = ApiError(f"the API server did not answer within {LIST_SECONDS:.0f} s")
            return [], [lack_of(late, verb, kind, namespace, plural)]
        except ApiError as error:
            return [], [lack_of(error, verb, kind, namespace, plural)]


def lack_of(error: ApiError, verb: str, kind: GVK, namespace: str, plural: str = "") -> Lack:
    """Why objects are not known; where a right is missing, which."""
    where = f" in namespace {namespace}" if namespace else ""
    group = f" ({kind.group})" if kind.group else ""
    message = f"objects of kind {kind.kind}{group}{where} could not be read"
    if not isinstance(error, ForbiddenError):
        return Lack(message, error.message)
    resource = ".".join(filter(None, (plural or f"{kind.kind.lower()}s", kind.group)))
    return Lack(message, f"you lack the right to {verb} {resource}{where}")


def joined(reads: Sequence[Read]) -> Read:
    """Several reads as one."""
    return [obj for objects, _ in reads for obj in objects], [
        lack for _, lacks in reads for lack in lacks
    ]


def _together(lacks: Sequence[Lack]) -> list[Lack]:
    """Many kinds that may not be listed as one."""
    if len(lacks) <= 1:
        return list(lacks)
    return [Lack(f"objects of {len(lacks)} kinds could not be read", lacks[0].why + ", and others")]


def _pruned(definition: KubeObject) -> KubeObject:
    spec = definition.get("spec") or {}
    definition |= {"apiVersion": DEFINITION.api_version, "kind": DEFINITION.kind}
    if not metadata(definition).get("deletionTimestamp"):
        metadata(definition).pop("managedFields", None)
    if not name_of(definition).endswith(f".{names.GROUP}"):
        for version in spec.get("versions") or ():
            version.pop("schema", None)
    return definition
