"""Lists of a kind that are as new as everything we know of it.

A list that has to be as new as the moment makes the API server ask etcd how far it is, which takes
a tenth of a second when several ask in a row. One that must not be older than a version that we
have seen is answered at once. What happens after that rings (`controllers.triggers`).
"""

from dataclasses import dataclass

from api.objects import GVK, KubeObject, metadata
from olm_runtime.kube.client import KubeClient


@dataclass(slots=True)
class CaughtUpLists:
    """Lists objects of `gvk`; until something of it was heard, as they are at the moment.

    Versions of one kind grow, as Kubernetes' API conventions promise; after a backup of etcd was
    restored they begin lower again, and lists go back to what is there.
    """

    client: KubeClient
    gvk: GVK
    _heard: int = 0

    def heard(self, obj: KubeObject) -> None:
        """Notes an object as the API server told it: in an answer or an event."""
        self._heard = max(self._heard, _number(metadata(obj).get("resourceVersion")))

    def is_newest(self, version: int) -> bool:
        """Whether nothing is known of that is newer than a list of that version."""
        return version >= self._heard

    async def list_with_version(
        self, labels: str = "", *, at_this_moment: bool = False
    ) -> tuple[list[KubeObject], int]:
        """The objects with these labels, whole, and of which version they are. Raises ApiError."""
        wanted = 0 if at_this_moment else self._heard
        found, version = await self.client.list_all(
            self.gvk, labels=labels, not_older_than=str(wanted) if wanted else ""
        )
        told = _number(version)
        self._heard = told if told < wanted else max(self._heard, told)
        return found, told

    async def list(self, labels: str = "", *, at_this_moment: bool = False) -> list[KubeObject]:
        """The objects alone. Raises ApiError."""
        found, _ = await self.list_with_version(labels, at_this_moment=at_this_moment)
        return found


def _number(version: str | None) -> int:
    return int(version) if version and version.isdecimal() else 0
