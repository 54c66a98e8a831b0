"""Bundles that Jobs unpack; nodes and the controller of Jobs are stood in for.

With pods: tests/node/test_classic_operators.py.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject, name_of
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from e2e.olm.classic import Classic, Place
from e2e.olm.fbc import package_blobs
from olm_classic.io.unpacking import config_map_name

pytestmark = pytest.mark.integration

BUNDLE = BundleSpec(package="jobs", version="1.0.0")
SINCE = "2026-01-01T00:00:00Z"
FAILED = [
    {"type": kind, "status": "True", "lastTransitionTime": SINCE, "reason": "BackoffLimitExceeded"}
    | {"message": "Job has reached the specified backoff limit"}
    for kind in ("FailureTarget", "Failed")
]


@pytest.fixture(scope="module")
def unpacking(classic: Classic) -> Iterator[Classic]:
    """catalog-operator with Jobs."""
    classic.restart("--bundle-unpack=job")
    yield classic
    classic.stop()
    classic.start()


def extract(place: Place, config_map: str, folder: Path, image: str) -> None:
    """Does what the pod of a Job does. Its command: that of the container `extract`."""
    for path, content in BUNDLE.files().items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    opm = str(Path(sys.executable).with_name("opm"))
    argv = (opm, "alpha", "bundle", "extract", "-m", f"{folder}/", "-n", place.name)
    cluster = f"--kubeconfig={place.classic.control_plane.kubeconfig}"
    environment = {**os.environ, "CONTAINER_IMAGE": image}
    subprocess.run((*argv, "-c", config_map, "-z", cluster), env=environment, check=True)


def test_a_job_that_fails_has_a_successor_whose_content_is_installed(
    unpacking: Classic, place: Place, registry: Registry, tmp_path: Path
) -> None:
    published = BUNDLE.publish(registry)
    place.catalog("operators", package_blobs([published]))
    place.subscribe("jobs", source="operators")
    name = config_map_name(published.image)
    path = place.path("jobs", version="batch/v1")
    first = unpacking.api.wait(f"{path}/{name}", lambda job: job is not None, what="the Job")
    assert first is not None
    assert place.wait_condition("subscriptions", "jobs", "BundleUnpacking")
    listed = unpacking.control_plane.kubectl("get", "job,configmap", "-n", place.name, "-o", "name")
    assert {f"job.batch/{name}", f"configmap/{name}"} <= set(listed.split())

    place.patch_status(
        "jobs", name, {"startTime": SINCE, "failed": 4, "conditions": FAILED}, version="batch/v1"
    )
    said = place.wait_condition("subscriptions", "jobs", "BundleUnpackFailed")
    assert said["message"].startswith("Bundle unpacking failed - BackoffLimitExceeded: Job has")
    interval = {"operatorframework.io/bundle-unpack-min-retry-interval": "1s"}
    place.patch(
        "operatorgroups", "group", {"metadata": {"annotations": interval}},
        version="operators.coreos.com/v1",
    )  # fmt: skip

    def again(_: KubeObject | None) -> bool:
        jobs = unpacking.api.list(path)
        return len(jobs) == 2 and all(name_of(job).startswith(name[:57]) for job in jobs)

    unpacking.api.wait(path, again, what="another Job")
    extract(place, name, tmp_path, published.image)
    place.wait_plan("Complete")
    place.wait_csv("jobs.v1.0.0")
