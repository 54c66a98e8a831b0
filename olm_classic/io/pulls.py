"""How images of catalogs and bundles are pulled: with which secrets, mirrors and limits."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from olm_runtime.images.limits import Limits
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.cluster_pulls import ClusterPulls
from olm_runtime.registry.pull_secrets import PullSecrets
from olm_runtime.registry.settings import PullSettings


class Pulls:
    """What the cluster says about pulls, as it is now."""

    def __init__(
        self,
        client: KubeClient,
        *,
        namespace: str,
        global_secret: tuple[str, str] | None,
        cas_dir: Path | None,
        limits: Limits,
    ) -> None:
        """`namespace` is the program's own, `limits` are those of bundles."""
        self._secrets = PullSecrets.of_this_program(
            client, global_secret=global_secret, prefix="catalog-operator-pull-secrets-"
        )
        self._cluster = ClusterPulls(client, namespace)
        self._cas_dir = cas_dir
        self._limits = limits

    async def of_catalogs(self) -> PullSettings:
        """How catalogs are pulled, to be asked before each pull."""
        return await self._settings(Limits())

    async def of_bundles(self) -> PullSettings:
        """The same for bundles."""
        return await self._settings(self._limits)

    async def _settings(self, limits: Limits) -> PullSettings:
        await self._secrets.refresh()
        await self._cluster.refresh()
        return PullSettings(
            cas_dir=self._cas_dir,
            auth_file=self._secrets.file,
            cluster=self._cluster.settings,
            limits=limits,
            bulk=True,  # aiohttp is there for the API server
        )

    async def act_on_changes(self, act: Callable[[], Awaitable[None]]) -> None:
        """Calls `act` after each change of the cluster's mirrors, proxies and CAs."""
        await self._cluster.act_on_changes(act)

    async def close(self) -> None:
        """Ends what it began, and removes the secrets' file."""
        self._secrets.close()
        await self._cluster.close()
