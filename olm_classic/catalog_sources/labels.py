"""The names and labels of what serves a catalog. Pure."""

from api.objects import KubeObject, metadata
from olm_classic.names import LABEL_MANAGED

PORT = 50051
LABEL_CATALOG = "olm.catalogSource"
"""On the pods that serve a catalog: its name. The Service selects by it."""
LABEL_UPDATE = "catalogsource.operators.coreos.com/update"
"""On a pod that was made to see whether there is newer content: the catalog's name."""
LABEL_POD_HASH = "olm.pod-spec-hash"
LABEL_SERVICE_HASH = "olm.service-spec-hash"
LABEL_CONFIG_MAP_VERSION = "olm.configMapResourceVersion"
MANAGED = {LABEL_MANAGED: "true"}


def service_name(catalog: str) -> str:
    """The name of a catalog's Service, whose names have no dots."""
    return catalog.replace(".", "-")


def service_address(namespace: str, catalog: str) -> str:
    """Where a catalog is served inside the cluster."""
    return f"{service_name(catalog)}.{namespace}.svc:{PORT}"


def owner_reference(catalog: KubeObject, *, controller: bool) -> dict[str, object]:
    """Who owns what serves a catalog."""
    meta = catalog["metadata"]
    return {
        "apiVersion": catalog["apiVersion"],
        "kind": catalog["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": controller,
        "blockOwnerDeletion": False,
    }


def is_owned(obj: KubeObject, owner: KubeObject) -> bool:
    """Whether an object goes with its owner."""
    owners = metadata(obj).get("ownerReferences") or ()
    return any(each["uid"] == metadata(owner)["uid"] for each in owners)
