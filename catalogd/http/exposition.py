"""The metrics of catalogd. Pure."""

from collections.abc import Iterable, Iterator

from prometheus_client.metrics_core import Metric

from catalogd.metrics import CatalogCounts, Metrics, PollResult, Served
from olm_runtime.metrics.exposition import Family, counter, families_of, gauge, histogram

CATALOG = "catalogd_catalog_"

_CONTENT: tuple[Family[Served], ...] = (
    Family(
        gauge, CATALOG + "content_bytes", "Size of the content, uncompressed.", lambda s: s.size
    ),
    Family(gauge, CATALOG + "content_blobs", "Blobs in the content.", lambda s: s.blobs),
    Family(
        gauge,
        CATALOG + "unpacked_timestamp_seconds",
        "When the content was unpacked; its age is the time since.",
        lambda s: s.unpacked,
    ),
)

_POLLS: tuple[Family[CatalogCounts], ...] = (
    Family(
        gauge,
        CATALOG + "unpack_duration_seconds",
        "Time that the last unpack took, from the request to the registry on.",
        lambda counts: None if counts.unpack_seconds is None else round(counts.unpack_seconds, 3),
    ),
)


def families(metrics: Metrics, served: Iterable[Served] = ()) -> Iterator[Metric]:
    """All metrics, as they are now; `served` is what there is to say of each catalog's content."""
    yield histogram(
        "catalogd_http_request_duration_seconds",
        "Time to answer requests for catalog content.",
        (({"code": str(status)}, seconds) for status, seconds in sorted(metrics.requests.items())),
    )
    yield from families_of(_CONTENT, [({"catalog": content.name}, content) for content in served])
    yield from _polls(metrics)


def _polls(metrics: Metrics) -> Iterator[Metric]:
    catalogs = [({"catalog": name}, counts) for name, counts in sorted(metrics.catalogs.items())]
    yield from families_of(_POLLS, catalogs)
    yield counter(
        CATALOG + "polls_total",
        "Requests to the registry for the catalog's image, by result.",
        (
            ({**who, "result": result.value}, counts.polls[result])
            for who, counts in catalogs
            for result in PollResult
        ),
    )
