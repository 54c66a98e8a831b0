"""API group olm.operatorframework.io/v1: typed models of the kinds and their words. Pure.

A kind is read with its `from_object`. Models are facts: frozen, safe to share. Status is written
as plain JSON (`api.wire.write` makes it of a model).
"""

from api.conditions import Condition, ConditionStatus, merge_conditions
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.clusterobjectset import ClusterObjectSet
from api.olm.v1.conditions import ConditionType, Reason
from api.wire import InvalidObjectError

__all__ = [
    "ClusterCatalog",
    "ClusterExtension",
    "ClusterObjectSet",
    "Condition",
    "ConditionStatus",
    "ConditionType",
    "InvalidObjectError",
    "Reason",
    "merge_conditions",
]
