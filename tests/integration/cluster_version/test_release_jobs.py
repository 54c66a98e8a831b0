"""Release images fetched by Jobs on a real API server; the test plays the node."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from api.objects import GVK, KubeObject, metadata, name_of
from cluster_version.decisions.target import Target
from cluster_version.io import release_jobs
from cluster_version.io.release_images import NotRetrievedError
from cluster_version.io.release_jobs import ReleaseJobs
from cluster_version.payload.retrieval_job import JOB, RetrievalPlace, folder_of, job_name
from olm_runtime.clocks import utc_now
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, NotFoundError

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

NAMESPACE = "openshift-cluster-version"
Answer = dict[str, Any]
TIME = "%Y-%m-%dT%H:%M:%SZ"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_jobs, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(release_jobs, "WAIT_SECONDS", 30.0)


@pytest_asyncio.fixture
async def jobs(client: KubeClient, tmp_path: Path) -> AsyncIterator[ReleaseJobs]:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    await client.apply(namespace, field_manager="test")
    place = RetrievalPlace(NAMESPACE, {"hostPath": {"path": str(tmp_path)}})
    yield ReleaseJobs(client, place, tmp_path, "test")
    for job in (await client.list_all(JOB, NAMESPACE))[0]:
        await client.delete(job)


def target(name: str) -> Target:
    return Target("1.0.1", f"example.com/release@sha256:{name}")


def ended(kind: str, message: str = "") -> dict[str, Any]:
    """A status that the API server takes from the controller of Jobs."""
    now = utc_now().strftime(TIME)
    before = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}[kind]
    conditions = [
        {"type": each, "status": "True", "reason": "Test", "message": message}
        for each in (before, kind)
    ]
    done = {"completionTime": now, "succeeded": 1} if kind == "Complete" else {}
    return {"startTime": now, "conditions": conditions, **done}


@asynccontextmanager
async def node(
    client: KubeClient, act: Callable[[KubeObject], Answer | Awaitable[Answer]]
) -> AsyncIterator[None]:
    """Ends each Job with the status that `act` gives."""

    async def play() -> None:
        while True:
            for job in (await client.list_all(JOB, NAMESPACE))[0]:
                if not (job.get("status") or {}).get("conditions"):
                    with suppress(NotFoundError):
                        given = act(job)
                        status = await given if isinstance(given, Awaitable) else given
                        await client.patch(job, {"status": status}, subresource="status")
            await asyncio.sleep(0.02)

    playing = asyncio.create_task(play())
    try:
        yield
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing


def fill(folder: Path) -> Path:
    for name in ("manifests", "release-manifests"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder


async def job_names(client: KubeClient) -> list[str]:
    return [name_of(job) for job in (await client.list_all(JOB, NAMESPACE))[0]]


async def test_a_job_fetches_an_image_once(
    jobs: ReleaseJobs, client: KubeClient, tmp_path: Path
) -> None:
    wanted = target("a")

    def act(job: KubeObject) -> dict[str, Any]:
        fill(tmp_path / folder_of(wanted.image))
        return ended("Complete")

    async with node(client, act):
        folder = await jobs.fetch(wanted)
    assert folder == tmp_path / folder_of(wanted.image)
    assert await job_names(client) == [job_name("1.0.1", wanted.image)]
    assert await jobs.fetch(wanted) == folder  # without a node


async def test_a_job_that_failed_is_reported_and_run_anew(
    jobs: ReleaseJobs, client: KubeClient, tmp_path: Path
) -> None:
    wanted = target("b")
    async with node(client, lambda _: ended("Failed", "no room")):
        with pytest.raises(NotRetrievedError) as caught:
            await jobs.fetch(wanted)
    problem = "Unable to download and prepare the update: "
    assert caught.value.message == f"{problem}no room"

    def act(job: KubeObject) -> dict[str, Any]:
        fill(tmp_path / folder_of(wanted.image))
        return ended("Complete")

    async with node(client, act):
        assert (await jobs.fetch(wanted)).is_dir()


async def test_a_job_that_an_earlier_process_began_is_taken_up_and_others_go(
    jobs: ReleaseJobs, client: KubeClient, tmp_path: Path
) -> None:
    first, second = target("c"), target("d")
    for each in (second, first):  # the first goes as the second process asks for the other
        fetching = asyncio.create_task(jobs.fetch(each))
        async with asyncio.timeout(60):
            while await job_names(client) != [job_name("1.0.1", each.image)]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        fetching.cancel()
        await asyncio.gather(fetching, return_exceptions=True)

    def act(job: KubeObject) -> dict[str, Any]:
        fill(tmp_path / folder_of(first.image))
        return ended("Complete")

    async with node(client, act):
        assert (await jobs.fetch(first)).is_dir()
    assert await job_names(client) == [job_name("1.0.1", first.image)]


async def test_a_job_that_leaves_nothing_is_reported(jobs: ReleaseJobs, client: KubeClient) -> None:
    async with node(client, lambda _: ended("Complete")):
        with pytest.raises(NotRetrievedError, match="there is nothing in"):
            await jobs.fetch(target("e"))


async def test_a_job_that_does_not_end_is_reported(
    jobs: ReleaseJobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_jobs, "WAIT_SECONDS", 0.3)
    with pytest.raises(NotRetrievedError, match="did not end"):
        await jobs.fetch(target("f"))


async def test_a_volume_that_cannot_be_read_is_reported(client: KubeClient, tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 300)
    jobs = ReleaseJobs(client, RetrievalPlace(NAMESPACE, {"hostPath": {}}), folder, "test")
    with pytest.raises(NotRetrievedError, match=r"cannot read .*: File name too long"):
        await jobs.fetch(target("g"))


async def without_shell(client: KubeClient, job: KubeObject) -> dict[str, Any]:
    """The pod of a Job that finds no shell in its image; the status of that."""
    spec = job["spec"]["template"]["spec"]
    container = (spec.get("initContainers") or spec["containers"])[0]
    uid = metadata(job)["uid"]
    meta = {
        "name": f"pod-{uid}",
        "namespace": NAMESPACE,
        "labels": {"batch.kubernetes.io/controller-uid": uid},
    }
    named = {"name": container["name"], "image": container["image"]}
    account = GVK("", "v1", "ServiceAccount")
    while await client.find(account, "default", NAMESPACE) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.02)  # the API server takes no Pod of a namespace before
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [named]}}
    with suppress(AlreadyExistsError):
        await client.create(made, field_manager="test")
    message = f'exec: "{container["command"][0]}": executable file not found in $PATH'
    ended = {"exitCode": 128, "reason": "StartError", "message": message}
    shown = {**named, "imageID": "", "ready": False, "restartCount": 0}
    status = {"containerStatuses": [{**shown, "state": {"terminated": ended}}]}
    await client.patch(made, {"status": status}, subresource="status")
    return {"active": 1}


async def test_an_image_without_a_shell_is_copied_by_our_program(
    jobs: ReleaseJobs, client: KubeClient, tmp_path: Path
) -> None:
    wanted = target("h")

    async def act(job: KubeObject) -> dict[str, Any]:
        if "initContainers" in job["spec"]["template"]["spec"]:
            return await without_shell(client, job)
        fill(tmp_path / folder_of(wanted.image))
        return ended("Complete")

    async with node(client, act):
        assert (await jobs.fetch(wanted)).is_dir()


async def test_an_image_without_either_is_reported(jobs: ReleaseJobs, client: KubeClient) -> None:
    async with node(client, partial(without_shell, client)):
        with pytest.raises(NotRetrievedError, match="neither sh and cp nor copy-release"):
            await jobs.fetch(target("i"))
    assert await job_names(client) == []
