"""The kinds as the API server serves them: names, columns of `kubectl get`, definitions."""

from typing import Any

from api.crd import AGE, Column, Resource, condition_column, definition
from api.olm.v1 import names
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.clusterobjectset import ClusterObjectSet
from api.olm.v1.conditions import ConditionType

_ANNOTATIONS = {names.ANNOTATION_GENERATOR: "experimental"}
"""Upstream's word for definitions that hold the additive fields too, as all of ours do."""

CLUSTER_EXTENSIONS = Resource(
    model=ClusterExtension,
    group=names.GROUP,
    version=names.VERSION,
    plural="clusterextensions",
    columns=(
        Column("Installed Bundle", ".status.install.bundle.name"),
        Column("Version", ".status.install.bundle.version"),
        condition_column(ConditionType.INSTALLED),
        condition_column(ConditionType.PROGRESSING),
        AGE,
    ),
    annotations=_ANNOTATIONS,
)

CLUSTER_CATALOGS = Resource(
    model=ClusterCatalog,
    group=names.GROUP,
    version=names.VERSION,
    plural="clustercatalogs",
    columns=(
        Column("LastUnpacked", ".status.lastUnpacked", "date"),
        condition_column(ConditionType.SERVING),
        AGE,
    ),
    annotations=_ANNOTATIONS,
)

CLUSTER_OBJECT_SETS = Resource(
    model=ClusterObjectSet,
    group=names.GROUP,
    version=names.VERSION,
    plural="clusterobjectsets",
    columns=(
        condition_column(ConditionType.AVAILABLE),
        condition_column(ConditionType.PROGRESSING),
        AGE,
    ),
    annotations=_ANNOTATIONS,
)

RESOURCES = (CLUSTER_CATALOGS, CLUSTER_EXTENSIONS, CLUSTER_OBJECT_SETS)


def definitions() -> dict[str, dict[str, Any]]:
    """The CustomResourceDefinitions by the name of their file, without its ending."""
    return {f"{each.group}_{each.plural}": definition(each) for each in RESOURCES}
