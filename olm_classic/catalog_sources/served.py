"""Which images a catalogd of OLM v1 serves the content of, or is about to. Pure."""

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from api.objects import KubeObject, is_deleting, is_true
from api.olm.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from api.olm.v1.conditions import ConditionType
from api.wire import InvalidObjectError
from olm_runtime.images.reference import digest_of


def url_of(catalogs: Iterable[KubeObject], digest: str) -> str:
    """Where the image of a digest is served over HTTPS; empty for nowhere."""
    for catalog in _read(each for each in catalogs if is_true(each, "Serving")):
        status = catalog.status
        if status.resolved_source is None or status.urls is None:
            continue
        image, base = status.resolved_source.image.ref, status.urls.base
        if digest_of(image) == digest and urlsplit(base).scheme == "https":
            return base
    return ""


def is_coming(catalogs: Iterable[KubeObject], image: str, digest: str) -> bool:
    """Whether catalogd has yet to say what came of an image, named so or by its digest.

    One that it failed to fetch, or serves another digest of, takes as long as its next look.
    """
    return any(
        _is_of(catalog, image, digest)
        and catalog.spec.availability_mode is AvailabilityMode.AVAILABLE
        and not _is_answered(catalog)
        for catalog in _read(each for each in catalogs if not is_deleting(each))
    )


def _is_of(catalog: ClusterCatalog, image: str, digest: str) -> bool:
    named = catalog.spec.source.image.ref
    return named == image or digest_of(named) == digest


def _is_answered(catalog: ClusterCatalog) -> bool:
    return any(
        each.type == ConditionType.PROGRESSING
        and (each.observed_generation or 0) >= catalog.metadata.generation
        for each in catalog.status.conditions
    )


def _read(catalogs: Iterable[KubeObject]) -> Iterator[ClusterCatalog]:
    for raw in catalogs:
        try:
            yield ClusterCatalog.from_object(raw)
        except InvalidObjectError:
            continue  # catalogd reports what is wrong with it
