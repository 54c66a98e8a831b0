"""The metrics of the update service, by upstream's names where upstream has them. Pure."""

from collections.abc import Iterator

from prometheus_client.metrics_core import Metric

from cluster_version.update_service.counts import Counts, Looks
from olm_runtime.metrics.exposition import counter, gauge, histogram

BUILDER, ENGINE = "cincinnati_gb_", "cincinnati_pe_"


def families(counts: Counts, looks: Looks, releases: int | None) -> Iterator[Metric]:
    """All metrics, as they are now; `releases` is None before the first graph."""
    yield counter(
        f"{ENGINE}v1_graph_incoming_requests_total",
        "Requests, also those that were refused.",
        [({}, counts.requests)],
    )
    yield histogram(
        f"{ENGINE}v1_graph_serve_duration_seconds",
        "Time to answer requests.",
        [({}, counts.seconds)],
    )
    yield counter(
        f"{ENGINE}graph_response_errors_total",
        "Requests that were refused, by status and kind.",
        [
            ({"code": str(status), "kind": kind}, number)
            for (status, kind), number in sorted(counts.refused.items())
        ],
    )
    yield gauge(
        f"{BUILDER}graph_final_releases",
        "Releases that there are, in channels or not.",
        [] if releases is None else [({}, releases)],
    )
    yield gauge(
        f"{BUILDER}graph_last_successful_refresh_timestamp",
        "When a source was last looked at without an error.",
        [({"source": name}, at) for name, at in sorted(looks.succeeded_at.items())],
    )
    yield counter(
        f"{BUILDER}graph_upstream_scrapes_total",
        "Looks at a source.",
        [({"source": name}, number) for name, number in sorted(looks.all.items())],
    )
    yield counter(
        f"{BUILDER}graph_upstream_errors_total",
        "Looks at a source that failed.",
        [({"source": name}, looks.failed[name]) for name in sorted(looks.all)],
    )
