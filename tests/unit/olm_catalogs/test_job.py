"""Jobs of ingest processes, as a line of JSON."""

from olm_catalogs.job import Job, ServedCatalogs, read_job, write_job
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.limits import Limits
from olm_runtime.images.mirror_sets import MIRROR_KINDS, read_entries
from olm_runtime.proxies import Proxies

MIRRORS = [
    {"source": "quay.io", "mirrors": ["m.local"], "mirrorSourcePolicy": "NeverContactSource"},
]
MIRROR_SET = {"metadata": {"name": "m"}, "spec": {"imageDigestMirrors": MIRRORS}}


def test_a_job_passes_between_processes() -> None:
    mirrors, faults = read_entries(MIRROR_KINDS[0], MIRROR_SET)
    assert mirrors
    assert not faults
    job = Job(
        catalog="c",
        reference="registry/c:v1",
        cache_dir="/cache",
        plain_http=("localhost:5000",),
        cluster=ClusterSettings(
            tuple(mirrors),
            Proxies("http://plain:1", "http://secure:2", (".svc",)),
            "/tmp/ca.crt",
        ),
        limits=Limits(layers=3),
        served=ServedCatalogs(urls={"sha256:1": "https://catalogd"}, authorities="PEM"),
    )
    line = write_job(job)
    assert read_job(line) == job
    assert line.count(b"\n") == 1


def test_what_a_job_does_not_say_is_as_usual() -> None:
    assert read_job(b'{"catalog": "c", "reference": "r", "cache_dir": "/d"}') == Job(
        catalog="c", reference="r", cache_dir="/d"
    )
