"""Jobs that fetch release images, and what is reported of those that fail."""

from typing import Any

import pytest

from cluster_version.payload.retrieval_job import (
    Means,
    RetrievalPlace,
    failure,
    folder_of,
    is_done,
    job_name,
    lacks_programs,
    retrieval_job,
)

IMAGE = f"registry.example.com/release@sha256:{'a' * 64}"
PLACE = RetrievalPlace("ns", {"hostPath": {"path": "/payloads"}}, node="here")


def job(status: dict[str, Any] | None = None, **conditions: str) -> dict[str, Any]:
    listed = [{"type": key, "status": "True", "message": text} for key, text in conditions.items()]
    return {"status": {**(status or {}), "conditions": listed}}


def pod(key: str, **state: dict[str, Any]) -> dict[str, Any]:
    return {"status": {key: [{"state": state}]}}


def test_names_are_those_of_the_document_and_always_the_same() -> None:
    assert job_name("4.12.6", IMAGE) == job_name("4.12.6", IMAGE)
    assert job_name("4.12.6", IMAGE).startswith("version-4.12.6-")
    assert job_name("4.12.6", IMAGE) != job_name("4.12.6", f"{IMAGE}b")
    assert job_name("1.0.0-RC.1+amd64", IMAGE).startswith("version-1.0.0-rc.1-amd64-")
    assert job_name("", IMAGE).count("-") == 1
    assert len(job_name("1.0.0-" + "x" * 100, IMAGE)) == 63
    assert folder_of("example.com/release:1") == "DG7O2oo6Siq2QjvmHvMEnQ"


def test_the_image_itself_copies_its_manifests_and_is_done_by_one_rename() -> None:
    made = retrieval_job("1.0.1", IMAGE, PLACE)
    spec = made["spec"]["template"]["spec"]
    containers = [*spec["initContainers"], *spec["containers"]]
    assert {each["image"] for each in containers} == {IMAGE}
    assert containers[-1]["command"][0] == "mv"
    assert containers[-1]["command"][2].endswith(f"/{folder_of(IMAGE)}")
    assert (spec["nodeName"], spec["volumes"][0]["hostPath"]) == ("here", {"path": "/payloads"})
    assert made["spec"]["activeDeadlineSeconds"] == 120


@pytest.mark.parametrize("ended", [job({"succeeded": 1}), job(Complete="")])
def test_a_job_that_has_succeeded(ended: dict[str, Any]) -> None:
    assert is_done(ended)
    assert failure(ended, ()) is None


def test_a_job_that_runs_has_neither_succeeded_nor_failed() -> None:
    waits = pod("containerStatuses", waiting={"reason": "ErrImagePull", "message": "no answer"})
    ended = pod("initContainerStatuses", terminated={"exitCode": 0, "reason": "Completed"})
    assert not is_done({})
    assert failure({}, (waits, ended)) is None


@pytest.mark.parametrize("key", ["initContainerStatuses", "containerStatuses"])
def test_an_image_that_never_will_be_pulled_fails_at_once(key: str) -> None:
    unknown = "reading manifest: manifest unknown"
    waits = pod(key, waiting={"reason": "ErrImagePull", "message": unknown})
    assert failure({}, [waits]) == unknown
    unsigned = pod(key, waiting={"reason": "SignatureValidationFailed"})
    assert failure({}, [pod(key), unsigned]) == "SignatureValidationFailed"


def test_a_job_that_failed_is_reported_with_the_message_of_its_container() -> None:
    failed = job(Failed="Job was active longer than specified deadline")
    assert failure(failed, ()) == "Job was active longer than specified deadline"
    ended = pod("initContainerStatuses", terminated={"exitCode": 1, "message": "cp: no space\n"})
    assert failure(failed, [ended]) == (
        "Job was active longer than specified deadline: cp: no space"
    )
    assert failure(job(Failed=""), ()) == "it has failed"


def test_an_image_without_a_shell_is_copied_by_our_program() -> None:
    spec = retrieval_job("1.0.1", IMAGE, PLACE, Means.OWN)["spec"]["template"]["spec"]
    [container] = spec["containers"]
    assert spec["initContainers"] == []
    assert container["image"] == IMAGE
    mount = "/etc/cvo/updatepayloads"
    assert container["command"] == ["copy-release", "--", mount, folder_of(IMAGE)]


CONTAINERD = 'exec: "sh": executable file not found in $PATH: unknown'
CRI_O = "executable file `sh` not found in $PATH: No such file or directory"


@pytest.mark.parametrize(
    ("key", "reason", "message", "lacks"),
    [
        ("terminated", "StartError", CONTAINERD, True),
        ("waiting", "CreateContainerError", CRI_O, True),
        ("terminated", "StartError", "permission denied", False),
        ("terminated", "Error", "cp: /manifests: No such file or directory", False),
        ("waiting", "ErrImagePull", "manifest unknown", False),
    ],
    ids=["containerd", "CRI-O", "not allowed", "no release", "no image"],
)
def test_whether_an_image_lacks_programs(key: str, reason: str, message: str, lacks: bool) -> None:
    state = {key: {"reason": reason, "message": message}}
    assert lacks_programs([pod("initContainerStatuses", **state)]) is lacks
    assert not lacks_programs([pod("containerStatuses", running={})])
