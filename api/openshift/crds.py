"""The kinds of OpenShift as the API server serves them: names, columns, definitions.

OperatorHub comes with OLM Classic, the others with the Cluster Version Operator.
"""

from typing import Any

from api.crd import AGE, Column, Resource, condition_column, definition
from api.openshift.config.v1 import names
from api.openshift.config.v1.clusteroperator import ClusterOperator
from api.openshift.config.v1.clusterversion import ClusterVersion
from api.openshift.config.v1.clusterversion_spec import Capability
from api.openshift.config.v1.operatorhub import OperatorHub
from api.openshift.machineconfiguration.v1 import machineconfigpool
from api.openshift.machineconfiguration.v1.machineconfigpool import MachineConfigPool
from api.schema import Rule


def _since(condition: str) -> Column:
    """How long ago the status of a condition changed."""
    path = f'.status.conditions[?(@.type=="{condition}")].lastTransitionTime'
    return Column("Since", path, "date")


def _needs(capability: Capability, needed: Capability) -> Rule:
    """Of the parts that are wished by name, one needs another: wished, or there anyhow."""
    more = "self.spec.capabilities.additionalEnabledCapabilities"
    enabled = "self.status.capabilities.enabledCapabilities"
    is_asked = (
        "has(self.spec.capabilities) && has(self.spec.capabilities.baselineCapabilitySet)"
        f" && self.spec.capabilities.baselineCapabilitySet == 'None' && has({more})"
        f" && '{capability}' in {more}"
    )
    is_there = (
        "has(self.status) && has(self.status.capabilities)"
        f" && has({enabled}) && '{needed}' in {enabled}"
    )
    return Rule(
        f"!({is_asked}) || '{needed}' in {more} || ({is_there})",
        f"the `{capability}` capability requires the `{needed}` capability, which is neither"
        " explicitly or implicitly enabled in this cluster, please enable the"
        f" `{needed}` capability",
    )


OPERATOR_HUBS = Resource(
    model=OperatorHub, group=names.GROUP, version=names.VERSION, plural="operatorhubs"
)
CLUSTER_VERSIONS = Resource(
    model=ClusterVersion,
    group=names.GROUP,
    version=names.VERSION,
    plural="clusterversions",
    columns=(
        Column("Version", '.status.history[?(@.state=="Completed")].version'),
        condition_column("Available"),
        condition_column("Progressing"),
        _since("Progressing"),
        Column("Status", '.status.conditions[?(@.type=="Progressing")].message'),
    ),
    rules=(
        _needs(Capability.MARKETPLACE, Capability.OLM),
        _needs(Capability.CLUSTER_API, Capability.COMPATIBILITY_REQUIREMENTS),
    ),
)
CLUSTER_OPERATORS = Resource(
    model=ClusterOperator,
    group=names.GROUP,
    version=names.VERSION,
    plural="clusteroperators",
    columns=(
        Column("Version", '.status.versions[?(@.name=="operator")].version'),
        condition_column("Available"),
        condition_column("Progressing"),
        condition_column("Degraded"),
        _since("Available"),
    ),
    short_names=("co",),
)
MACHINE_CONFIG_POOLS = Resource(
    model=MachineConfigPool,
    group=machineconfigpool.GROUP,
    version=machineconfigpool.VERSION,
    plural="machineconfigpools",
    columns=(
        Column("Config", ".status.configuration.name"),
        condition_column("Updated"),
        condition_column("Updating"),
        condition_column("Degraded"),
        Column("MachineCount", ".status.machineCount", "number"),
        Column("ReadyMachineCount", ".status.readyMachineCount", "number"),
        Column("UpdatedMachineCount", ".status.updatedMachineCount", "number"),
        Column("DegradedMachineCount", ".status.degradedMachineCount", "number"),
        AGE,
    ),
    short_names=("mcp",),
)

KINDS = ((OPERATOR_HUBS,),)
"""The versions of each kind that OLM Classic brings, the stored one first."""
CLUSTER_VERSION_KINDS = ((CLUSTER_VERSIONS,), (CLUSTER_OPERATORS,), (MACHINE_CONFIG_POOLS,))
"""Those that the Cluster Version Operator brings."""


def definitions() -> dict[str, dict[str, Any]]:
    """What OLM Classic brings: the definition by the name of its file, without its ending."""
    return _by_file(KINDS)


def cluster_version_definitions() -> dict[str, dict[str, Any]]:
    """What the Cluster Version Operator brings."""
    return _by_file(CLUSTER_VERSION_KINDS)


def _by_file(kinds: tuple[tuple[Resource, ...], ...]) -> dict[str, dict[str, Any]]:
    return {f"{kind[0].group}_{kind[0].plural}": definition(*kind) for kind in kinds}
