"""Reads one extension of a cluster by name."""

from collections.abc import Iterable

from api.objects import KubeObject, name_of
from api.olm.v1.kinds import EXTENSION
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, NotFoundError
from olm_runtime.suggestions import suggestion_or_all


async def find_extension(kube: KubeClient, name: str) -> KubeObject:
    """Raises TerminalError if there is none of that name, ApiError."""
    try:
        return await kube.get(EXTENSION, name)
    except NotFoundError as error:
        if not error.names_object:
            raise not_served() from error
        known = await _known(kube)
        raise no_extension(name, known) from error


async def _known(kube: KubeClient) -> list[str]:
    """The names of all, as far as they may be listed."""
    try:
        found, _ = await kube.list_all(EXTENSION, metadata_only=True)
    except ApiError:
        return []
    return [name_of(obj) for obj in found]


class NoExtensionError(TerminalError):
    """There is no extension of that name."""


def no_extension(name: str, known: Iterable[str]) -> NoExtensionError:
    """The error where there is none of that name, but `known` ones."""
    return NoExtensionError(
        f'there is no ClusterExtension "{name}"',
        hint=suggestion_or_all(name, known, none="see which there are: olm status"),
    )


def not_served() -> TerminalError:
    """The error where the cluster has no such kind."""
    return TerminalError(
        "the cluster does not serve ClusterExtensions",
        hint="Operator Lifecycle Manager v1 is not installed there, or the kubeconfig means "
        "another cluster",
    )
