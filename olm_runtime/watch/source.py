"""A kind of our own that is watched."""

from dataclasses import dataclass

from api.objects import GVK, KubeObject
from olm_runtime.kube.discovery import root_of
from olm_runtime.watch.store import Store


@dataclass(frozen=True, slots=True)
class Source:
    """One kind that is watched cluster-wide into a store, whose handlers run in our own loop."""

    gvk: GVK
    plural: str
    store: Store[KubeObject]

    @property
    def path(self) -> str:
        """Where the API server serves the kind."""
        return f"{self.root}/{self.plural}"

    @property
    def root(self) -> str:
        """Where the API server says what it serves of the group."""
        return root_of(self.gvk)
