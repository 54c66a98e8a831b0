"""What catalogs of clusters have of packages, cached on disk for the next command.

`XDG_CACHE_HOME/olm/packages` (else ~/.cache) has a folder for each API server and for each who asks
it, as catalogs may not be for everybody: a console caches packages for all its users. Each file
names the digest of the content it is of, so catalogd is asked when a catalog has another one.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olm_client.reach import ClusterOptions
from olm_client.user_cache import shrink, user_cache
from olm_runtime.kube.cluster_access import ClusterAccess
from operator_controller.io.catalog_addresses import Address, Blobs
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogs import BlobSource

MAX_BYTES = 16 << 20


@contextmanager
def packages_of(access: ClusterAccess) -> Iterator[CatalogCache]:
    """What is known of a cluster's catalogs; until the context ends where no disk can be written.

    Raises ApiError where nobody can tell who asks.
    """
    packages = user_cache() / "packages"
    asked = repr((access.server, access.certificate, access.headers()))
    folder = packages / hashlib.sha256(asked.encode()).hexdigest()[:32]
    if _is_writable(folder):
        yield CatalogCache(folder)
        shrink(packages, MAX_BYTES)
    else:
        import tempfile  # late: seldom needed

        with tempfile.TemporaryDirectory(prefix="olm-packages-") as name:
            yield CatalogCache(Path(name))


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


class CatalogdWhenAsked:
    """Asks catalogd; the client of HTTP for it is imported and made with the first question."""

    def __init__(self, access: ClusterAccess, options: ClusterOptions) -> None:
        self._access = access
        self._options = options
        self._source: BlobSource | None = None

    async def package(self, address: Address, package: str, *, etag: str = "") -> Blobs | None:
        """As CatalogdFromOutside."""
        if self._source is None:
            self._source = self._made()
        return await self._source.package(address, package, etag=etag)

    async def close(self) -> None:
        """Closes the connections."""
        if self._source is not None:
            await self._source.close()

    def _made(self) -> BlobSource:
        from operator_controller.io.catalogd import Catalogd
        from operator_controller.io.catalogd_proxy import CatalogdFromOutside

        direct = Catalogd(self._options.cas_dir, allow_http=self._options.allow_http)
        return CatalogdFromOutside(self._access, direct)
