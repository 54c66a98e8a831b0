"""The kinds that pages show."""

from api.objects import GVK
from olm_classic.kinds import (
    CATALOG_SOURCE,
    INSTALL_PLAN,
    SUBSCRIPTION,
)
from olm_classic.kinds import (
    CLUSTER_SERVICE_VERSION as CSV,
)
from olm_cli.cluster.reading import CLUSTER_OPERATOR
from olm_cli.extension import EXTENSION
from olm_cli.history_cluster import OBJECT_SET
from olm_cli.lifecycle.openshift import CLUSTER_VERSION
from operator_controller.io.catalogs import CATALOG

NAMESPACE = GVK("", "v1", "Namespace")
SERVICE = GVK("", "v1", "Service")

__all__ = [
    "CATALOG",
    "CATALOG_SOURCE",
    "CLUSTER_OPERATOR",
    "CLUSTER_VERSION",
    "CSV",
    "EXTENSION",
    "INSTALL_PLAN",
    "NAMESPACE",
    "OBJECT_SET",
    "SERVICE",
    "SUBSCRIPTION",
]
