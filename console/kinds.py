"""The kinds that pages show."""

from api.objects import GVK
from api.olm.v1 import names as olm
from api.openshift.config.v1 import names as openshift
from olm_classic.kinds import (
    CATALOG_SOURCE,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.kinds import (
    CLUSTER_SERVICE_VERSION as CSV,
)

CATALOG = GVK(olm.GROUP, olm.VERSION, olm.CLUSTER_CATALOG)
CLUSTER_OPERATOR = GVK(openshift.GROUP, openshift.VERSION, "ClusterOperator")
CLUSTER_VERSION = GVK(openshift.GROUP, openshift.VERSION, "ClusterVersion")
EVENT = GVK("events.k8s.io", "v1", "Event")
EXTENSION = GVK(olm.GROUP, olm.VERSION, olm.CLUSTER_EXTENSION)
NAMESPACE = GVK("", "v1", "Namespace")
OBJECT_SET = GVK(olm.GROUP, olm.VERSION, olm.CLUSTER_OBJECT_SET)
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
