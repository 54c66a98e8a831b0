"""Reads ClusterCatalogs, and names them on the Tab key."""

from api.objects import KubeObject, name_of
from api.olm.v1.kinds import CATALOG
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.suggestions import suggestion_or_all


async def read_catalogs(kube: KubeClient) -> list[KubeObject]:
    """All of the cluster, by name. Raises OLMError."""
    try:
        found, _ = await kube.list_all(CATALOG)
    except NotFoundError as error:
        raise not_served() from error
    return sorted(found, key=name_of)


def named(name: str, catalogs: list[KubeObject]) -> KubeObject:
    """The one of that name. Raises TerminalError."""
    for raw in catalogs:
        if name_of(raw) == name:
            return raw
    raise TerminalError(
        f'there is no ClusterCatalog "{name}"',
        hint=suggestion_or_all(
            name, map(name_of, catalogs), none="there is none; olm catalog add NAME IMAGE adds one"
        ),
    )


def not_served() -> TerminalError:
    """The error where the cluster has no such kind."""
    return TerminalError(
        "the cluster does not serve ClusterCatalogs",
        hint="Operator Lifecycle Manager v1 is not installed there, or the kubeconfig means "
        "another cluster",
    )
