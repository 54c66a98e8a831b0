"""The kinds of OLM Classic as the API server serves them: names, columns, definitions."""

from typing import Any

from api.crd import AGE, Column, Resource, Scope, definition
from api.operators.names import CATEGORY, GROUP
from api.operators.v1 import olmconfig, operator
from api.operators.v1 import operatorcondition as operatorcondition_v1
from api.operators.v1 import operatorgroup as operatorgroup_v1
from api.operators.v1alpha1 import catalogsource, clusterserviceversion, installplan, subscription
from api.operators.v1alpha2 import operatorgroup as operatorgroup_v1alpha2
from api.operators.v2 import operatorcondition as operatorcondition_v2


def _resource(
    model: type,
    version: str,
    *columns: Column,
    scope: Scope = Scope.NAMESPACED,
    short_names: tuple[str, ...] = (),
) -> Resource:
    return Resource(
        model=model,
        group=GROUP,
        version=version,
        plural=f"{model.__name__.lower()}s",
        columns=columns,
        scope=scope,
        short_names=short_names,
        categories=(CATEGORY,),
    )


CLUSTER_SERVICE_VERSIONS = _resource(
    clusterserviceversion.ClusterServiceVersion,
    "v1alpha1",
    Column("Display", ".spec.displayName"),
    Column("Version", ".spec.version"),
    Column("Release", ".spec.release"),
    Column("Replaces", ".spec.replaces"),
    Column("Phase", ".status.phase"),
    short_names=("csv", "csvs"),
)
SUBSCRIPTIONS = _resource(
    subscription.Subscription,
    "v1alpha1",
    Column("Package", ".spec.name"),
    Column("Source", ".spec.source"),
    Column("Channel", ".spec.channel"),
    short_names=("sub", "subs"),
)
INSTALL_PLANS = _resource(
    installplan.InstallPlan,
    "v1alpha1",
    Column("CSV", ".spec.clusterServiceVersionNames[0]"),
    Column("Approval", ".spec.approval"),
    Column("Approved", ".spec.approved", "boolean"),
    short_names=("ip",),
)
CATALOG_SOURCES = _resource(
    catalogsource.CatalogSource,
    "v1alpha1",
    Column("Display", ".spec.displayName"),
    Column("Type", ".spec.sourceType"),
    Column("Publisher", ".spec.publisher"),
    AGE,
    short_names=("catsrc",),
)
OPERATOR_GROUPS = _resource(operatorgroup_v1.OperatorGroup, "v1", short_names=("og",))
OPERATOR_GROUPS_V1ALPHA2 = _resource(operatorgroup_v1alpha2.OperatorGroup, "v1alpha2")
OPERATOR_CONDITIONS = _resource(
    operatorcondition_v2.OperatorCondition, "v2", short_names=("condition",)
)
OPERATOR_CONDITIONS_V1 = _resource(operatorcondition_v1.OperatorCondition, "v1")
OLM_CONFIGS = _resource(olmconfig.OLMConfig, "v1", scope=Scope.CLUSTER)
OPERATORS = _resource(operator.Operator, "v1", scope=Scope.CLUSTER)

KINDS = (
    (CLUSTER_SERVICE_VERSIONS,),
    (SUBSCRIPTIONS,),
    (INSTALL_PLANS,),
    (CATALOG_SOURCES,),
    (OPERATOR_GROUPS, OPERATOR_GROUPS_V1ALPHA2),
    (OPERATOR_CONDITIONS, OPERATOR_CONDITIONS_V1),
    (OLM_CONFIGS,),
    (OPERATORS,),
)
"""The versions of each kind, the stored one first."""


def definitions() -> dict[str, dict[str, Any]]:
    """The CustomResourceDefinitions by the name of their file, without its ending.

    Structs of Kubernetes are references: see `api.crd.with_structs`.
    """
    return {f"{kind[0].group}_{kind[0].plural}": definition(*kind) for kind in KINDS}
