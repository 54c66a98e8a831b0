"""Which images a catalogd of OLM v1 serves the content of. Pure."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from api.objects import KubeObject, is_true
from api.olm.v1.clustercatalog import ClusterCatalog
from api.wire import InvalidObjectError


def urls_by_digest(catalogs: Iterable[KubeObject]) -> dict[str, str]:
    """The addresses of ClusterCatalogs that are served over HTTPS, by the digest of their image."""
    found: dict[str, str] = {}
    for raw in catalogs:
        if not is_true(raw, "Serving"):
            continue
        try:
            status = ClusterCatalog.from_object(raw).status
        except InvalidObjectError:
            continue  # catalogd tells what is wrong with it
        if status.resolved_source is None or status.urls is None:
            continue
        _, at, digest = status.resolved_source.image.ref.rpartition("@")
        if at and urlsplit(status.urls.base).scheme == "https":
            found.setdefault(digest, status.urls.base)
    return found
