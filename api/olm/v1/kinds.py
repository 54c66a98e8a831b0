"""The kinds of OLM v1."""

from api.objects import GVK
from api.olm.v1 import names

EXTENSION = GVK(names.GROUP, names.VERSION, names.CLUSTER_EXTENSION)
CATALOG = GVK(names.GROUP, names.VERSION, names.CLUSTER_CATALOG)
OBJECT_SET = GVK(names.GROUP, names.VERSION, names.CLUSTER_OBJECT_SET)
