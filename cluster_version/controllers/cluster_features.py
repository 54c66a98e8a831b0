"""Follows the FeatureGate of a cluster, which need not have one, nor serve its kind."""

from collections.abc import Callable

from api.objects import KubeObject
from api.openshift.config.v1.kinds import FEATURE_GATE
from cluster_version.payload.features import FEATURE_GATE_NAME, Features, features_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.followed import Followed
from olm_runtime.watch.informer import Selection
from olm_runtime.watch.store import NotSyncedError

FOLLOWED = Selection(FEATURE_GATE, fields=f"metadata.name={FEATURE_GATE_NAME}")


class ClusterFeatures:
    """The feature set and the feature gates of a cluster."""

    def __init__(self, client: KubeClient, notify: Callable[[], None]) -> None:
        """`notify` is called at each change."""
        self._notify = notify
        self._known: KubeObject | None = None
        self._followed: Followed[KubeObject] = Followed(
            client, FOLLOWED, lambda obj: obj, self._see
        )

    async def read(self) -> None:
        """Awaited before each use of `of`. Raises NotSyncedError while nothing is known.

        What is not known must not be taken for the default: objects of a release would come and go.
        """
        await self._followed.start()
        if not self._followed.store.synced:
            problem = (
                "it is not known which features the cluster has: the FeatureGate cannot be read"
            )
            raise NotSyncedError(f"{problem}; the log says why")

    async def _see(self) -> None:
        """A kind that nobody serves is asked for at each use: that there is none is no change."""
        found = self._followed.store.get(FEATURE_GATE_NAME)
        if found != self._known:
            self._known = found
            self._notify()

    def of(self, version: str) -> Features:
        """What the cluster has for a release of a version."""
        return features_of(self._followed.store.get(FEATURE_GATE_NAME), version)

    async def aclose(self) -> None:
        """Stops following it."""
        await self._followed.close()
