"""What is reported of each catalog, in Prometheus' text format."""

from collections.abc import Iterable

from catalogd.http.exposition import families
from catalogd.metrics import Metrics, PollResult, Served
from olm_runtime.metrics.exposition import written


def exposition(metrics: Metrics, served: Iterable[Served] = ()) -> str:
    return written(families(metrics, served)).decode()


def test_each_catalog_has_its_content_and_its_polls() -> None:
    metrics = Metrics()
    metrics.observe_poll("a", PollResult.UPDATED, 1.5)
    metrics.observe_poll("a", PollResult.UNCHANGED, 0.1)
    metrics.observe_poll("a", PollResult.FAILED, 9.0)
    lines = exposition(metrics, [Served("a", 132, 7, 1700)]).splitlines()
    for line in (
        'catalogd_catalog_content_bytes{catalog="a"} 132.0',
        'catalogd_catalog_content_blobs{catalog="a"} 7.0',
        'catalogd_catalog_unpacked_timestamp_seconds{catalog="a"} 1700.0',
        'catalogd_catalog_unpack_duration_seconds{catalog="a"} 1.5',
        'catalogd_catalog_polls_total{catalog="a",result="unchanged"} 1.0',
        'catalogd_catalog_polls_total{catalog="a",result="updated"} 1.0',
        'catalogd_catalog_polls_total{catalog="a",result="failed"} 1.0',
    ):
        assert line in lines


def test_a_catalog_that_never_was_unpacked_has_no_duration() -> None:
    metrics = Metrics()
    metrics.observe_poll("a", PollResult.FAILED, 9.0)
    assert "unpack_duration_seconds{" not in exposition(metrics)


def test_deleted_catalogs_are_forgotten() -> None:
    metrics = Metrics()
    for name in ("a", "b"):
        metrics.observe_poll(name, PollResult.UNCHANGED, 0.1)
    metrics.keep(["b"])
    assert metrics.catalogs.keys() == {"b"}


def test_every_family_is_explained_once() -> None:
    text = exposition(Metrics(), [Served("a", 1, 1, 1), Served("b", 1, 1, 1)])
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families)) == text.count("# HELP")


def test_answers_are_counted_by_code_in_buckets() -> None:
    metrics = Metrics()
    metrics.observe_request(200, 0.1)
    metrics.observe_request(200, 99.0)
    lines = exposition(metrics).splitlines()
    name = "catalogd_http_request_duration_seconds"
    assert f'{name}_bucket{{code="200",le="0.1"}} 1.0' in lines
    assert f'{name}_bucket{{code="200",le="+Inf"}} 2.0' in lines
    assert f'{name}_count{{code="200"}} 2.0' in lines
