"""Writes the objects of a plan's steps. What is so already is not written again."""

from collections.abc import Mapping
from typing import Any

from api.objects import (
    GVK,
    KubeObject,
    annotations_of,
    gvk_of,
    is_true,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.owner import Owner
from olm_classic.install_plans.phases import CREATED, PRESENT, WAITING_FOR_API
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from olm_classic.names import ANNOTATION_GENERATED_BY, LABEL_MANAGED
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, NotFoundError

CRD_KIND = "CustomResourceDefinition"
FIELD_MANAGER = "catalog-operator"


class StepError(TransientError):
    """A step that cannot be written as it is."""


class Applier:
    """Writes the objects of one namespace's plans."""

    def __init__(self, client: KubeClient, namespace: str, plan: str) -> None:
        self._client = client
        self._namespace = namespace
        self._plan = plan

    async def apply(self, obj: KubeObject, resolving: str) -> str:
        """The status of the step whose object it is. Raises StepError, ApiError.

        `resolving` is the ClusterServiceVersion that owns it.
        """
        kind = gvk_of(obj)
        try:
            resource = await self._client.resource(kind)
        except NotFoundError as error:
            raise _not_served(kind, name_of(obj)) from error
        obj = _managed(obj, self._namespace if resource.namespaced else "")
        if kind == CLUSTER_SERVICE_VERSION:
            return await self._create(obj)
        if kind == SUBSCRIPTION:
            return await self._create(_generated(obj, self._plan))
        if kind.kind == CRD_KIND:
            return await self._definition(obj)
        owner = Owner(resolving, self._namespace, await self._uid_of(resolving))
        return await self._owned(_with_owner(obj, owner, namespaced=resource.namespaced), owner)

    async def _create(self, obj: KubeObject) -> str:
        try:
            await self._client.create(obj, field_manager=FIELD_MANAGER)
        except AlreadyExistsError:
            return PRESENT
        return CREATED

    async def _definition(self, crd: KubeObject) -> str:
        found = await self._client.find(gvk_of(crd), name_of(crd))
        if found is None:
            await self._create(crd)
            return WAITING_FOR_API
        served = {each["name"] for each in crd["spec"]["versions"]}
        for version in (found.get("status") or {}).get("storedVersions") or ():
            if version not in served:
                raise StepError(
                    f'risk of data loss updating "{name_of(crd)}": new CRD removes version '
                    f"{version} that is listed as a stored version on the existing CRD"
                )
        await self._client.apply(crd, field_manager=FIELD_MANAGER)
        return PRESENT if is_true(found, "Established") else WAITING_FOR_API

    async def _owned(self, obj: KubeObject, owner: Owner) -> str:
        found = await self._client.find(gvk_of(obj), name_of(obj), namespace_of(obj))
        if found is None:
            return await self._create(obj)
        references = metadata(obj).get("ownerReferences")
        if references:
            others = metadata(found).get("ownerReferences") or ()
            kept = [each for each in others if each["uid"] != owner.uid]
            obj = {**obj, "metadata": metadata(obj) | {"ownerReferences": [*kept, *references]}}
        await self._client.apply(obj, field_manager=FIELD_MANAGER)
        return PRESENT

    async def _uid_of(self, csv: str) -> str:
        found = await self._client.get(CLUSTER_SERVICE_VERSION, csv, self._namespace)
        return str(metadata(found)["uid"])


def _managed(obj: KubeObject, namespace: str) -> KubeObject:
    meta: Mapping[str, Any] = {
        key: value for key, value in metadata(obj).items() if key != "namespace"
    }
    placed = {"namespace": namespace} if namespace else {}
    labels = {"labels": labels_of(obj) | {LABEL_MANAGED: "true"}}
    return {**obj, "metadata": {**meta, **placed, **labels}}


def _generated(subscription: KubeObject, plan: str) -> KubeObject:
    annotations = annotations_of(subscription) | {ANNOTATION_GENERATED_BY: plan}
    return {**subscription, "metadata": metadata(subscription) | {"annotations": annotations}}


def _with_owner(obj: KubeObject, owner: Owner, *, namespaced: bool) -> KubeObject:
    meta = {key: value for key, value in metadata(obj).items() if key != "ownerReferences"}
    if namespaced:
        meta["ownerReferences"] = [owner.reference()]
    else:
        meta["labels"] = labels_of(obj) | owner.labels()
    return {**obj, "metadata": meta}


def _not_served(kind: GVK, name: str) -> StepError:
    gvk = f"{kind.group}/{kind.version}, Kind={kind.kind}"
    return StepError(
        f"api-server resource not found installing {kind.kind} {name}: GroupVersionKind {gvk} "
        "not found on the cluster. This API may have been deprecated and removed, see "
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information."
    )
