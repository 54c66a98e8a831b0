"""How objects say that a ClusterServiceVersion owns them."""

from dataclasses import dataclass
from typing import Any

from olm_content.names import CSV_API_VERSION, CSV_KIND
from olm_rollout.classic_owners import LABEL_OWNER, LABEL_OWNER_KIND, LABEL_OWNER_NAMESPACE


@dataclass(frozen=True, slots=True)
class Owner:
    """The identity of a ClusterServiceVersion."""

    name: str
    namespace: str
    uid: str

    def labels(self) -> dict[str, str]:
        """The labels by which objects are found that cannot have an owner reference to it."""
        return {
            LABEL_OWNER: self.name,
            LABEL_OWNER_KIND: CSV_KIND,
            LABEL_OWNER_NAMESPACE: self.namespace,
        }

    def reference(self) -> dict[str, Any]:
        """The owner reference of objects in its namespace; deleting it does not wait for them."""
        return {
            "apiVersion": CSV_API_VERSION,
            "kind": CSV_KIND,
            "name": self.name,
            "uid": self.uid,
            "controller": False,
            "blockOwnerDeletion": False,
        }
