"""The kinds that pages show."""

from api.objects import GVK
from olm_classic.kinds import (
    CATALOG_SOURCE,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.kinds import (
    CLUSTER_SERVICE_VERSION as CSV,
)
from olm_client.cluster.reading import CLUSTER_OPERATOR
from olm_client.extension import EXTENSION
from olm_client.history import OBJECT_SET
from olm_client.lifecycle.openshift import CLUSTER_VERSION
from operator_controller.io.catalogs import CATALOG

EVENT = GVK("events.k8s.io", "v1", "Event")
NAMESPACE = GVK("", "v1", "Namespace")
PACKAGE_MANIFEST = GVK("packages.operators.coreos.com", "v1", "PackageManifest")
POD = GVK("", "v1", "Pod")
REPLICA_SET = GVK("apps", "v1", "ReplicaSet")
SERVICE = GVK("", "v1", "Service")

__all__ = [
    "CATALOG",
    "CATALOG_SOURCE",
    "CLUSTER_OPERATOR",
    "CLUSTER_VERSION",
    "CSV",
    "EVENT",
    "EXTENSION",
    "INSTALL_PLAN",
    "NAMESPACE",
    "OBJECT_SET",
    "OPERATOR_GROUP",
    "PACKAGE_MANIFEST",
    "POD",
    "REPLICA_SET",
    "SERVICE",
    "SUBSCRIPTION",
]
