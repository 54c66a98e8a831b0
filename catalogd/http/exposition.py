"""The metrics of catalogd. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.metrics_core import Metric

from catalogd.metrics import Metrics, PollResult, Served
from olm_runtime.metrics.exposition import counter, gauge, histogram

CATALOG = "catalogd_catalog_"


def families(metrics: Metrics, served: Iterable[Served] = ()) -> Iterator[Metric]:
    """All metrics, as they are now; `served` is what there is to say of each catalog's content."""
    yield histogram(
        "catalogd_http_request_duration_seconds",
        "Time to answer requests for catalog content.",
        (({"code": str(status)}, seconds) for status, seconds in sorted(metrics.requests.items())),
    )
    yield from _contents(tuple(served))
    yield from _polls(metrics)


def _contents(served: Sequence[Served]) -> Iterator[Metric]:
    catalogs = [({"catalog": content.name}, content) for content in served]
    yield gauge(
        CATALOG + "content_bytes",
        "Size of the content, uncompressed.",
        ((who, content.size) for who, content in catalogs),
    )
    yield gauge(
        CATALOG + "content_blobs",
        "Blobs in the content.",
        ((who, content.blobs) for who, content in catalogs),
    )
    yield gauge(
        CATALOG + "unpacked_timestamp_seconds",
        "When the content was unpacked; its age is the time since.",
        ((who, content.unpacked) for who, content in catalogs),
    )


def _polls(metrics: Metrics) -> Iterator[Metric]:
    catalogs = [({"catalog": name}, counts) for name, counts in sorted(metrics.catalogs.items())]
    yield gauge(
        CATALOG + "unpack_duration_seconds",
        "Time from asking the registry to the last new content.",
        (
            (who, round(counts.unpack_seconds, 3))
            for who, counts in catalogs
            if counts.unpack_seconds is not None
        ),
    )
    yield counter(
        CATALOG + "polls_total",
        "How often the registry was asked, by what came of it.",
        (
            ({**who, "result": result.value}, counts.polls[result])
            for who, counts in catalogs
            for result in PollResult
        ),
    )
