"""Writes the objects of a plan's steps. What is so already is not written again."""

from collections.abc import Callable, Mapping
from typing import Any

from api.objects import (
    CRD_KIND,
    KubeObject,
    annotations_of,
    gvk_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.owner import Owner
from olm_classic.install_plans.phases import CREATED, PRESENT
from olm_classic.install_plans.steps import is_supported
from olm_classic.io.definitions import Definitions
from olm_classic.io.step_errors import (
    ForbiddenStepError,
    StepError,
    UnsupportedStepError,
    not_served,
    refuse_foreign,
)
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION
from olm_classic.names import ANNOTATION_GENERATED_BY, FIELD_MANAGER, LABEL_MANAGED
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, ApiError, ForbiddenError, NotFoundError
from olm_runtime.registry.pull_secrets import SECRET


class Applier:
    """Writes the objects of one namespace's plans."""

    def __init__(
        self,
        client: KubeClient,
        namespace: str,
        plan: str,
        *,
        account: str = "",
        announce: Callable[[Happening], None],
        warned: Callable[[str], None],
    ) -> None:
        """Writes as `client`, or with the rights of a service account of the namespace only.

        Definitions are written as `client` always. `announce` gets what users are to know,
        `warned` what the API server warns of when something is written.
        """
        self._client = client
        self._namespace = namespace
        self._plan = plan
        writer = client.with_warning_handler(warned)
        self._writer = writer.as_service_account(namespace, account) if account else writer
        self._definitions = Definitions(writer, field_manager=FIELD_MANAGER, announce=announce)

    async def apply(self, obj: KubeObject, resolving: str) -> str:
        """The status of the step whose object it is. Raises StepError, ApiError.

        `resolving` is the ClusterServiceVersion that owns it.
        """
        kind = gvk_of(obj)
        if not is_supported(kind):
            raise UnsupportedStepError("the InstallPlan contains invalid data")
        try:
            resource = await self._client.resource(kind)
        except NotFoundError as error:
            raise not_served(kind, name_of(obj)) from error
        obj = _managed(obj, self._namespace if resource.namespaced else "")
        if kind == CLUSTER_SERVICE_VERSION:
            return await self._create(obj)
        if kind == SUBSCRIPTION:
            return await self._create(_generated(obj, self._plan))
        if kind.kind == CRD_KIND:
            return await self._definitions.write(obj, f"{self._namespace}/{resolving}")
        owner = Owner(resolving, self._namespace, await self._uid_of(resolving))
        return await self._owned(_with_owner(obj, owner, namespaced=resource.namespaced), owner)

    async def copy_secret(self, name: str, namespace: str) -> str:
        """The status of a step that copies a Secret from a namespace, as pull secrets are.

        One that is there is left as it is. Raises StepError, ApiError.
        """
        found = await self._client.find(SECRET, name, namespace)
        if found is None:
            raise StepError(f"secret {name} does not exist in namespace {namespace}")
        copied = {"apiVersion": "v1", "kind": SECRET.kind, "metadata": {"name": name}}
        copied |= {key: found[key] for key in ("data", "type") if key in found}
        return await self._create(_managed(copied, self._namespace))

    async def _create(self, obj: KubeObject) -> str:
        """A new object; one that is there is left as it is, even where nothing may be made."""
        if await self._client.find(
            gvk_of(obj), name_of(obj), namespace_of(obj), metadata_only=True
        ):
            return PRESENT
        try:
            await self._writer.create(obj, field_manager=FIELD_MANAGER)
        except AlreadyExistsError:
            return PRESENT
        except ApiError as error:
            raise _failed("creating", obj, error) from error
        return CREATED

    async def _owned(self, obj: KubeObject, owner: Owner) -> str:
        found = await self._client.find(gvk_of(obj), name_of(obj), namespace_of(obj))
        if found is None:
            return await self._applied_first(obj)
        refuse_foreign(found)
        references = metadata(obj).get("ownerReferences")
        if references:
            others = metadata(found).get("ownerReferences") or ()
            rest = [each for each in others if each["uid"] != owner.uid]
            obj = {**obj, "metadata": metadata(obj) | {"ownerReferences": [*rest, *references]}}
        try:
            await self._writer.apply(obj, field_manager=FIELD_MANAGER)
        except ApiError as error:
            raise _failed("updating", obj, error) from error
        return PRESENT

    async def _applied_first(self, obj: KubeObject) -> str:
        """Applied, so that what a later version leaves out goes; created if only that is allowed.

        Then a refusal says, too, that the account may not create it.
        """
        try:
            await self._writer.apply(obj, field_manager=FIELD_MANAGER)
        except ForbiddenError:
            return await self._create(obj)
        except ApiError as error:
            raise _failed("creating", obj, error) from error
        return CREATED

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


def _failed(doing: str, obj: KubeObject, error: ApiError) -> StepError:
    kind = ForbiddenStepError if isinstance(error, ForbiddenError) else StepError
    return kind(f"error {doing} {str(obj['kind']).lower()} {name_of(obj)}: {error.message}")
