"""The input of a resolution: the request and the contents of catalogs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter
from olm_content.fbc.model import Package
from olm_runtime.errors import OLMError


class Request(NamedTuple):
    """The catalog filter of a ClusterExtension, and its installed bundle, if any."""

    desired: CatalogFilter
    installed: BundleMetadata | None = None


class CatalogContent(NamedTuple):
    """A catalog as far as one package goes.

    `package` is None where the catalog does not have it. `unavailable` says why the content is
    not known at all; content that is known, if only from a cache for the digest the catalog
    resolved to, is not unavailable. Catalogs that are switched off are left out by the caller.
    """

    name: str
    priority: int = 0
    labels: Mapping[str, str] = MappingProxyType({})
    package: Package | None = None
    unavailable: OLMError | None = None
