"""Kinds of config.openshift.io/v1 that programs read or write."""

from api.objects import GVK
from api.openshift.config.v1 import names

API_SERVER = GVK(names.GROUP, names.VERSION, "APIServer")
CLUSTER_OPERATOR = GVK(names.GROUP, names.VERSION, "ClusterOperator")
CLUSTER_VERSION = GVK(names.GROUP, names.VERSION, "ClusterVersion")
FEATURE_GATE = GVK(names.GROUP, names.VERSION, "FeatureGate")
INFRASTRUCTURE = GVK(names.GROUP, names.VERSION, "Infrastructure")
OPERATOR_HUB = GVK(names.GROUP, names.VERSION, "OperatorHub")
PROXY = GVK(names.GROUP, names.VERSION, "Proxy")
