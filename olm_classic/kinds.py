"""The kinds of OLM Classic. Pure."""

from api.objects import GVK
from api.operators.names import GROUP

CATALOG_SOURCE = GVK(GROUP, "v1alpha1", "CatalogSource")
SUBSCRIPTION = GVK(GROUP, "v1alpha1", "Subscription")
INSTALL_PLAN = GVK(GROUP, "v1alpha1", "InstallPlan")
CLUSTER_SERVICE_VERSION = GVK(GROUP, "v1alpha1", "ClusterServiceVersion")
OPERATOR_GROUP = GVK(GROUP, "v1", "OperatorGroup")
OPERATOR_CONDITION = GVK(GROUP, "v2", "OperatorCondition")
OPERATOR = GVK(GROUP, "v1", "Operator")
OLM_CONFIG = GVK(GROUP, "v1", "OLMConfig")
