"""The API services and webhooks that a ClusterServiceVersion owns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.objects import KubeObject
from olm_classic.csv.machine import ApiServices
from olm_classic.csv.replacement import Chain


@dataclass(frozen=True, slots=True)
class Prepared:
    """What has to be applied for a ClusterServiceVersion besides its API services and webhooks.

    deployments  with volumes and mounts of certificates
    status       fields of its status: `certsLastUpdated`, `certsRotateAt`
    """

    deployments: Sequence[KubeObject]
    status: Mapping[str, Any] = field(default_factory=dict)


class OwnedApis:
    """Those of ClusterServiceVersions that own none, yet."""

    async def observe(self, _csv: KubeObject, _chain: Chain) -> ApiServices:
        """How they stand. Raises ApiError."""
        return ApiServices()

    def unadoptable(self, _csv: KubeObject, _chain: Chain) -> bool:
        """Whether an API service belongs to another."""
        return False

    def decorated(
        self, _csv: KubeObject, deployments: Sequence[KubeObject]
    ) -> Sequence[KubeObject]:
        """Deployments as `prepare` would give them with the certificates that there are."""
        return deployments

    async def prepare(
        self, _csv: KubeObject, _group: KubeObject, deployments: Sequence[KubeObject]
    ) -> Prepared:
        """Writes what is needed before Deployments are applied. Raises StepError, ApiError."""
        return Prepared(deployments)

    async def retire(self, _csv: KubeObject, *, replaced: bool) -> None:
        """Removes them when a ClusterServiceVersion is deleted. Raises ApiError."""
