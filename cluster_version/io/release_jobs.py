"""Release images fetched by Jobs, onto a volume that the operator has, too.

Source of the rules: the documents, section 6, step 4, and upstream's notes, section 5.3.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from api.objects import KubeObject, metadata, name_of
from cluster_version.decisions.target import Target
from cluster_version.io.release_images import NotRetrievedError
from cluster_version.payload.contents import OPERATOR_FOLDER, RELEASE_FOLDER
from cluster_version.payload.retrieval_job import (
    APP,
    APP_LABEL,
    DEADLINE_SECONDS,
    JOB,
    POD,
    RetrievalPlace,
    failure,
    folder_of,
    is_done,
    retrieval_job,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, ApiError

WAIT_SECONDS = DEADLINE_SECONDS + 10.0
"""For the end of a Job; it is ended by its deadline where pods run."""
LOOK_EVERY = 1.0
"""Seconds between looks at a Job that runs."""


@dataclass(frozen=True, slots=True)
class ReleaseJobs:
    """Fetches images by Jobs. `payloads` is where the volume of these is for this program."""

    client: KubeClient
    place: RetrievalPlace
    payloads: Path
    field_manager: str

    async def fetch(self, target: Target) -> Path:
        """The folder with the content of an image. Raises NotRetrievedError.

        One that is there is used as it is. A Job that an earlier process began is waited for.
        """
        folder = self.payloads / folder_of(target.image)
        if await asyncio.to_thread(_is_whole, folder):
            return folder
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                problem = await self._run(retrieval_job(target.version, target.image, self.place))
        except TimeoutError:
            problem = f"the Job did not end within {WAIT_SECONDS:.0f} s"
        except ApiError as error:
            problem = error.message
        if not problem and not await asyncio.to_thread(_is_whole, folder):
            problem = f"there is nothing in {folder}"
        if problem:
            raise NotRetrievedError(f"Unable to download and prepare the update: {problem}")
        return folder

    async def _run(self, job: KubeObject) -> str:
        """Runs a Job; why it failed, empty if it did not."""
        await self._remove_ended(name_of(job))
        try:
            live = await self.client.create(job, field_manager=self.field_manager)
        except AlreadyExistsError:
            live = job
        pods: list[KubeObject] = []
        while True:
            pods = await self._pods(name_of(job)) or pods  # a Job that fails deletes its pods
            problem = failure(live, pods)
            if problem or is_done(live):
                return problem or ""
            await asyncio.sleep(LOOK_EVERY)
            found = await self.client.find(JOB, name_of(job), self.place.namespace)
            if found is None:
                return f"the Job {name_of(job)} was deleted"
            live = found

    async def _pods(self, job: str) -> list[KubeObject]:
        labels = f"batch.kubernetes.io/job-name={job}"
        found, _ = await self.client.list_all(POD, self.place.namespace, labels=labels)
        return found

    async def _remove_ended(self, name: str) -> None:
        """Removes Jobs of other images, and an earlier one of this that has ended."""
        while True:
            jobs, _ = await self.client.list_all(
                JOB, self.place.namespace, labels=f"{APP_LABEL}={APP}"
            )
            ended = [
                job
                for job in jobs
                if name_of(job) != name or is_done(job) or failure(job, ()) is not None
            ]
            for job in ended:
                if not metadata(job).get("deletionTimestamp"):
                    await self.client.delete(job, uid=metadata(job)["uid"])
            if not any(name_of(job) == name for job in ended):
                return
            await asyncio.sleep(LOOK_EVERY)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in (OPERATOR_FOLDER, RELEASE_FOLDER))
