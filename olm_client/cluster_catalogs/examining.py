"""Finds out what a catalog has, and which extensions have it from there. Writes nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, name_of
from api.olm.v1.kinds import EXTENSION
from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.cluster_catalogs.dependents import Dependent, Offered, dependent_facts, dependents
from olm_client.cluster_catalogs.facts import facts_of
from olm_client.cluster_catalogs.reading import named, read_catalogs
from olm_client.reach import ClusterOptions, cluster
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError
from olm_runtime.kube.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Examined:
    """A catalog, its extensions, and why its packages are not known, if they are not."""

    raw: KubeObject
    packages: int | None
    fault: str
    dependents: Sequence[Dependent]

    def facts(self) -> dict[str, Any]:
        """As data."""
        return {
            **facts_of(self.raw),
            "packages": self.packages,
            **({"packagesUnknown": self.fault} if self.fault else {}),
            "extensions": dependent_facts(self.dependents),
        }


def examine(name: str, options: ClusterOptions) -> Examined:
    """Raises OLMError where there is no such catalog, or nothing can be read."""
    catalogs, extensions = run_async(_read(options))
    raw = named(name, catalogs)
    asked, fault = _offered(raw, options)
    others = [
        _offered(each, options)[0]
        for each in catalogs
        if extensions and each is not raw and Served.of(each).available
    ]
    return Examined(
        raw=raw,
        packages=None if asked.packages is None else len(asked.packages),
        fault=fault,
        dependents=dependents(asked, others, extensions),
    )


async def _read(options: ClusterOptions) -> tuple[list[KubeObject], list[KubeObject]]:
    """All catalogs and all extensions."""
    async with cluster(options.reach) as kube:
        catalogs = await read_catalogs(kube)
        try:
            extensions, _ = await kube.list_all(EXTENSION)
        except NotFoundError:  # a cluster with catalogd alone
            extensions = []
        return catalogs, sorted(extensions, key=name_of)


def _offered(raw: KubeObject, options: ClusterOptions) -> tuple[Offered, str]:
    """What a catalog has, and why that is not known, if it is not."""
    try:
        names = Cluster(options).packages(Served.of(raw), ContentCache.of_user())
    except OLMError as error:
        return Offered(raw, None), error.message
    return Offered(raw, frozenset(names)), ""
