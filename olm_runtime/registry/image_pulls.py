"""How a program pulls images: with which secrets, mirrors and limits, and where they go."""

import random
from pathlib import Path

from olm_runtime.images.limits import Limits
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.cluster_pulls import ClusterPulls
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.registry.settings import PullSettings


class Pulls:
    """The store of images, and what changes while it is in use."""

    def __init__(
        self,
        client: KubeClient,
        secrets: PullSecrets,
        *,
        cache: Path,
        namespace: str,
        cas_dir: Path | None,
        limits: Limits,
    ) -> None:
        """`namespace` is the program's own."""
        self._cas_dir = cas_dir
        self._limits = limits
        self.secrets = secrets
        self.cluster = ClusterPulls(client, namespace)
        self.images = ImageStore(cache, self._of_now, jitter=random.random)

    def _of_now(self) -> PullSettings:
        return PullSettings(
            cas_dir=self._cas_dir,
            auth_file=self.secrets.file,
            cluster=self.cluster.settings,
            limits=self._limits,
            bulk=True,  # aiohttp is there for the API server, and takes two thirds of the time
        )

    async def refresh(self) -> None:
        """Learns the secrets and the cluster's settings as they are at the moment."""
        await self.secrets.refresh()
        await self.cluster.refresh()

    async def close(self) -> None:
        """Ends what it began, and removes the secrets' file."""
        self.secrets.close()
        await self.cluster.close()
