"""How objects say that a ClusterServiceVersion owns them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, labels_of
from api.operators.names import LABEL_OWNER, LABEL_OWNER_KIND, LABEL_OWNER_NAMESPACE
from olm_content.names import CSV_API_VERSION, CSV_KIND


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


def owner_of(obj: KubeObject) -> Iterable[tuple[str, str]]:
    """Namespace and name of the ClusterServiceVersion that the labels of an object name."""
    labels = labels_of(obj)
    if labels.get(LABEL_OWNER_KIND) != CSV_KIND:
        return []
    return [(labels.get(LABEL_OWNER_NAMESPACE, ""), labels.get(LABEL_OWNER, ""))]
