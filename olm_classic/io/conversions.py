"""Definitions whose objects the webhooks of operators convert."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, is_true
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.owned_apis.covering import covers
from olm_classic.owned_apis.described import Serving, converted
from olm_classic.owned_apis.objects import conversion
from olm_runtime.certificates.content import SecretContent
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store


@dataclass(frozen=True, slots=True)
class Conversions:
    """Those of all ClusterServiceVersions."""

    client: KubeClient
    crds: Store[KubeObject]
    deployments: Store[KubeObject]

    async def arm(self, csv: KubeObject, serving: Serving, content: SecretContent) -> bool:
        """Has objects converted once the Deployment serves; whether some definitions wait for that.

        Before, every read of an object of another version would fail. Raises ApiError.
        """
        waits = False
        for name, (by, webhook) in converted(csv).items():
            definition = self.crds.get(name)
            if by != serving or definition is None:
                continue
            wanted = conversion(serving, webhook, content.bundle)
            if covers(definition["spec"].get("conversion"), wanted):
                continue
            if not self._serves(serving):
                waits = True
                continue
            patch = {"spec": {"conversion": wanted, "preserveUnknownFields": False}}
            await self._patch(definition, patch)
        return waits

    async def disarm(self, csv: KubeObject) -> None:
        """Has its definitions converted by it no more. Raises ApiError."""
        for name, (serving, _) in converted(csv).items():
            definition = self.crds.get(name)
            if definition is not None and _calls(definition, serving):
                nothing = {"strategy": "None", "webhook": None}
                await self._patch(definition, {"spec": {"conversion": nothing}})

    def client_configs(self, csv: KubeObject, serving: Serving) -> Iterator[Mapping[str, Any]]:
        """How it is called to convert now."""
        for name in converted(csv):
            definition = self.crds.get(name)
            if definition is not None and _calls(definition, serving):
                yield definition["spec"]["conversion"]["webhook"]["clientConfig"]

    def _serves(self, serving: Serving) -> bool:
        found = self.deployments.get(serving.deployment, serving.namespace)
        return found is not None and is_true(found, "Available")

    async def _patch(self, definition: KubeObject, patch: dict[str, Any]) -> None:
        patched = await self.client.patch(definition, patch, field_manager=OPERATOR_FIELD_MANAGER)
        self.crds.update(patched)


def _calls(definition: KubeObject, serving: Serving) -> bool:
    """Whether a Deployment converts its objects already."""
    webhook = (definition["spec"].get("conversion") or {}).get("webhook") or {}
    service = (webhook.get("clientConfig") or {}).get("service") or {}
    return (service.get("namespace"), service.get("name")) == (serving.namespace, serving.service)
