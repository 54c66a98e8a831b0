"""How a cluster and its catalogs are reached."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from olm_runtime.kube.overrides import Overrides

if TYPE_CHECKING:
    from olm_runtime.kube.client import KubeClient
    from olm_runtime.kube.cluster_access import ClusterAccess


@dataclass(frozen=True, slots=True)
class Reach:
    """How a command reaches the cluster: a kubeconfig, and flags in place of its entries."""

    kubeconfig: str | None = None
    overrides: Overrides = field(default_factory=Overrides)

    def access(self) -> "ClusterAccess":
        """The address and the credentials. Raises TerminalError where there are none."""
        from olm_runtime.kube.access import load_access

        return load_access(self.kubeconfig, self.overrides, parse=_first_document)

    def quick_access(self) -> "ClusterAccess | None":
        """The same where the kubeconfig is a plain one, in milliseconds, else None."""
        from olm_runtime.kube.access import quick_access

        return quick_access(self.kubeconfig, self.overrides, parse=_first_document)

    def names_in_kubeconfig(self, section: str) -> list[str]:
        """The names in a list of the kubeconfig: `contexts`, `clusters` or `users`."""
        from olm_runtime.kube.plain_kubeconfig import names_of

        return names_of(self.kubeconfig, section, _first_document)


def _first_document(data: bytes) -> Any:
    """By the reader that most commands import anyway, and sooner than PyYAML."""
    from olm_content.formats.kube_yaml import load_all

    return next(load_all(data), None)


class ClusterOptions(NamedTuple):
    """How a cluster and its catalogd are reached: CAs of catalogd, and whether it may lack TLS."""

    reach: Reach = Reach()
    cas_dir: Path | None = None
    allow_http: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Of the arguments of a command."""
        return cls(options["reach"], options["catalogd_cas_dir"], options["allow_http_catalogs"])


@asynccontextmanager
async def cluster(reach: Reach) -> AsyncIterator["KubeClient"]:
    """The API server, as kubectl reaches it."""
    from olm_runtime.kube.client import KubeClient

    async with KubeClient.briefly(reach.access()) as kube:
        yield kube
