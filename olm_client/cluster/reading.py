"""Reads from a cluster what commands show of its updates."""

import asyncio
from collections.abc import Callable, Sequence

from api.objects import GVK, KubeObject
from api.openshift.config.v1.kinds import CLUSTER_OPERATOR, CLUSTER_VERSION
from cluster_version.client_output.status_view import Cluster
from cluster_version.names import DEFAULT_NAMESPACE
from cluster_version.status.levels import CONFIG_MAP_NAME, Level, levels_of
from olm_client.reach import Reach, cluster
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NoMatchError

NAME = "version"
NONE = (
    "No cluster version information available - you must be connected to an OpenShift version 4 "
    "server to fetch the current version"
)
_MACHINES = "machineconfiguration.openshift.io"
POOL = GVK(_MACHINES, "v1", "MachineConfigPool")
CONFIG = GVK(_MACHINES, "v1", "MachineConfig")
NODE = GVK("", "v1", "Node")
DEPLOYMENT = GVK("apps", "v1", "Deployment")
CONFIG_MAP = GVK("", "v1", "ConfigMap")
NODES_PROGRAM = "machine-config-operator"


async def read_version(kube: KubeClient) -> KubeObject:
    """Raises TerminalError if there is none, ApiError."""
    live = await kube.find(CLUSTER_VERSION, NAME)
    if live is None:
        raise TerminalError(NONE)
    return live


async def version_at(reach: Reach) -> KubeObject:
    """That of the cluster which is reached so. Raises TerminalError if there is none, ApiError."""
    async with cluster(reach) as kube:
        return await read_version(kube)


async def read_cluster(kube: KubeClient) -> Cluster:
    """Raises TerminalError of a cluster without a ClusterVersion, ApiError.

    Pools are left out where the cluster has no MachineConfigs: without them nobody can tell which
    version a node has.
    """
    version, operators, configs, pools, nodes, program = await asyncio.gather(
        read_version(kube),
        _all(kube, CLUSTER_OPERATOR),
        _all(kube, CONFIG, keep=_without_spec),
        _all(kube, POOL),
        _all(kube, NODE),
        kube.find(DEPLOYMENT, NODES_PROGRAM, f"openshift-{NODES_PROGRAM}"),
    )
    return Cluster(
        version=version,
        operators=operators,
        pools=pools if configs else (),
        nodes=nodes,
        configs=configs,
        nodes_image=_image(program),
    )


async def read_levels(kube: KubeClient, image: str) -> Sequence[Level]:
    """How far the runlevels of an update to an image are; none where nobody says. Raises ApiError.

    Only our own operator says it.
    """
    found = await kube.find(CONFIG_MAP, CONFIG_MAP_NAME, DEFAULT_NAMESPACE)
    return () if found is None else levels_of(found, image)


async def _all(
    kube: KubeClient, kind: GVK, keep: Callable[[KubeObject], KubeObject] = dict
) -> Sequence[KubeObject]:
    """Nothing where the cluster does not know the kind."""
    try:
        found, _ = await kube.list_all(kind, keep=keep)
    except NoMatchError:
        return ()
    return found


def _without_spec(config: KubeObject) -> KubeObject:
    """Whole files of nodes stand in it, megabytes of them."""
    return {key: value for key, value in config.items() if key != "spec"}


def _image(program: KubeObject | None) -> str:
    containers = program["spec"]["template"]["spec"]["containers"] if program else ()
    return next((each["image"] for each in containers if each["name"] == NODES_PROGRAM), "")
