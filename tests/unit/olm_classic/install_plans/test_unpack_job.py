"""The Job that unpacks a bundle, and how far it is."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.install_plans.unpack_job import (
    JobSettings,
    by_age,
    failure_of,
    may_be_replaced,
    unpack_job,
    unpack_objects,
    waiting_of,
)

NAME = "1de9443b6324e629ddf31fed0a853a121275806170e34c926d69e53a7fcbbaa"
IMAGE = "registry.example.com/bundle@sha256:0000"
SETTINGS = JobSettings(opm="opm:latest", util="util:latest", user=1001)
CONFIG_MAP: KubeObject = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"namespace": "olm", "name": NAME, "uid": "uid-1"},
}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def job(number: int = 0, failed: datetime | None = None, uid: str = "uid-1") -> KubeObject:
    conditions = [
        {"type": "Failed", "status": "True", "lastTransitionTime": f"{failed:%Y-%m-%dT%H:%M:%SZ}"}
        | {"reason": "BackoffLimitExceeded", "message": "Job has reached the backoff limit"}
        for failed in [failed]
        if failed
    ]
    meta = {
        "name": f"job-{number}",
        "creationTimestamp": f"2026-01-01T00:00:0{number}Z",
        "ownerReferences": [{"uid": uid}],
    }
    return {"kind": "Job", "metadata": meta, "status": {"conditions": conditions}}


def test_the_job_has_the_name_of_the_config_map_and_goes_with_it() -> None:
    made = unpack_job(CONFIG_MAP, IMAGE, SETTINGS, seconds=600, secrets=["pull"])
    everything = [made, *unpack_objects(CONFIG_MAP)]
    assert {(each["metadata"]["namespace"], each["metadata"]["name"]) for each in everything} == {
        ("olm", NAME)
    }
    owners = [each["metadata"]["ownerReferences"][0]["uid"] for each in everything]
    assert owners == ["uid-1"] * 4
    assert all(each["metadata"]["labels"]["olm.managed"] == "true" for each in everything)
    spec = made["spec"]
    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (3, 600)
    assert spec["ttlSecondsAfterFinished"] == 300
    assert spec["template"]["metadata"]["labels"]["operatorframework.io/bundle-unpack-ref"] == NAME


def test_the_pod_copies_the_bundle_out_of_its_image_and_keeps_it() -> None:
    made = unpack_job(CONFIG_MAP, IMAGE, SETTINGS, seconds=0, secrets=["pull"])
    assert "activeDeadlineSeconds" not in made["spec"]
    pod = made["spec"]["template"]["spec"]
    assert (pod["restartPolicy"], pod["serviceAccountName"]) == ("Never", NAME)
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["securityContext"] == {
        "seccompProfile": {"type": "RuntimeDefault"}, "runAsUser": 1001, "runAsNonRoot": True,
    }  # fmt: skip
    containers = [*pod["initContainers"], *pod["containers"]]
    assert [(each["name"], each["image"], each["command"][0]) for each in containers] == [
        ("util", "util:latest", "/bin/cp"),
        ("pull", IMAGE, "/util/cpb"),
        ("extract", "opm:latest", "opm"),
    ]
    policies = [each.get("imagePullPolicy") for each in containers]
    assert policies == [None, "IfNotPresent", None]
    assert containers[2]["command"][-5:] == ["-n", "olm", "-c", NAME, "-z"]
    assert containers[2]["env"] == [{"name": "CONTAINER_IMAGE", "value": IMAGE}]
    assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in containers)


def test_a_later_try_has_a_name_of_its_own_that_is_not_too_long() -> None:
    made = unpack_job(CONFIG_MAP, IMAGE, SETTINGS, suffix="ab12", seconds=0, secrets=[])
    name = made["metadata"]["name"]
    assert name.startswith(NAME[:57])
    assert len(name) <= 63
    assert made["metadata"]["labels"]["operatorframework.io/bundle-unpack-ref"] == NAME


def test_only_the_jobs_of_this_config_map_count_the_newest_first() -> None:
    jobs = [job(1), job(3), job(2), job(4, uid="of-one-that-was-deleted")]
    names = [each["metadata"]["name"] for each in by_age(jobs, CONFIG_MAP)]
    assert names == ["job-3", "job-2", "job-1"]


def test_a_failure_has_the_reason_and_the_words_of_the_job() -> None:
    assert failure_of(job()) is None
    failed = failure_of(job(failed=NOW))
    assert failed is not None
    assert (failed.reason, failed.message) == (
        "BundleUnpackFailed",
        "Bundle unpacking failed - BackoffLimitExceeded: Job has reached the backoff limit",
    )


@pytest.mark.parametrize(
    ("failed", "interval", "again"),
    [(NOW, 60.0, False), (NOW - timedelta(seconds=60), 60.0, True), (NOW, 0.0, False)],
)
def test_a_failed_job_has_a_successor_when_the_group_says_so(
    failed: datetime, interval: float, again: bool
) -> None:
    assert may_be_replaced(job(failed=failed), NOW, interval) is again


def test_pods_that_cannot_pull_are_reported() -> None:
    def pod(**waiting: str) -> dict[str, Any]:
        state = {"waiting": waiting} if waiting else {"running": {}}
        status = {"initContainerStatuses": [{"name": "pull", "state": state}]}
        return {"metadata": {"namespace": "olm", "name": "pod"}, "status": status}

    assert waiting_of([pod(), pod(reason="PodInitializing")]) == ""
    assert waiting_of([pod(reason="ErrImagePull", message="no such host")]) == (
        "unpack job not completed: Unpack pod(olm/pod) container(pull) is pending. "
        "Reason: ErrImagePull, Message: no such host"
    )
