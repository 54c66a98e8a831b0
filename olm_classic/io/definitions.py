"""Writes CustomResourceDefinitions of plans; none makes objects invalid or unreadable."""

from collections.abc import Callable

from api.objects import GVK, KubeObject, gvk_of, is_true, metadata, name_of, namespace_of
from olm_classic.install_plans.definitions import (
    converts_by_webhook,
    data_loss,
    installed_alongside,
    may_be_migrated,
    questions_of,
    removed_versions,
    why_restrictive,
)
from olm_classic.install_plans.phases import PRESENT, WAITING_FOR_API
from olm_classic.io.step_errors import StepError, refuse_foreign
from olm_rollout.io.stored_objects import Bounds, examine
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient

STORED_BOUNDS = Bounds(objects=100_000, seconds=60.0)
"""How far objects are examined; what is beyond is not taken for valid."""


class Definitions:
    """Writes definitions with the rights of this program, also for plans with less."""

    def __init__(
        self, client: KubeClient, *, field_manager: str, announce: Callable[[Happening], None]
    ) -> None:
        """`announce` gets what users are to know of a definition."""
        self._client = client
        self._field_manager = field_manager
        self._announce = announce

    async def write(self, crd: KubeObject, csv: str) -> str:
        """The status of the step; `csv` is `namespace/name`. Raises StepError, ApiError."""
        live = await self._client.find(gvk_of(crd), name_of(crd))
        crd = installed_alongside(crd, live, csv)
        if live is not None:
            refuse_foreign(live)
            await self._check(live, crd)
            await self._migrate(live, removed_versions(live, crd))
        await self._client.apply(crd, field_manager=self._field_manager)
        if live is None:
            return WAITING_FOR_API
        return PRESENT if is_true(live, "Established") else WAITING_FOR_API

    async def _check(self, live: KubeObject, crd: KubeObject) -> None:
        examined = await examine(self._client, questions_of(live, crd), STORED_BOUNDS)
        names, group = live["spec"]["names"], live["spec"]["group"]
        problem = why_restrictive(name_of(crd), names["kind"], group, examined)
        if not problem:
            return
        if not converts_by_webhook(crd):
            raise StepError(problem)
        self._announce(Happening("Install", "CRDValidation", problem, warning=True))

    async def _migrate(self, live: KubeObject, versions: list[str]) -> None:
        """Has all objects stored in the present version, then forgets the others."""
        if not versions:
            return
        for version in versions:
            if not may_be_migrated(live, version):
                raise StepError(data_loss(name_of(live), version))
        spec = live["spec"]
        served = next((each["name"] for each in spec["versions"] if each["served"]), None)
        if served is None:
            raise StepError(data_loss(name_of(live), versions[0]))
        kind = GVK(spec["group"], served, spec["names"]["kind"])
        objects, _ = await self._client.list_all(kind, metadata_only=True)
        for obj in objects:
            # A patch of nothing is stored if the object is stored in another version.
            named = {"namespace": namespace_of(obj), "name": name_of(obj)}
            found = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": named}
            await self._client.patch(found, {}, metadata_only=True)
        remaining = [each for each in live["status"]["storedVersions"] if each not in versions]
        patch = {
            "metadata": {"resourceVersion": metadata(live)["resourceVersion"]},
            "status": {"storedVersions": remaining},
        }
        await self._client.patch(live, patch, subresource="status")
