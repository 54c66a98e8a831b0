"""What bundles forbid OpenShift, in the words of operator-controller's ClusterOperator."""

from collections.abc import Sequence

from api.openshift.config.v1.kinds import CLUSTER_VERSION
from olm_content.bundle.properties import MinorVersion
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError
from operator_controller.status.cluster_updates import (
    Declaration,
    UnknownVersionError,
    compatibility,
    current_version,
)


async def openshift_version(kube: KubeClient) -> MinorVersion | None:
    """None where the cluster is no OpenShift, its version is not known, or may not be read."""
    try:
        found = await kube.find(CLUSTER_VERSION, "version")
        return current_version(found) if found else None
    except (ApiError, UnknownVersionError):
        return None


def limits_of(declared: Sequence[Declaration], version: MinorVersion | None) -> list[str]:
    """A line if they do not permit the minor version that follows."""
    if version is None:
        return []
    found = compatibility(declared, version)
    return [found.message] if found.reason else []
