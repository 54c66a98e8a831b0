"""Reads from a cluster what an extension's choice of bundle depends on. Writes nothing."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from api.objects import KubeObject, name_of
from api.olm.v1 import names
from api.olm.v1.clustercatalog import AvailabilityMode
from api.olm.v1.clusterextension import BundleMetadata, ClusterExtension
from api.olm.v1.kinds import CATALOG, OBJECT_SET
from olm_client.extension import find_extension
from olm_client.reach import ClusterOptions, Reach
from olm_client.resolution.cached_packages import CatalogdWhenAsked, packages_of
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.watch.lister import listed
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revisions
from operator_controller.io.catalogs import CatalogClient
from operator_controller.resolve import CatalogContent, Request


class Situation(NamedTuple):
    """An extension as it is, and what the catalogs offer it, but for those switched off."""

    extension: ClusterExtension
    installed: BundleMetadata | None
    catalogs: Sequence[CatalogContent]
    switched_off: Sequence[str]

    @property
    def request(self) -> Request:
        """What operator-controller asks the catalogs for."""
        return Request(self.extension.spec.source.catalog, self.installed)


async def read_situation(extension: str, options: ClusterOptions) -> Situation:
    """Raises TerminalError if there is no such extension, ApiError, InvalidObjectError."""
    access = options.reach.access()
    async with KubeClient.briefly(access) as kube:
        found = ClusterExtension.from_object(await find_extension(kube, extension))
        installed = await _installed(kube, extension)
        async with catalogs_of(kube, access, options) as client:
            raws = client.list_catalogs()
            contents = await client.contents(raws, found.spec.source.catalog.package_name)
    return Situation(found, installed, contents, switched_off(raws))


async def read_installed(extension: str, reach: Reach) -> BundleMetadata | None:
    """What an extension has installed. Raises TerminalError if there is none of that name."""
    async with KubeClient.briefly(reach.access()) as kube:
        await find_extension(kube, extension)
        return await _installed(kube, extension)


def switched_off(raws: Iterable[KubeObject]) -> list[str]:
    """The names of the catalogs that are not to be asked, though they are there."""
    return [
        name_of(raw)
        for raw in raws
        if (raw.get("spec") or {}).get("availabilityMode") == AvailabilityMode.UNAVAILABLE
    ]


@asynccontextmanager
async def catalogs_of(
    kube: KubeClient, access: ClusterAccess, options: ClusterOptions
) -> AsyncIterator[CatalogClient]:
    """The catalogs of a cluster, read from outside it, and asked for what is not known yet."""
    catalogd = CatalogdWhenAsked(access, options)
    with packages_of(access) as cache:
        client = CatalogClient(await listed(kube, CATALOG), catalogd, cache)
        try:
            yield client
        finally:
            await client.close()


async def _installed(kube: KubeClient, extension: str) -> BundleMetadata | None:
    """The installed bundle by the record of revisions, as operator-controller reads it."""
    labels = owner_labels(names.CLUSTER_EXTENSION, extension)
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    found, _ = await kube.list_all(OBJECT_SET, labels=selector)
    installed = Revisions.of(found).installed
    if installed is None:
        return None
    bundle = installed.bundle
    return BundleMetadata(name=bundle.name, version=bundle.version, release=bundle.release)
